/** The tasks of an instance, newest first: what it waits for, and what it waited for. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { taskKeyScope } from "@/lib/store/tasks";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import { findLiveInstance } from "../instances/get-instance";
import type { RuntimeContext } from "../runtime-context";
import { viewTask, type TaskView } from "./task-views";

/** Throws `not-found`. */
export async function listTasks(
  { store }: RuntimeContext,
  actor: Actor,
  args: PageArgs & { instanceId: string },
): Promise<Page<TaskView> & { now: number }> {
  requirePermission(actor, "tasks:read");
  await findLiveInstance(store, args.instanceId);
  const after = readCursor(args.cursor, { createdAt: 0, taskId: "" });
  const limit = pageLimit(args.limit);
  const rows = await store.listTasks(args.instanceId, after, limit + 1);
  const keys = await store.findKeys(
    rows.flatMap(({ type, concurrencyKey: key, queue }) =>
      key === null || queue !== null ? [] : [{ scope: taskKeyScope(type), key }],
    ),
  );
  const now = await store.now();
  const page = pageOf(
    rows,
    limit,
    ({ createdAt, taskId }) => ({ createdAt, taskId }),
    (row) => viewTask(row, keys, now),
  );
  return { ...page, now };
}
