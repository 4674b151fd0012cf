/**
 * The holder is done: the next waiter is served in the same transaction.
 *
 * Holds: a repeat gets the first answer, which stays true: no fence that was given up, or was stale, is good again.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { Idempotent } from "../call";
import { release } from "./lock-rules";
import type { ReleaseResult } from "./lock-views";
import { runLockCommand } from "./run-lock-command";
import type { RuntimeContext } from "../runtime-context";

export interface ReleaseLockArgs extends Idempotent {
  key: string;
  session: string;
  fence: number;
}

/** Never throws for a lock that is someone else's by now: `stale` says so, and nothing changed. */
export function releaseLock(
  context: RuntimeContext,
  actor: Actor,
  args: ReleaseLockArgs,
): Promise<ReleaseResult> {
  requirePermission(actor, "locks:use");
  const { key, session, fence } = args;
  return runLockCommand<ReleaseResult>(context, actor, {
    keys: [key],
    verb: "release",
    args: { session, fence },
    idempotencyKey: args.idempotencyKey,
    rule: ([book]) => {
      const result = release(book, { session, fence });
      // The fence that counts now: the caller's own, or the newer one that made it stale.
      return {
        kind: "kept",
        result: { result, key, fence: result === "stale" ? book.row.fence : fence, replayed: false },
      };
    },
    replay: (result) => ({ ...result, replayed: true }),
  });
}
