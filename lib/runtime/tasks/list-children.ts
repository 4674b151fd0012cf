/** The children that one invocation has begun, by place: what each is now, and what came of it. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { ChildStatus, ListedChild } from "@/lib/store/children";
import type { TaskKey, TaskReads } from "@/lib/store/tasks";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import { findLiveInstance } from "../instances/get-instance";
import type { InstanceStatus } from "../instances/instance-views";
import type { RuntimeContext } from "../runtime-context";

export interface ChildView {
  instanceId: string;
  /** From 0. */
  place: number;
  /** What it is to the invocation. */
  status: ChildStatus;
  result: Json;
  error: { code: string; message: string } | null;
  /** What it is now; null: deleted. */
  instance: {
    chartId: string;
    version: number;
    status: InstanceStatus;
    configuration: string[];
  } | null;
}
export interface ChildPage extends Page<ChildView> {
  /** Of all that have begun, whatever is asked for. */
  counts: Record<ChildStatus, number>;
}

/** Throws `not-found`. A task that has begun no children has none: an empty page. */
export async function listChildren(
  { store }: RuntimeContext,
  actor: Actor,
  args: PageArgs & { instanceId: string; taskId: string; status?: ChildStatus | undefined },
): Promise<ChildPage> {
  requirePermission(actor, "instances:read");
  const { id, incarnation } = await findLiveInstance(store, args.instanceId);
  const family = { parentId: id, parentIncarnation: incarnation, parentTask: args.taskId };
  const after = readCursor(args.cursor, { place: 0 });
  const limit = pageLimit(args.limit);
  const rows = await store.listFamily(family, args.status ?? null, after?.place ?? null, limit + 1);
  if (rows.length === 0) await requireTask(store, { instanceId: id, taskId: args.taskId }, incarnation);
  const counts = { running: 0, orphan: 0, succeeded: 0, failed: 0, cancelled: 0 };
  for (const { status, count } of await store.countFamily(family)) counts[status] = count;
  return { ...pageOf(rows, limit, ({ place }) => ({ place }), viewChild), counts };
}

async function requireTask(store: TaskReads, key: TaskKey, incarnation: number): Promise<void> {
  const task = await store.findTask(key);
  if (task?.incarnation === incarnation) return;
  throw new LockstepError("not-found", `Instance ${key.instanceId} has no task ${key.taskId}.`, {
    details: { ...key },
  });
}

const viewChild = (row: ListedChild): ChildView => ({
  instanceId: row.childId,
  place: row.place,
  status: row.status,
  result: row.result === null ? null : (JSON.parse(row.result) as Json),
  error: row.error === null ? null : (JSON.parse(row.error) as { code: string; message: string }),
  instance:
    row.chartId === null
      ? null
      : {
          chartId: row.chartId,
          version: row.version ?? 0,
          status: row.instanceStatus as InstanceStatus,
          configuration: JSON.parse(row.configuration ?? "[]") as string[],
        },
});
