/**
 * A deed's answer that comes when its outcome had been taken as unknown: its lease was over, and its undoing may have begun,
 * or be done. It moves nothing, but it is kept, and the undoing is done again with it: what was done late is undone too.
 *
 * Holds: I2 the answer and the undoing's new input commit together. Lock order: the deed's row, then the undoing's.
 *        The undoing keeps its idempotency key, and does not begin anew before its present attempt can be over.
 */
import type { Json } from "@/lib/base/json";
import { must } from "@/lib/base/assert";
import { compensationInput } from "@/lib/statechart/compensation-input";
import type { Compensation } from "@/lib/statechart/effect";
import type { TaskRow } from "@/lib/store/tasks";
import { parseSnapshot } from "../instances/instance-views";
import type { RuntimeContext } from "../runtime-context";
import { isUnknown, undoIdOf } from "./saga-rules";
import { answeredLate, undoneAgain } from "./task-rules";

/** False: it is no such answer, and nothing was written. */
export async function handOverLate(context: RuntimeContext, token: string, output: Json): Promise<boolean> {
  const { store, machines } = context;
  const [found, seenAt] = await store.transaction(
    async (tx) => [await tx.lockTaskByToken(token), await tx.now()] as const,
  );
  if (!found || !isLate(found, seenAt)) return false;
  const row = await store.findInstance(found.instanceId);
  if (!row || row.incarnation !== found.incarnation) return false;
  const machine = await machines.load(row);
  const { session } = parseSnapshot(row.snapshot);
  return store.transaction(async (tx) => {
    const task = await tx.lockTaskByToken(token);
    const now = await tx.now();
    if (!task || !isLate(task, now)) return false;
    const late = answeredLate(task, { output }, now);
    const [undo] = await tx.lockTasks([{ instanceId: task.instanceId, taskId: undoIdOf(task) }]);
    const compensation = JSON.parse(must(task.compensate, "a late deed can be undone")) as Compensation;
    const deed = { outcome: "succeeded", result: output } as const;
    const made = undo && compensationInput(machine, session, compensation, deed, now);
    await tx.writeTasks([late]);
    if (made && "input" in made)
      await tx.beginTasksAnew([undoneAgain(undo, JSON.stringify(made.input), now)]);
    return true;
  });
}

const isLate = (task: TaskRow, now: number): boolean =>
  task.compensate !== null && isUnknown(task) && (task.leaseUntil === null || task.leaseUntil <= now);
