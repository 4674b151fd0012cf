/**
 * How the runtime says no to a caller of an instance: each refusal worded once.
 */
import { LockstepError } from "@/lib/base/errors";
import type { InstanceRow, MessageRow } from "@/lib/store/instances";
import type { LockRow } from "@/lib/store/locks";
import type { Failure, Fence, SendResult } from "./instances/instance-views";

export const instanceNotFound = (instanceId: string): LockstepError =>
  new LockstepError("not-found", `There is no instance ${instanceId}.`, { details: { instanceId } });

export const keyReuse = (key: string): LockstepError =>
  new LockstepError(
    "idempotency-key-reuse",
    `The Idempotency-Key ${key} was used for a call with other arguments. Use a new key for a new call.`,
    { details: { idempotencyKey: key } },
  );

export const instanceEnded = (row: Pick<InstanceRow, "id" | "status" | "seq">): LockstepError =>
  new LockstepError(
    "instance-ended",
    `Instance ${row.id} has ended (${row.status}); it takes no more events.`,
    {
      details: { instanceId: row.id, status: row.status, seq: row.seq },
    },
  );

/** Of a control verb. */
export const nothingLeft = (row: Pick<InstanceRow, "id" | "status" | "seq">, verb: string): LockstepError =>
  new LockstepError(
    "instance-ended",
    `Instance ${row.id} has ended (${row.status}): there is nothing left to ${verb}.`,
    { details: { instanceId: row.id, status: row.status, seq: row.seq } },
  );

/** `possible`: the statuses in which the verb has a meaning. */
export const wrongStatus = (
  row: Pick<InstanceRow, "id" | "status" | "seq">,
  verb: string,
  possible: readonly string[],
): LockstepError =>
  new LockstepError(
    "wrong-status",
    `Instance ${row.id} is ${row.status}: ${verb} is for one that is ${possible.join(", ")}.`,
    { details: { instanceId: row.id, status: row.status, seq: row.seq } },
  );

export const sequenceConflict = (
  message: Pick<MessageRow, "expectedSeq">,
  row: Pick<InstanceRow, "id" | "seq">,
): LockstepError =>
  new LockstepError(
    "sequence-conflict",
    `Instance ${row.id} is at seq ${row.seq}, not at the expected ${message.expectedSeq}. Read its state, then decide anew.`,
    { details: { instanceId: row.id, expected: message.expectedSeq, actual: row.seq } },
  );

export const staleFence = (fence: Fence, lock: LockRow | undefined, wrong: string): LockstepError =>
  new LockstepError(
    "stale-fence",
    `Nothing was written: fence ${fence.fence} of lock ${fence.key} is not good (${wrong}). Acquire the lock anew.`,
    { details: { key: fence.key, fence: fence.fence, current: lock?.fence ?? null, reason: wrong } },
  );

/** The event took a seq and changed nothing. */
export const stepFailed = (
  { instanceId, messageId, seq, status }: SendResult,
  { code, message }: Failure,
  replayed: boolean,
): LockstepError =>
  new LockstepError(
    "step-failed",
    `The step failed and changed nothing; the event is logged as seq ${seq} of ${instanceId}: ${message}`,
    { details: { instanceId, messageId, seq, code, message, status, replayed } },
  );

/** Nothing was changed. */
export const instanceBusy = (instanceId: string): LockstepError =>
  new LockstepError(
    "instance-busy",
    `Nothing was applied: others hold instance ${instanceId} or wait there before you. Repeat the call.`,
    { retry: "later", details: { instanceId } },
  );

/** The instance has ended or was deleted since it was looked for. */
export const isGone = (error: unknown): boolean =>
  error instanceof LockstepError && (error.code === "instance-ended" || error.code === "not-found");
