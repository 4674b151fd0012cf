/**
 * A task's answer on its way to the instance: a message in its mailbox, of the entry generation that asked.
 *
 * Holds: I6 the engine ignores it when the state was left since; the log says so.
 */
import type { StepInput } from "@/lib/statechart/step";
import type { MessageRow } from "@/lib/store/instances";
import { noWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import type { TaskRow } from "@/lib/store/tasks";
import type { Json } from "@/lib/base/json";
import { newMessageId } from "../new-id";
import { taskName, type TaskError } from "./task-rules";

export type TaskAnswer = { output: Json } | { error: TaskError };

/** Joins the mailbox of the task's instance, whose row is not touched: call it after the task's row is locked. */
export function postAnswer(
  tx: StoreTransaction,
  task: TaskRow,
  answer: TaskAnswer,
  actor: string,
  now: number,
): Promise<void> {
  // An undoing answers nobody: workers/settle-sagas sees its end.
  if (task.kind === "compensation") return Promise.resolve();
  return tx.writeSteps({ ...noWrites(), enqueued: [answerMessage(task, answer, actor, now)] });
}

export function answerMessage(task: TaskRow, answer: TaskAnswer, actor: string, now: number): MessageRow {
  const input: StepInput = { kind: "answer", id: task.invokeId, generation: task.generation, ...answer };
  return {
    instanceId: task.instanceId,
    incarnation: task.incarnation,
    messageId: newMessageId(),
    type: `${"error" in answer ? "error" : "done"}.invoke.${task.invokeId}`,
    input: JSON.stringify(input),
    actor,
    cause: taskName(task),
    enqueuedAt: now,
    dedupeScope: null,
    dedupeKey: null,
    expectedSeq: null,
    fences: null,
  };
}
