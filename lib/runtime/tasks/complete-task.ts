/**
 * A task's good end: its output is on its way to the instance as `done.invoke.ID`.
 *
 * Holds: I2 the task's end and its answer commit together. I3 a lost claim, or one under a stale fence, writes nothing.
 *        The same call again changes nothing and says so; one with another output is refused.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { answerUnderClaim, type AnswerArgs } from "./answer-under-claim";
import { handOverLate } from "./hand-over-late";
import { requirePayload } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { postAnswer } from "./task-answer";
import { answeredOtherwise, isSameAnswer, leaseLost } from "./task-claim";
import { answeredLate, succeeded } from "./task-rules";

export interface CompleteTaskArgs extends AnswerArgs {
  output?: Json | undefined;
}
export interface CompleteResult {
  /** `cancelled`: the instance waits for it no more; the output is kept and moves nothing. */
  status: "succeeded" | "cancelled";
  /** This claim had been completed before. */
  replayed: boolean;
}

/** Throws `lease-lost`, `stale-fence`, `wrong-status` (another output was taken before), `payload-too-large`. */
export async function completeTask(
  context: RuntimeContext,
  actor: Actor,
  { token, fences, output = null }: CompleteTaskArgs,
): Promise<CompleteResult> {
  requirePermission(actor, "tasks:work");
  requireOpen(context);
  requirePayload(output, "output");
  const result = await completed(context, actor, { token, fences, output }).catch(async (error: unknown) => {
    const isLost = error instanceof LockstepError && error.code === "lease-lost";
    if (!isLost || !(await handOverLate(context, token, output))) throw error;
    return { status: "cancelled", replayed: false } as const;
  });
  if (result.replayed) return result;
  context.wake();
  context.settle();
  return result;
}

const completed = (
  context: RuntimeContext,
  actor: Actor,
  { token, fences, output }: AnswerArgs & { output: Json },
): Promise<CompleteResult> =>
  answerUnderClaim(context, actor, { token, fences }, async (tx, claim): Promise<CompleteResult> => {
    const { task, now } = claim;
    switch (claim.standing) {
      case "running":
        await tx.writeTasks([succeeded(task, output, now)]);
        await postAnswer(tx, task, { output }, actor.id, now);
        return { status: "succeeded", replayed: false };
      case "cancelled":
        await tx.writeTasks([answeredLate(task, { output }, now)]);
        return { status: "cancelled", replayed: false };
      case "answered":
        if (task.result === null) throw leaseLost(task);
        if (!isSameAnswer(task.result, output)) throw answeredOtherwise(task);
        return { status: task.status === "cancelled" ? "cancelled" : "succeeded", replayed: true };
    }
  });
