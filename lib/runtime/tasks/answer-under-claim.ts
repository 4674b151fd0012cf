/**
 * A task's answer from a worker that also holds locks: their fences are checked in the answer's own transaction.
 *
 * Holds: I3 as in step-batch.ts: the lock rows are shared to commit, so that a force-release waits for an answer that has
 *        passed, and every later one is refused as `stale-fence`, which is logged on the lock.
 */
import type { Actor } from "@/lib/access/actor";
import type { StoreTransaction } from "@/lib/store/store";
import type { Fence } from "../instances/instance-views";
import { logRejectedWrites } from "../locks/log-rejected-writes";
import { staleFence } from "../refusals";
import type { RuntimeContext } from "../runtime-context";
import { staleness, type RejectedWrite } from "../stepping/step-batch";
import { underClaim, type Claim } from "./task-claim";

export interface AnswerArgs {
  token: string;
  /** Proof of the locks that the work was done under. */
  fences?: Fence[] | undefined;
}

/** Throws `lease-lost`, `stale-fence`. */
export async function answerUnderClaim<T>(
  { store }: RuntimeContext,
  actor: Actor,
  { token, fences = [] }: AnswerArgs,
  work: (tx: StoreTransaction, claim: Claim) => Promise<T>,
): Promise<T> {
  let rejected: RejectedWrite[] = [];
  try {
    return await underClaim(store, token, async (tx, claim) => {
      rejected = [];
      if (fences.length > 0) {
        const rows = await tx.shareLocks([...new Set(fences.map(({ key }) => key))].sort());
        const now = await tx.now();
        for (const fence of fences) {
          const lock = rows.find(({ key }) => key === fence.key);
          const wrong = staleness(fence, lock, now);
          if (wrong === null) continue;
          const { instanceId, type } = claim.task;
          rejected = [{ fence, instanceId, actor: actor.id, type }];
          throw staleFence(fence, lock, wrong);
        }
      }
      return work(tx, claim);
    });
  } finally {
    if (rejected.length > 0) await logRejectedWrites(store, rejected);
  }
}
