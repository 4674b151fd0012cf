/**
 * Several events for one instance in one call: all are applied, one right after another, or none is.
 *
 * Holds: I1, I2 one transaction, after what already waits in the mailbox. A refusal names the event at fault and has changed
 *        nothing, log included. I4 a repeat with the same idempotency key gets the first answer.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json, JsonObject } from "@/lib/base/json";
import type { StepInput } from "@/lib/statechart/step";
import type { MessageRow } from "@/lib/store/instances";
import { sessionRefusal } from "./instance-session";
import { inTurn, type Guarded, type HeldTurn } from "./in-turn";
import { isEnded, takesMessages, type InstanceStatus, type Outcome } from "../instances/instance-views";
import { messagesPerTurnMax, sendWaitMs, turnBudgetMs } from "../limits";
import { newMessageId } from "../new-id";
import { instanceBusy, instanceEnded, wrongStatus } from "../refusals";
import { requireEvent } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";
import { busyPause } from "./send-queue";

/** More hold the instance for too long. */
export const eventsMax = 100;

export interface SendEventsArgs extends Guarded {
  events: readonly { type: string; data?: Json | undefined }[];
  /** How long to wait for what lies in the mailbox before them, and for the end of another's session. */
  waitMs?: number | undefined;
  /** Token of an instance session: they go ahead of what others sent. */
  session?: string | undefined;
}
export interface SendEventsResult {
  instanceId: string;
  /** Of the last one. */
  seq: number;
  status: InstanceStatus;
  configuration: string[];
  /** In the order of the events. */
  results: { messageId: string; seq: number; outcome: Outcome; reason: string | null }[];
  pending: number;
  replayed: boolean;
}

/** Something else comes first: what others sent before, too much of it for this transaction, or another's session. */
class NotYet extends Error {
  override name = "NotYet";
  constructor(readonly refusal: LockstepError) {
    super(refusal.message);
  }
}

/**
 * Throws what `sendEvent` throws, with `index` in the details; `wrong-status` for one that takes nothing now, because these
 * can't wait in the mailbox as one; `instance-session`, `lease-lost`; `instance-busy` when the mailbox was not through within `waitMs`.
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
  const { waitMs = sendWaitMs, ...rest } = args;
  const call = {
    verb: "send-events",
    actor,
    args: rest,
    work: (held: HeldTurn) => applyAll(held, actor, args, inputs),
  };
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await inTurn(context, call);
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      if (performance.now() > giveUpAt || context.closing.aborted) throw error.refusal;
      context.sends.nudge(args.instanceId);
      await busyPause();
    }
  }
}

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
      throw atIndex(index, "step-failed", `its step failed: ${verdict.failure.message}`, {
        code: verdict.failure.code,
      });
    }
    if (verdict?.kind === "refused") {
      throw atIndex(index, verdict.error.code, verdict.error.message, verdict.error.details);
    }
    if (verdict?.kind !== "applied" || verdict.result.outcome === null || verdict.result.seq === null) {
      if (!takesMessages(turn.row.status)) {
        throw atIndex(
          index,
          "instance-ended",
          `the events before it end the instance (${turn.row.status})`,
          {},
        );
      }
      throw atIndex(index, "step-failed", "too many steps of the instance's own come between", {});
    }
    const { seq, outcome, reason } = verdict.result;
    return { messageId, seq, outcome, reason };
  });
  return () => ({
    instanceId: row.id,
    seq: results.at(-1)?.seq ?? row.seq,
    status: turn.row.status as InstanceStatus,
    configuration: turn.snapshot.configuration,
    results,
    pending: turn.pending,
    replayed: false,
  });
}

const atIndex = (
  index: number,
  code: LockstepError["code"],
  why: string,
  details: JsonObject,
): LockstepError =>
  new LockstepError(code, `None of the events was applied, because of event ${index}: ${why}`, {
    details: { ...details, index },
  });
