/**
 * `settings.locking: "distributed"`: who sends to such an instance must hold the lock `instance:ID`, or finds it free.
 *
 * Holds: I3 a free lock is taken for the call by holding its row to the transaction's end: whoever acquires it meanwhile is
 *        granted it after the step, and every later step is refused without its fence. No lease is written for that: nobody
 *        could see it.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Machine } from "@/lib/statechart/machine";
import type { InstanceRow } from "@/lib/store/instances";
import type { LockRow } from "@/lib/store/locks";
import type { StoreTransaction } from "@/lib/store/store";
import { isCoolingFor, isHeldAt, leaseEnd } from "./lock-views";
import type { Admitted } from "../stepping/turn";

export const isDistributed = (machine: Machine): boolean => machine.chart.settings?.locking === "distributed";

export const senderLockOf = (instanceId: string): string => `instance:${instanceId}`;

/** The rows of `read`, shared, and of `taken`, made when missing and held alone: in the order of keys. */
export async function holdLocks(
  tx: StoreTransaction,
  read: readonly string[],
  taken: readonly string[],
): Promise<Map<string, LockRow>> {
  if (taken.length === 0) {
    const rows = await tx.shareLocks([...new Set(read)].sort());
    return new Map(rows.map((row) => [row.key, row]));
  }
  const alone = new Set(taken);
  const found = new Map<string, LockRow>();
  for (const key of [...new Set([...read, ...taken])].sort()) {
    const rows = alone.has(key) ? [await tx.lockLock(key)] : await tx.shareLocks([key]);
    for (const row of rows) found.set(key, row);
  }
  return found;
}

/** Null for what Lockstep itself posts, for a sender that shows the lock's fence, and when nobody else has it. */
export function senderRefusal(
  message: Admitted,
  fenceKeys: readonly string[],
  row: Pick<InstanceRow, "id">,
  lock: LockRow | undefined,
  now: number,
): LockstepError | null {
  if (message.actor.startsWith("instance:") || /^(?:done|error)\.invoke\./.test(message.type)) return null;
  const key = senderLockOf(row.id);
  if (fenceKeys.includes(key)) return null;
  if (!lock) return null;
  const isHeld = isHeldAt(lock, now);
  if (!isHeld && !isCoolingFor(lock, null, now)) return null;
  const holder = isHeld ? lock.holder : null;
  const why = isHeld ? `${holder ?? "another"} holds the lock ${key}` : `the lock ${key} cools down`;
  return new LockstepError(
    "lock-busy",
    `Nothing was applied: ${why}, without which nobody sends to this instance. Acquire it and send its fence, or try again.`,
    {
      retry: "later",
      details: {
        instanceId: row.id,
        key,
        holder,
        expiresAt: isHeld ? leaseEnd(lock) : null,
        coolUntil: isHeld ? null : lock.coolUntil,
      },
    },
  );
}
