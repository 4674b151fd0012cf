/**
 * A dead letter sent again: a new message whose cause is the old one, at the end of the mailbox.
 *
 * Holds: I3 one that a check refused (fence, expected seq) is not sent past that check, and one for an earlier life of its instance
 *        not into the next. I4 it is sent again once: a repeat gets the message that it was sent as. One that fails again is a dead letter again,
 *        under its new id, and the caller is told so.
 *        Who asks for an answer at once has it put into the mailbox, as enqueue-event.ts does.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { DeadLetterRow, InstanceRow, MessageRow } from "@/lib/store/instances";
import { noWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import { findLiveInstance } from "../instances/get-instance";
import { deadLetterError, readSendResult } from "../instances/get-message";
import { isEnded, type Fence, type SendResult } from "../instances/instance-views";
import { inTurn } from "../stepping/in-turn";
import { newAuditId, newMessageId } from "../new-id";
import { instanceEnded, stepFailed } from "../refusals";
import { requireOpen, type RuntimeContext } from "../runtime-context";

export interface RetryDeadLetterArgs {
  instanceId: string;
  messageId: string;
  /** Locks that the caller must still hold; of one that is answered at once: when the message's turn comes. */
  fences?: Fence[] | undefined;
  /** Into the mailbox and answered, before any step. */
  respondAsync?: boolean | undefined;
  /** The new message's id, of a caller that must know its own again. */
  again?: string;
}

/** What it was sent as, and whether by an earlier call. */
interface Sent {
  sentAs: string;
  replayed: boolean;
}

/** Throws `not-found`, `instance-ended`, `stale-fence`, `sequence-conflict`; `step-failed` as a send does. */
export async function retryDeadLetter(
  context: RuntimeContext,
  actor: Actor,
  args: RetryDeadLetterArgs,
): Promise<SendResult> {
  const { instanceId, messageId, again = newMessageId() } = args;
  requirePermission(actor, "instances:control");
  const dead = await context.store.findDeadLetter(instanceId, messageId);
  if (!dead) {
    throw new LockstepError("not-found", `Instance ${instanceId} has no dead letter ${messageId}.`, {
      details: { instanceId, messageId },
    });
  }
  const send = args.respondAsync === true ? enqueue : step;
  const { sentAs, replayed } = await send(context, actor, args, dead, again);
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
  const refused = await deadLetterError(context.store, instanceId, sentAs);
  if (refused) throw refused;
  throw new LockstepError(
    "instance-ended",
    `Dead letter ${messageId} was sent again as ${sentAs}, and instance ${instanceId} ended before it was applied.`,
    { details: { instanceId, messageId, sentAs } },
  );
}

function step(
  context: RuntimeContext,
  actor: Actor,
  { instanceId, messageId, fences }: RetryDeadLetterArgs,
  dead: DeadLetterRow,
  again: string,
): Promise<Sent> {
  return inTurn<Sent>(context, {
    verb: "retry-dead-letter",
    actor,
    args: { instanceId, fences },
    async work({ tx, row, now, turn }) {
      const earlier = await tx.retireDeadLetter(instanceId, messageId, again);
      if (earlier !== null) return () => ({ sentAs: earlier, replayed: true });
      refuseForGood(dead, row);
      turn.add(newMessage(dead, again, row, actor, now));
      await writeAudit(tx, dead, again, actor, now);
      return () => {
        const verdict = turn.verdicts.get(again);
        // Then it stays a dead letter that nobody has sent again.
        if (verdict?.kind === "refused") throw verdict.error;
        return { sentAs: again, replayed: false };
      };
    },
  });
}

/** The instance's row is read, not locked: one that ends or is deleted meanwhile buries the message. */
async function enqueue(
  context: RuntimeContext,
  actor: Actor,
  { instanceId, messageId, fences = [] }: RetryDeadLetterArgs,
  dead: DeadLetterRow,
  again: string,
): Promise<Sent> {
  requireOpen(context);
  const row = await findLiveInstance(context.store, instanceId);
  const send = context.store.transaction(async (tx) => {
    const sentAs = await tx.retireDeadLetter(instanceId, messageId, again);
    if (sentAs !== null) return sentAs;
    refuseForGood(dead, row);
    const now = await tx.now();
    const shown = fences.length > 0 ? JSON.stringify(fences) : null;
    const message = { ...newMessage(dead, again, row, actor, now), fences: shown };
    await tx.writeSteps({ ...noWrites(), enqueued: [message] });
    await writeAudit(tx, dead, again, actor, now);
    return null;
  });
  const earlier = await send.catch(async (error: unknown) => {
    if (!(error instanceof LockstepError) || error.code !== "outcome-unknown") throw error;
    const letter = await context.store.findDeadLetter(instanceId, messageId).catch(() => null);
    if (letter?.retriedAs !== again) throw error;
    return null;
  });
  context.wake();
  return { sentAs: earlier ?? again, replayed: earlier !== null };
}

const newMessage = (
  { instanceId, messageId, type, input }: DeadLetterRow,
  again: string,
  { incarnation }: Pick<InstanceRow, "incarnation">,
  actor: Actor,
  now: number,
): MessageRow => ({
  instanceId,
  incarnation,
  messageId: again,
  type,
  input,
  actor: actor.id,
  cause: messageId,
  enqueuedAt: now,
  dedupeScope: null,
  dedupeKey: null,
  expectedSeq: null,
  fences: null,
});

const writeAudit = (
  tx: StoreTransaction,
  { instanceId, messageId }: DeadLetterRow,
  sentAs: string,
  actor: Actor,
  at: number,
): Promise<void> =>
  tx.writeAudit({
    id: newAuditId(),
    at,
    actor: actor.id,
    action: "retry-dead-letter",
    target: `instance:${instanceId}`,
    outcome: "done",
    details: JSON.stringify({ messageId, sentAs }),
  });

/** What its sender asked for can't come true any more: whoever still wants it sends a new event. */
function refuseForGood(dead: DeadLetterRow, row: InstanceRow): void {
  if (isEnded(row.status)) throw instanceEnded(row);
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
