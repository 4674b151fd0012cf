/**
 * A task's answer from a worker that also holds locks: their fences are checked in the answer's own transaction.
 *
 * Holds: I3 as in locks/fenced.ts.
 */
import type { Actor } from "@/lib/access/actor";
import type { StoreTransaction } from "@/lib/store/store";
import type { Fence } from "../instances/instance-views";
import { fenced } from "../locks/fenced";
import type { RuntimeContext } from "../runtime-context";
import { underClaim, type Claim } from "./task-claim";

export interface AnswerArgs {
  token: string;
  /** Proof of the locks that the work was done under. */
  fences?: Fence[] | undefined;
}

/** Throws `lease-lost`, `stale-fence`. */
export function answerUnderClaim<T>(
  { store }: RuntimeContext,
  actor: Actor,
  { token, fences }: AnswerArgs,
  work: (tx: StoreTransaction, claim: Claim) => Promise<T>,
): Promise<T> {
  return fenced(store, actor, (check) =>
    underClaim(store, token, async (tx, claim) => {
      const { instanceId, type } = claim.task;
      await check(tx, fences, { instanceId, type });
      return work(tx, claim);
    }),
  );
}
