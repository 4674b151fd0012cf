/**
 * A person takes a task, so that nobody else does the same; or gives it back.
 *
 * Holds: I3 one person has it at a time; who takes it over says so. No lease: people go to lunch.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { StoreTransaction } from "@/lib/store/store";
import type { TaskKey, TaskRow } from "@/lib/store/tasks";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { viewTask, type TaskView } from "./task-views";

export interface TakeTaskArgs extends TaskKey {
  /** `give-back`: somebody else may have it. `take-over`: also from who has it. */
  how: "take" | "take-over" | "give-back";
}

/** Throws `not-found`, `wrong-status` (answered, cancelled, or another's). */
export async function takeTask(
  { store, closing }: RuntimeContext,
  actor: Actor,
  { how, ...key }: TakeTaskArgs,
): Promise<TaskView> {
  requirePermission(actor, "tasks:work");
  requireOpen({ closing });
  return store.transaction(async (tx) => {
    const task = await holdHumanTask(tx, key);
    const now = await tx.now();
    if (how !== "take-over") requireNobodyElse(task, actor);
    const status = how === "give-back" ? "pending" : "running";
    const worker = how === "give-back" ? null : actor.id;
    const startedAt = how === "give-back" ? task.startedAt : now;
    const after = { ...task, status, worker, startedAt, attempt: 1, updatedAt: now };
    await tx.writeTasks([after]);
    return viewTask(after, [], now);
  });
}

/** Throws `not-found`, `bad-request`, `wrong-status`. */
export async function holdHumanTask(tx: StoreTransaction, key: TaskKey): Promise<TaskRow> {
  const [task] = await tx.lockTasks([key]);
  const name = `task ${key.taskId} of ${key.instanceId}`;
  if (!task) throw new LockstepError("not-found", `There is no ${name}.`, { details: { ...key } });
  if (task.kind !== "human")
    throw new LockstepError(
      "bad-request",
      `The ${name} is not for people: a worker carries out ${task.type}.`,
    );
  if (task.endedAt !== null)
    throw new LockstepError(
      "wrong-status",
      `The ${name} is over: it ${endings[task.status] ?? "has ended"}.`,
      {
        details: { ...key, status: task.status, worker: task.worker },
      },
    );
  return task;
}

const endings: Record<string, string> = {
  succeeded: "was answered",
  failed: "has failed, or its time was over",
  cancelled: "was cancelled: its instance waits for it no more",
};

export function requireNobodyElse(task: TaskRow, actor: Actor): void {
  if (task.worker === null || task.worker === actor.id) return;
  throw new LockstepError(
    "wrong-status",
    `${task.worker} has taken task ${task.taskId} of ${task.instanceId}. Ask them, or take it over.`,
    { details: { instanceId: task.instanceId, taskId: task.taskId, worker: task.worker } },
  );
}
