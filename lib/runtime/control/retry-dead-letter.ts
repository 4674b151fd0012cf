/**
 * A dead letter sent again: a new message whose cause is the old one, at the end of the mailbox.
 *
 * Holds: I3 one that a check refused (fence, expected seq) is not sent past that check, and one for an earlier life of its instance
 *        not into the next. I4 it is sent again once: a repeat gets the message that it was sent as. One that fails again is a dead letter again,
 *        under its new id, and the caller is told so.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { DeadLetterRow, InstanceRow } from "@/lib/store/instances";
import { readSendResult } from "../instances/get-message";
import { isEnded, type Fence, type SendResult } from "../instances/instance-views";
import { inTurn } from "../stepping/in-turn";
import { newAuditId, newMessageId } from "../new-id";
import { instanceEnded, stepFailed } from "../refusals";
import type { RuntimeContext } from "../runtime-context";

/** Throws `not-found`, `instance-ended`, `stale-fence`, `sequence-conflict`; `step-failed` as a send does. */
export async function retryDeadLetter(
  context: RuntimeContext,
  actor: Actor,
  {
    instanceId,
    messageId,
    fences,
    again = newMessageId(),
  }: {
    instanceId: string;
    messageId: string;
    /** Locks that the caller must still hold. */
    fences?: Fence[] | undefined;
    /** The new message's id, of a caller that must know its own again. */
    again?: string;
  },
): Promise<SendResult> {
  requirePermission(actor, "instances:control");
  const dead = await context.store.findDeadLetter(instanceId, messageId);
  if (!dead) {
    throw new LockstepError("not-found", `Instance ${instanceId} has no dead letter ${messageId}.`, {
      details: { instanceId, messageId },
    });
  }
  const { sentAs, replayed } = await inTurn(context, {
    verb: "retry-dead-letter",
    actor,
    args: { instanceId, fences },
    async work({ tx, row, now, turn }) {
      const earlier = await tx.retireDeadLetter(instanceId, messageId, again);
      if (earlier !== null) return () => ({ sentAs: earlier, replayed: true });
      if (isEnded(row.status)) throw instanceEnded(row);
      refuseForGood(dead, row);
      turn.add({
        instanceId,
        incarnation: row.incarnation,
        messageId: again,
        type: dead.type,
        input: dead.input,
        actor: actor.id,
        cause: messageId,
        enqueuedAt: now,
        dedupeScope: null,
        dedupeKey: null,
        expectedSeq: null,
        fences: null,
      });
      await tx.writeAudit({
        id: newAuditId(),
        at: now,
        actor: actor.id,
        action: "retry-dead-letter",
        target: `instance:${instanceId}`,
        outcome: "done",
        details: JSON.stringify({ messageId, sentAs: again }),
      });
      return () => {
        const verdict = turn.verdicts.get(again);
        // Then it stays a dead letter that nobody has sent again.
        if (verdict?.kind === "refused") throw verdict.error;
        return { sentAs: again, replayed: false };
      };
    },
  });
  const result = await readSendResult(context.store, instanceId, sentAs);
  if (result?.outcome === "failed") {
    const entry = await context.store.findEntryOfMessage(instanceId, sentAs);
    const failure = {
      code: entry?.errorCode ?? "step-failed",
      message: entry?.errorMessage ?? "see the event log",
    };
    throw stepFailed(result, failure, replayed);
  }
  if (result) return { ...result, replayed };
  throw new LockstepError(
    "instance-ended",
    `Dead letter ${messageId} was sent again as ${sentAs}, and instance ${instanceId} ended before it was applied.`,
    { details: { instanceId, messageId, sentAs } },
  );
}

/** What its sender asked for can't come true any more: whoever still wants it sends a new event. */
function refuseForGood(dead: DeadLetterRow, row: Pick<InstanceRow, "id" | "incarnation">): void {
  const details = { instanceId: row.id, messageId: dead.messageId, reason: dead.reason };
  if (dead.incarnation !== row.incarnation) {
    throw new LockstepError(
      "instance-ended",
      `Dead letter ${dead.messageId} was for an earlier life of instance ${row.id}, before it was deleted and its id used again.`,
      { details },
    );
  }
  const reason = checked.find((code) => code === dead.reason);
  if (!reason) return;
  throw new LockstepError(
    reason,
    `Dead letter ${dead.messageId} was refused by its sender's own check (${reason}), which sending it again would pass by. Send the event anew.`,
    { details },
  );
}
const checked = ["stale-fence", "sequence-conflict"] as const;
