/**
 * Ends attempts whose lease or time ran out: another attempt, or the task's failure for its instance. Then whoever waits for
 * a concurrency key that came free has its turn.
 */
import { systemActor } from "@/lib/access/actor";
import { noWrites } from "@/lib/store/steps";
import type { Store } from "@/lib/store/store";
import { answerMessage } from "../tasks/task-answer";
import { expired, type TaskError } from "../tasks/task-rules";

const tasksMax = 100;

/** True when there may be more. `wake`: an answer waits in a mailbox. */
export async function settleTasks(store: Store, wake: () => void): Promise<boolean> {
  const moreDue = await settleDue(store, wake);
  const moreFree = await serveFreeKeys(store);
  return moreDue || moreFree;
}

async function settleDue(store: Store, wake: () => void): Promise<boolean> {
  const keys = await store.findDueTasks(await store.now(), tasksMax);
  if (keys.length === 0) return false;
  const failures = await store.transaction(async (tx) => {
    const rows = await tx.lockTasks(keys, { skipBusy: true });
    const now = await tx.now();
    const due = rows.filter((row) => row.dueAt !== null && row.dueAt <= now);
    const after = due.map((row) => expired(row, now, Math.random()));
    await tx.writeTasks(after);
    const enqueued = after
      .filter((task) => task.status === "failed" && task.kind !== "compensation")
      .map((task) =>
        answerMessage(task, { error: JSON.parse(task.error ?? "{}") as TaskError }, systemActor.id, now),
      );
    if (enqueued.length > 0) await tx.writeSteps({ ...noWrites(), enqueued });
    return enqueued.length;
  });
  if (failures > 0) wake();
  return keys.length === tasksMax;
}

async function serveFreeKeys(store: Store): Promise<boolean> {
  const free = await store.findFreeKeys("task", tasksMax);
  for (const key of free) await store.transaction(async (tx) => tx.serveKey(key, await tx.now()));
  return free.length === tasksMax;
}
