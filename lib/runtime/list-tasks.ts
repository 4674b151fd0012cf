/** The tasks of an instance, newest first: what it waits for, and what it waited for. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "./call";
import { findLiveInstance } from "./get-instance";
import type { RuntimeContext } from "./runtime-context";
import { viewTask, type TaskView } from "./task-views";

/** Throws `not-found`. */
export async function listTasks(
  { store }: RuntimeContext,
  actor: Actor,
  args: PageArgs & { instanceId: string },
): Promise<Page<TaskView>> {
  requirePermission(actor, "tasks:read");
  await findLiveInstance(store, args.instanceId);
  const after = readCursor(args.cursor, { createdAt: 0, taskId: "" });
  const limit = pageLimit(args.limit);
  const rows = await store.listTasks(args.instanceId, after, limit + 1);
  return pageOf(rows, limit, ({ createdAt, taskId }) => ({ createdAt, taskId }), viewTask);
}
