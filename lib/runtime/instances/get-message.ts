/**
 * What became of a message: applied (with its log entry's outcome), refused when its turn came, or still queued.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError, type ErrorCode } from "@/lib/base/errors";
import type { DeadLetterRow, InstanceRow, LogLine } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import { configurationOf, failureOf } from "./instance-views";
import type { InstanceStatus, MessageResult, Outcome, SendResult } from "./instance-views";
import { eventsOf, isOf, waitsIn } from "../stepping/together";
import type { RuntimeContext } from "../runtime-context";
import { instanceNotFound } from "../refusals";

/** Throws `not-found`. */
export async function getMessage(
  { store }: RuntimeContext,
  actor: Actor,
  { instanceId, messageId }: { instanceId: string; messageId: string },
): Promise<MessageResult> {
  requirePermission(actor, "instances:read");
  const found = await readMessage(store, instanceId, messageId);
  if (found) return { ...found.result, error: found.entry ? stepFailureOf(found.entry) : null };
  const dead = await findDead(store, instanceId, messageId);
  const row = dead && (await store.findInstance(instanceId));
  if (!row) {
    throw new LockstepError("not-found", `Instance ${instanceId} has no message ${messageId}.`, {
      details: { instanceId, messageId },
    });
  }
  return {
    ...(await resultOf(store, row, messageId)),
    state: "refused",
    reason: dead.reason,
    error: { code: dead.reason, message: whyRefused(dead) },
  };
}

async function findDead(store: Store, instanceId: string, messageId: string): Promise<DeadLetterRow | null> {
  const dead = await store.findDeadLetter(instanceId, waitsIn(messageId));
  return dead && isOf(messageId, dead) ? dead : null;
}

/** For who waited for its step; null when it is no dead letter. What a refusal told beside its words is not kept. */
export async function deadLetterError(
  store: Store,
  instanceId: string,
  messageId: string,
): Promise<LockstepError | null> {
  const dead = await findDead(store, instanceId, messageId);
  if (!dead) return null;
  return new LockstepError(
    dead.reason === "killed-process" ? "step-failed" : (dead.reason as ErrorCode),
    `Message ${messageId} was never applied: ${whyRefused(dead)}.`,
    { details: { instanceId, messageId, reason: dead.reason } },
  );
}

/** Null when it is neither in the log nor in the mailbox. Status and configuration are the instance's present ones. */
export async function readSendResult(
  store: Store,
  instanceId: string,
  messageId: string,
): Promise<SendResult | null> {
  return (await readMessage(store, instanceId, messageId))?.result ?? null;
}

async function readMessage(
  store: Store,
  instanceId: string,
  messageId: string,
): Promise<{ result: SendResult; entry: LogLine | null } | null> {
  // Mailbox first: between the two reads a message moves from there to the log, never back.
  const waiting = await store.findQueued(instanceId, waitsIn(messageId));
  const queued = waiting && isOf(messageId, waiting) ? waiting : null;
  const entry = await store.findEntryOfMessage(instanceId, messageId);
  const row = await store.findInstance(instanceId);
  if (!row) throw instanceNotFound(instanceId);
  if (!queued && !entry) return null;
  const result: SendResult = {
    ...(await resultOf(store, row, messageId)),
    state: entry ? "applied" : "queued",
    seq: entry?.seq ?? null,
    outcome: (entry?.outcome as Outcome | undefined) ?? null,
    reason: entry?.reason ?? null,
  };
  return { result, entry };
}

const resultOf = async (store: Store, row: InstanceRow, messageId: string) => ({
  messageId,
  instanceId: row.id,
  seq: null,
  outcome: null,
  status: row.status as InstanceStatus,
  configuration: configurationOf(row),
  pending: await store.countMailbox(row.id),
  replayed: false,
});

const stepFailureOf = (entry: LogLine) => (entry.outcome === "failed" ? failureOf(entry) : null);

function whyRefused(dead: DeadLetterRow): string {
  const { reason, retriedAs } = dead;
  const again = retriedAs === null ? "" : `, sent again as ${retriedAs}`;
  const why = (eventsOf(dead) && whysOfSeveral[reason]) ?? whys[reason] ?? reason;
  return `${why}; it is a dead letter${again}`;
}
/** Which of them was at fault is not kept. */
const whysOfSeveral: Record<string, string> = {
  "instance-ended":
    "its instance had ended, or was deleted, before its turn came, or one of its events would have come after the end",
  "step-failed": "the step of one of its events failed",
};
const whys: Record<string, string> = {
  "instance-ended": "its instance had ended, or was deleted, before its turn came",
  "sequence-conflict": "its instance was not at the seq that it expected when its turn came",
  "stale-fence": "a fence that came with it was not good when its turn came",
  "lock-busy": "its sender did not hold the lock of its instance when its turn came",
  "step-failed": "its step failed",
  "killed-process": "the processes that tried its step died of it",
};
