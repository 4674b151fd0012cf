/**
 * An event for an instance: joins its mailbox and is stepped in the same transaction when nothing is in the way.
 *
 * Holds: I1, I2, I3 by step-batch.ts. I4 a repeat with the same idempotency key (scope: caller, instance, incarnation)
 *        gets the first answer. What was answered is committed; a refusal changed nothing.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { Idempotent } from "../call";
import { enqueueEvent } from "./enqueue-event";
import { deadLetterError, readSendResult } from "../instances/get-message";
import { takesMessages, type Fence, type SendResult } from "../instances/instance-views";
import { digestOf } from "../kept-answer";
import { sendWaitMs } from "../limits";
import { newMessageId } from "../new-id";
import { instanceBusy, stepFailed } from "../refusals";
import { requireEvent, requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { busyPause } from "./send-queue";
import type { Send, SendOutcome, StoredAnswer } from "./step-batch";

export interface SendEventArgs extends Idempotent {
  instanceId: string;
  type: string;
  data?: Json | undefined;
  expectedSeq?: number | undefined;
  fences?: Fence[] | undefined;
  /**
   * How long to wait for the step. Whoever gives it also waits, in the mailbox, for the end of another's session; others
   * are refused while one is open.
   */
  waitMs?: number | undefined;
  /** Token of an instance session: the event goes ahead of what others sent. */
  session?: string | undefined;
  /** Into the mailbox and answered, before any step; one of a session, which it must not outlive, is stepped all the same. */
  respondAsync?: boolean | undefined;
}

/**
 * `applied` with the step's outcome, or `queued` when the step was not reached within `waitMs`.
 *
 * Throws `not-found`, `instance-ended`, `sequence-conflict` {expected, actual}, `stale-fence`, `idempotency-key-reuse`,
 * `payload-too-large`, `instance-session` {holder, expiresAt}, `lease-lost` (its own session is over), `step-failed` (the
 * event took a seq and changed nothing).
 */
export async function sendEvent(
  context: RuntimeContext,
  actor: Actor,
  args: SendEventArgs,
): Promise<SendResult> {
  requirePermission(actor, "events:send");
  requireOpen(context);
  const send = sendOf(actor, args);
  const giveUpAt = performance.now() + (args.waitMs ?? sendWaitMs);
  const later = args.respondAsync === true && args.session === undefined;
  const outcome = await submit(context, send, giveUpAt, later);
  switch (outcome.kind) {
    case "applied":
      return answer(outcome, false);
    case "refused":
      throw outcome.error;
    case "queued":
      // A suspended or failed instance takes it when it runs again: nothing to wait for.
      if (later || !takesMessages(outcome.result.status)) return outcome.result;
      return waitForStep(context, args.instanceId, send.message.messageId, giveUpAt, false);
    case "replayed":
      if (outcome.answer) return answer(outcome.answer, true);
      return waitForStep(context, args.instanceId, outcome.messageId, later ? 0 : giveUpAt, true);
    case "busy":
      throw new LockstepError("internal", "a send that others kept from its instance was not enqueued");
  }
}

function sendOf(actor: Actor, args: SendEventArgs): Send {
  const input = requireEvent(args);
  const { type, data, expectedSeq, fences, session, waitMs } = args;
  return {
    message: {
      instanceId: args.instanceId,
      messageId: newMessageId(),
      type,
      input: JSON.stringify(input),
      actor: actor.id,
      cause: null,
      dedupeKey:
        args.idempotencyKey === undefined ? null : requireText(args.idempotencyKey, "Idempotency-Key"),
      expectedSeq: expectedSeq ?? null,
      fences: fences && fences.length > 0 ? JSON.stringify(fences) : null,
    },
    session,
    waits: waitMs !== undefined,
    digest: args.idempotencyKey === undefined ? null : digestOf({ type, data, expectedSeq, fences }),
  };
}

async function submit(
  context: RuntimeContext,
  send: Send,
  giveUpAt: number,
  later: boolean,
): Promise<SendOutcome> {
  for (;;) {
    try {
      if (later) return await enqueueEvent(context, send);
      const outcome = await context.sends.submit(send);
      if (outcome.kind !== "busy") return outcome;
      if (performance.now() > giveUpAt) {
        // In the mailbox it would outlive its session.
        if (send.session !== undefined) throw instanceBusy(send.message.instanceId);
        return await enqueueEvent(context, send);
      }
    } catch (error) {
      return await lookUpAfter(error, context, send);
    }
    await busyPause();
  }
}

/** The connection broke while the transaction committed: the message's id tells whether it did. Throws any other error, and when it can't. */
export async function lookUpAfter(error: unknown, context: RuntimeContext, send: Send): Promise<SendOutcome> {
  if (!(error instanceof LockstepError) || error.code !== "outcome-unknown") throw error;
  const found = await lookUp(context, send).catch(() => null);
  if (!found) throw error;
  return found;
}

async function lookUp(context: RuntimeContext, send: Send): Promise<SendOutcome | null> {
  const { instanceId, messageId } = send.message;
  const result = await readSendResult(context.store, instanceId, messageId);
  if (!result) return null;
  if (result.state === "queued") return { kind: "queued", result };
  return { kind: "applied", result, failure: result.outcome === "failed" ? failedUnknown : null };
}
const failedUnknown = { code: "step-failed", message: "see the event log" };

function answer({ result, failure }: StoredAnswer, replayed: boolean): SendResult {
  if (!failure) return { ...result, replayed };
  throw stepFailed(result, failure, replayed);
}

/** How soon a step by another process is noticed. */
const lookMs = 100;

/** `replayed`: of an earlier call. Helps the mailbox along until the message has had its turn, or the time is up. */
export async function waitForStep(
  context: RuntimeContext,
  instanceId: string,
  messageId: string,
  giveUpAt: number,
  replayed: boolean,
): Promise<SendResult> {
  for (;;) {
    const result = await readSendResult(context.store, instanceId, messageId);
    if (!result) {
      const dead = await deadLetterError(context.store, instanceId, messageId);
      if (dead) throw dead;
      throw new LockstepError(
        "instance-ended",
        `Instance ${instanceId} ended or was deleted before the event ${messageId} was applied.`,
        { details: { instanceId, messageId } },
      );
    }
    if (result.state === "applied") {
      return answer({ result, failure: result.outcome === "failed" ? failedUnknown : null }, replayed);
    }
    const leftMs = giveUpAt - performance.now();
    if (leftMs <= 0 || context.closing.aborted) return { ...result, replayed };
    const verdict = await context.sends.whenSettled(instanceId, messageId, Math.min(lookMs, leftMs));
    if (verdict?.kind === "applied") return answer(verdict, replayed);
    if (verdict?.kind === "refused") throw verdict.error;
  }
}
