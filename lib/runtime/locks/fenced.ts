/**
 * A call that shows fences and has no turn of its own: they are checked in its transaction, and refusals are logged on the
 * locks after it.
 *
 * Holds: I3 the lock rows are shared to commit, so that a force-release waits for a call that has passed, and every later one
 *        is refused as `stale-fence`. Lock order: checked after instances and tasks, before all else.
 */
import type { Actor } from "@/lib/access/actor";
import type { Store, StoreTransaction } from "@/lib/store/store";
import type { Fence } from "../instances/instance-views";
import { staleFence } from "../refusals";
import { staleness, type RejectedWrite } from "../stepping/step-batch";
import { logRejectedWrites } from "./log-rejected-writes";
import { holdLocks } from "./sender-lock";

/** Of what a rejected write is told: the instance it was for, and what it would have done. */
export interface Fenced {
  instanceId: string;
  type: string;
}
/** Throws `stale-fence`. */
export type FenceCheck = (
  tx: StoreTransaction,
  fences: readonly Fence[] | undefined,
  about: Fenced,
) => Promise<void>;

export async function fenced<T>(
  store: Store,
  actor: Actor,
  work: (check: FenceCheck) => Promise<T>,
): Promise<T> {
  let rejected: RejectedWrite[] = [];
  const check: FenceCheck = async (tx, fences = [], about) => {
    // A transaction may run again.
    rejected = [];
    if (fences.length === 0) return;
    const rows = await holdLocks(
      tx,
      fences.map(({ key }) => key),
      [],
    );
    const now = await tx.now();
    for (const fence of fences) {
      const lock = rows.get(fence.key);
      const wrong = staleness(fence, lock, now);
      if (wrong === null) continue;
      rejected = [{ ...about, fence, actor: actor.id }];
      throw staleFence(fence, lock, wrong);
    }
  };
  try {
    return await work(check);
  } finally {
    await logRejectedWrites(store, rejected);
  }
}

export const fencedTransaction = <T>(
  store: Store,
  actor: Actor,
  work: (tx: StoreTransaction, check: FenceCheck) => Promise<T>,
): Promise<T> => fenced(store, actor, (check) => store.transaction((tx) => work(tx, check)));
