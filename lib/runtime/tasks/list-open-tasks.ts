/** Tasks that wait for a person, of all instances: the longest waiting first, those that somebody has taken among them. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import type { RuntimeContext } from "../runtime-context";
import { viewTask, type TaskView } from "./task-views";

export async function listOpenTasks(
  { store }: RuntimeContext,
  actor: Actor,
  args: PageArgs & { kind: "human" },
): Promise<Page<TaskView> & { now: number }> {
  requirePermission(actor, "tasks:read");
  const after = readCursor(args.cursor, { readyAt: 0, instanceId: "", taskId: "" });
  const limit = pageLimit(args.limit);
  const rows = await store.listQueue(args.kind, after, limit + 1);
  const now = await store.now();
  const page = pageOf(
    rows,
    limit,
    ({ readyAt, instanceId, taskId }) => ({ readyAt, instanceId, taskId }),
    (row) => viewTask(row, [], now),
  );
  return { ...page, now };
}
