/**
 * A person's answer: `done.invoke.ID` with what the form holds, or `error.invoke.ID` when it can't be done.
 *
 * Holds: I2 the task's end, its answer and the audit entry commit together. I4 the same answer again changes nothing.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { formProblems } from "@/lib/base/answer-form";
import { LockstepError } from "@/lib/base/errors";
import { isJsonObject, type Json } from "@/lib/base/json";
import type { TaskKey } from "@/lib/store/tasks";
import type { Fence } from "../instances/instance-views";
import { fencedTransaction } from "../locks/fenced";
import { newAuditId } from "../new-id";
import { requirePayload, requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { holdHumanTask, requireNobodyElse } from "./take-task";
import { postAnswer } from "./task-answer";
import { isSameAnswer } from "./task-claim";
import { failed, succeeded } from "./task-rules";

export interface AnswerTaskArgs extends TaskKey {
  output?: Json | undefined;
  /** Instead of an output: it can't be done, and why. */
  refusal?: string | undefined;
  /** Locks that the caller must still hold. */
  fences?: Fence[] | undefined;
}
export interface AnswerTaskResult {
  status: "succeeded" | "failed";
  /** It had been answered just so before. */
  replayed: boolean;
}

/** Throws `not-found`, `wrong-status`, `stale-fence`, `bad-request` with what is wrong in each field, `payload-too-large`. */
export async function answerTask(
  context: RuntimeContext,
  actor: Actor,
  { output = null, refusal, fences, ...key }: AnswerTaskArgs,
): Promise<AnswerTaskResult> {
  requirePermission(actor, "tasks:work");
  requireOpen(context);
  requirePayload(output, "output");
  if (refusal !== undefined) requireText(refusal, "refusal");
  const result = await fencedTransaction(
    context.store,
    actor,
    async (tx, check): Promise<AnswerTaskResult> => {
      const [seen] = await tx.lockTasks([key]);
      const isSame =
        refusal === undefined
          ? seen?.status === "succeeded" && isSameAnswer(seen.result, output)
          : seen?.status === "failed" && isSameAnswer(seen.error, refused(refusal));
      if (isSame && seen?.worker === actor.id)
        return { status: refusal === undefined ? "succeeded" : "failed", replayed: true };
      const task = { ...(await holdHumanTask(tx, key)) };
      requireNobodyElse(task, actor);
      await check(tx, fences, { instanceId: key.instanceId, type: "answer-task" });
      const now = await tx.now();
      const mine = { ...task, worker: actor.id, startedAt: task.startedAt ?? now, attempt: 1 };
      if (refusal === undefined) {
        requireForm(task.input, output);
        await tx.writeTasks([succeeded(mine, output, now)]);
        await postAnswer(tx, task, { output }, actor.id, now);
      } else {
        const error = refused(refusal);
        await tx.writeTasks([failed(mine, error, { now, chance: 0, retry: false })]);
        await postAnswer(tx, task, { error }, actor.id, now);
      }
      const status = refusal === undefined ? "succeeded" : "failed";
      await tx.writeAudit({
        id: newAuditId(),
        at: now,
        actor: actor.id,
        action: "answer-task",
        target: `instance:${key.instanceId}`,
        outcome: "done",
        details: JSON.stringify({ taskId: key.taskId, status }),
      });
      return { status, replayed: false };
    },
  );
  if (!result.replayed) context.wake();
  return result;
}

const refused = (refusal: string) => ({ code: "refused", message: refusal });

function requireForm(input: string, output: Json): void {
  const given = JSON.parse(input) as Json;
  const problems = formProblems(isJsonObject(given) ? given.form : undefined, output);
  if (problems.length === 0) return;
  throw new LockstepError("bad-request", problems.map(({ message }) => message).join(" "), {
    details: { field: "output", problems: problems.map((problem) => ({ ...problem })) },
  });
}
