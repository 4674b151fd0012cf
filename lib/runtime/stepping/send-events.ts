/**
 * Several events for one instance in one call: all are applied, one right after another, or none is.
 *
 * Holds: I1, I2 one transaction, after what already waits in the mailbox. A refusal names the event at fault and has changed
 *        nothing, log included. I4 a repeat with the same idempotency key gets the first answer.
 *        Who asks for an answer at once has them wait in the mailbox as one message (together.ts).
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { StepInput } from "@/lib/statechart/step";
import type { MessageRow } from "@/lib/store/instances";
import { sessionRefusal } from "./instance-session";
import { enqueueEvent } from "./enqueue-event";
import { callScope, inTurn, type Guarded, type HeldTurn } from "./in-turn";
import { isEnded, takesMessages, type InstanceStatus } from "../instances/instance-views";
import { digestOf, Unfinished } from "../kept-answer";
import { messagesPerTurnMax, sendWaitMs, turnBudgetMs } from "../limits";
import { newMessageId } from "../new-id";
import { instanceBusy, instanceEnded, wrongStatus } from "../refusals";
import { requireEvent, requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { lookUpAfter, waitForStep } from "./send-event";
import { busyPause } from "./send-queue";
import type { Send } from "./step-batch";
import { atIndex, endedBefore, failedAt, sentTogether } from "./together";
import type { SendEventsResult, Together } from "./together";

/** More hold the instance for too long. */
export const eventsMax = 100;

export interface SendEventsArgs extends Guarded {
  events: readonly { type: string; data?: Json | undefined }[];
  /** How long to wait for what lies in the mailbox before them, and for the end of another's session. */
  waitMs?: number | undefined;
  /** Token of an instance session: they go ahead of what others sent. */
  session?: string | undefined;
  /** Into the mailbox as one message, and answered before any step; those of a session are applied all the same. */
  respondAsync?: boolean | undefined;
}

/** Something else comes first: what others sent before, too much of it for this transaction, or another's session. */
class NotYet extends Error {
  override name = "NotYet";
  constructor(readonly refusal: LockstepError) {
    super(refusal.message);
  }
}

/**
 * Throws what `sendEvent` throws, with `index` in the details; `wrong-status` for one that takes nothing now, unless they
 * are to be answered at once; `instance-session`, `lease-lost`; `instance-busy` when the mailbox was not through within `waitMs`.
 */
export async function sendEvents(
  context: RuntimeContext,
  actor: Actor,
  args: SendEventsArgs,
): Promise<SendEventsResult> {
  requirePermission(actor, "events:send");
  if (args.events.length === 0 || args.events.length > eventsMax) {
    throw new LockstepError("bad-request", `Send 1 to ${eventsMax} events at once.`, {
      details: { field: "events", eventsMax },
    });
  }
  const inputs = args.events.map((event, index) => requireEvent(event, `events.${index}.`));
  const { waitMs = sendWaitMs, respondAsync, ...rest } = args;
  const call = {
    verb,
    actor,
    args: rest,
    work: (held: HeldTurn) => applyAll(held, actor, args, inputs),
  };
  const later = respondAsync === true && args.session === undefined;
  if (later) {
    const queued = await enqueue(context, actor, rest);
    if (queued) return queued;
  }
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await inTurn(context, call);
    } catch (error) {
      if (error instanceof Unfinished) {
        const { messageId } = error;
        const sent = await waitForStep(context, args.instanceId, messageId, later ? 0 : giveUpAt, true);
        if (sent.state === "queued") return sentTogether(sent, args.events.length);
        continue;
      }
      if (!(error instanceof NotYet)) throw error;
      if (performance.now() > giveUpAt || context.closing.aborted) throw error.refusal;
      context.sends.nudge(args.instanceId);
      await busyPause();
    }
  }
}

