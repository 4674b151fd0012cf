/**
 * An attempt's bad end: another one after a pause, or, when there is none left, `error.invoke.ID` for the instance.
 *
 * Holds: as complete-task.ts.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { Json } from "@/lib/base/json";
import { answerUnderClaim, type AnswerArgs } from "./answer-under-claim";
import { requirePayload, requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { postAnswer } from "./task-answer";
import { answeredOtherwise, isSameAnswer, leaseLost } from "./task-claim";
import { answeredLate, failed, withoutAttempt, type TaskError } from "./task-rules";

export interface FailTaskArgs extends AnswerArgs {
  /** `retry: false`: another attempt is no use. */
  error: { code: string; message: string; data?: Json | undefined; retry?: boolean | undefined };
}
export interface FailResult {
  /** `pending`: it is tried again from `readyAt` on. */
  status: "pending" | "failed" | "cancelled";
  readyAt: number | null;
  replayed: boolean;
}

/** Throws `lease-lost`, `stale-fence`, `wrong-status` (another error was taken before), `payload-too-large`. */
export async function failTask(
  context: RuntimeContext,
  actor: Actor,
  { token, fences, error: { retry, ...told } }: FailTaskArgs,
): Promise<FailResult> {
  requirePermission(actor, "tasks:work");
  requireOpen(context);
  const error: TaskError = {
    code: requireText(told.code, "error.code"),
    message: requireText(told.message, "error.message"),
    ...(told.data === undefined ? {} : { data: told.data }),
  };
  requirePayload({ ...error }, "error");
  const result = await answerUnderClaim(
    context,
    actor,
    { token, fences },
    async (tx, claim): Promise<FailResult> => {
      const { task, now } = claim;
      switch (claim.standing) {
        case "running": {
          const after = failed(withoutAttempt(task), error, {
            now,
            chance: Math.random(),
            retry: retry ?? true,
          });
          await tx.writeTasks([after]);
          if (after.status === "pending")
            return { status: "pending", readyAt: after.readyAt, replayed: false };
          await postAnswer(tx, task, { error }, actor.id, now);
          return { status: "failed", readyAt: null, replayed: false };
        }
        case "cancelled":
          await tx.writeTasks([answeredLate(task, { error }, now)]);
          return { status: "cancelled", readyAt: null, replayed: false };
        case "answered":
          if (task.status === "succeeded" || task.error === null) throw leaseLost(task);
          if (!isSameAnswer(task.error, { ...error })) throw answeredOtherwise(task);
          return {
            status: task.status as FailResult["status"],
            readyAt: task.status === "pending" ? task.readyAt : null,
            replayed: true,
          };
      }
    },
  );
  if (result.status === "failed") context.wake();
  context.settle();
  return result;
}
