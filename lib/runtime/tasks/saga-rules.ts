/**
 * What an instance that is undoing has to do next, from its tasks alone.
 *
 * Holds: last done, first undone; one at a time. A deed counts when it succeeded or when nobody can know; its undoing begins
 *        only when no attempt of it can be under way any more.
 */
import type { Json } from "@/lib/base/json";
import type { Compensation } from "@/lib/statechart/effect";
import type { InstanceRow } from "@/lib/store/instances";
import type { TaskRow } from "@/lib/store/tasks";
import { leftUnknown, newTask } from "./task-rules";

export interface Deed {
  outcome: "succeeded" | "unknown";
  result?: Json;
}
export type SagaStep =
  /** Something is under way. */
  | { do: "wait" }
  | { do: "undo"; task: TaskRow; deed: Deed }
  | { do: "stuck"; task: TaskRow }
  | { do: "done"; undone: number };

/** `tasks`: of the instance's present life, those with a compensation and those that are one. */
export function nextOfSaga(tasks: readonly TaskRow[], now: number): SagaStep {
  const undoings = tasks.filter(({ kind }) => kind === "compensation");
  if (undoings.some(({ endedAt }) => endedAt === null)) return { do: "wait" };
  const [failed] = failedUndoings(tasks);
  if (failed) return { do: "stuck", task: failed };
  const undone = new Set(undoings.map(({ taskId }) => taskId));
  const deeds = tasks
    .flatMap((task) => {
      const deed = deedOf(task);
      return deed === null || undone.has(undoIdOf(task)) ? [] : [{ task, deed }];
    })
    .sort((a, b) => (b.task.endedAt ?? 0) - (a.task.endedAt ?? 0) || b.task.createdAt - a.task.createdAt);
  const [last] = deeds;
  if (!last) return { do: "done", undone: undoings.length };
  return deeds.some(({ task }) => mayRun(task, now)) ? { do: "wait" } : { do: "undo", ...last };
}

/** What has used up its attempts. */
export const failedUndoings = (tasks: readonly TaskRow[]): TaskRow[] =>
  tasks.filter(({ kind, status }) => kind === "compensation" && status === "failed");

/** Null: it was not done, or isn't over. */
function deedOf(task: TaskRow): Deed | null {
  if (task.compensate === null || task.endedAt === null) return null;
  if (task.result !== null) return { outcome: "succeeded", result: JSON.parse(task.result) as Json };
  return isUnknown(task) ? { outcome: "unknown" } : null;
}

/** It is over for its instance, and nobody has said what came of it. */
export function isUnknown(task: TaskRow): boolean {
  if (task.endedAt === null || task.result !== null) return false;
  if (task.status === "cancelled") return task.attempt > 0;
  if (task.status !== "failed") return false;
  if (task.attempt === 0) return false;
  // Its time ran out between two claims, which says nothing of them.
  if (task.fence > 0 && task.worker === null) return task.lost === 1;
  // What the last one said for sure, it said of itself.
  return leftUnknown(task);
}

/** Whoever lost its lease may go on, not knowing it, until its attempt's time is over. */
const mayRun = ({ leaseUntil, attemptUntil, lost }: TaskRow, now: number): boolean =>
  (leaseUntil !== null || lost === 1) && Math.max(leaseUntil ?? 0, attemptUntil ?? 0) > now;

export const undoIdOf = ({ taskId }: TaskRow): string => `undo:${taskId}`;

/** The undoing as a task, for whoever carries out its type. */
export function undoTask(
  instance: InstanceRow,
  deed: TaskRow,
  undo: Compensation,
  input: Json,
  at: number,
): TaskRow {
  const { src, retry, timeoutMs, concurrencyKey } = undo;
  const { invokeId: id, generation, state } = deed;
  const begun = newTask(
    instance,
    {
      type: "invoke.start",
      id,
      src,
      state,
      index: undo.index,
      generation,
      input,
      ...(retry === undefined ? {} : { retry }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
    },
    at,
  );
  return { ...begun, taskId: undoIdOf(deed), kind: "compensation" };
}

/** Carried out under a claim, by a worker or by the server: what else an undoing names can't be. */
export const canUndoBy = (src: string): boolean => !["chart", "each", "lock", "human"].includes(src);