/** Null when the call was made before. */
async function enqueue(
  context: RuntimeContext,
  actor: Actor,
  args: SendEventsArgs,
): Promise<SendEventsResult | null> {
  requireOpen(context);
  const { instanceId, events, expectedSeq = null, fences = [], idempotencyKey } = args;
  const together: Together = {
    kind: "events",
    data: events.map(({ type, data }) => (data === undefined ? { type } : { type, data })),
  };
  const send: Send = {
    message: {
      instanceId,
      messageId: newMessageId(),
      type: "events",
      input: JSON.stringify(together),
      actor: actor.id,
      cause: null,
      dedupeKey: idempotencyKey === undefined ? null : requireText(idempotencyKey, "Idempotency-Key"),
      expectedSeq,
      fences: fences.length > 0 ? JSON.stringify(fences) : null,
    },
    waits: true,
    digest: digestOf({ ...args, idempotencyKey: undefined }),
  };
  const scopeOf = (row: { id: string; incarnation: number }, by: string) => callScope(verb, row, by);
  const outcome = await enqueueEvent(context, send, scopeOf).catch((error: unknown) =>
    lookUpAfter(error, context, send),
  );
  if (outcome.kind === "refused") throw outcome.error;
  return outcome.kind === "queued" ? sentTogether(outcome.result, events.length) : null;
}
const verb = "send-events";

function applyAll(
  { row, now, turn, admit }: HeldTurn,
  actor: Actor,
  args: SendEventsArgs,
  inputs: readonly StepInput[],
): () => SendEventsResult {
  if (isEnded(row.status)) throw instanceEnded(row);
  if (!takesMessages(row.status)) throw wrongStatus(row, "several events at once", ["running"]);
  const { session, waitMs } = args;
  const refusal = sessionRefusal(row, now, { token: session, waits: false });
  if (refusal)
    throw refusal.code === "instance-session" && waitMs !== undefined ? new NotYet(refusal) : refusal;
  const began = performance.now();
  turn.run(admit, () => performance.now() - began > turnBudgetMs);
  if (session === undefined && turn.behind > 0) throw new NotYet(instanceBusy(row.id));

  const messages = inputs.map((input, index): MessageRow => ({
    instanceId: row.id,
    incarnation: row.incarnation,
    messageId: newMessageId(),
    type: args.events[index]?.type ?? "",
    input: JSON.stringify(input),
    actor: actor.id,
    cause: null,
    enqueuedAt: now,
    dedupeScope: null,
    dedupeKey: args.idempotencyKey ?? null,
    expectedSeq: index === 0 ? (args.expectedSeq ?? null) : null,
    fences: args.fences && args.fences.length > 0 ? JSON.stringify(args.fences) : null,
  }));
  for (const message of messages) turn.add(message, session !== undefined);
  const settled = (): boolean => messages.every(({ messageId }) => turn.verdicts.has(messageId));
  turn.run(admit, settled, messages.length + messagesPerTurnMax);

  const results = messages.map(({ messageId }, index) => {
    const verdict = turn.verdicts.get(messageId);
    if (verdict?.kind === "applied" && verdict.failure) {
      throw failedAt(index, verdict.failure);
    }
    if (verdict?.kind === "refused") {
      throw atIndex(index, verdict.error.code, verdict.error.message, verdict.error.details);
    }
    if (verdict?.kind !== "applied" || verdict.result.outcome === null || verdict.result.seq === null) {
      if (!takesMessages(turn.row.status)) throw endedBefore(index, turn.row.status);
      throw atIndex(index, "step-failed", "too many steps of the instance's own come between", {});
    }
    const { seq, outcome, reason } = verdict.result;
    return { messageId, seq, outcome, reason };
  });
  return () => ({
    instanceId: row.id,
    state: "applied",
    seq: results.at(-1)?.seq ?? row.seq,
    status: turn.row.status as InstanceStatus,
    configuration: turn.snapshot.configuration,
    messageIds: results.map(({ messageId }) => messageId),
    results,
    pending: turn.pending,
    replayed: false,
  });
}
