/**
 * What became of a message: applied (with its log entry's outcome) or still queued.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import type { InstanceStatus, Outcome, SendResult } from "./instance-views";
import type { RuntimeContext } from "../runtime-context";
import { instanceNotFound } from "../refusals";

/** Throws `not-found`; for one that became a dead letter `instance-ended`, or `step-failed` when it killed its processes. */
export async function getMessage(
  { store }: RuntimeContext,
  actor: Actor,
  { instanceId, messageId }: { instanceId: string; messageId: string },
): Promise<SendResult> {
  requirePermission(actor, "instances:read");
  const result = await readSendResult(store, instanceId, messageId);
  if (result) return result;
  const dead = await deadLetterError(store, instanceId, messageId);
  if (dead) throw dead;
  throw new LockstepError("not-found", `Instance ${instanceId} has no message ${messageId}.`, {
    details: { instanceId, messageId },
  });
}

/** Null when it is none. */
export async function deadLetterError(
  store: Store,
  instanceId: string,
  messageId: string,
): Promise<LockstepError | null> {
  const dead = await store.findDeadLetter(instanceId, messageId);
  if (!dead) return null;
  return new LockstepError(
    dead.reason === "killed-process" ? "step-failed" : "instance-ended",
    `Message ${messageId} was never applied: it is a dead letter (${dead.reason}).`,
    { details: { instanceId, messageId, reason: dead.reason } },
  );
}

/** Null when it is neither in the log nor in the mailbox. Status and configuration are the instance's present ones. */
export async function readSendResult(
  store: Store,
  instanceId: string,
  messageId: string,
): Promise<SendResult | null> {
  // Mailbox first: between the two reads a message moves from there to the log, never back.
  const queued = await store.findQueued(instanceId, messageId);
  const entry = await store.findEntryOfMessage(instanceId, messageId);
  const row = await store.findInstance(instanceId);
  if (!row) throw instanceNotFound(instanceId);
  if (!queued && !entry) return null;
  return {
    messageId,
    instanceId,
    state: entry ? "applied" : "queued",
    seq: entry?.seq ?? null,
    outcome: (entry?.outcome as Outcome | undefined) ?? null,
    reason: entry?.reason ?? null,
    status: row.status as InstanceStatus,
    configuration: JSON.parse(row.configuration) as string[],
    pending: await store.countMailbox(instanceId),
    replayed: false,
  };
}
