/**
 * An operator takes a lock away.
 *
 * Holds: I3 from its commit on no fenced write of the old holder lands: it waits for steps that have passed their check,
 *        every later one is refused. The fence is compared first, so nobody takes a lock from whom he didn't look at.
 * Does not: stop the old holder's process, or undo what it committed.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Idempotent } from "../call";
import { forceRelease } from "./lock-rules";
import type { ForceReleaseResult } from "./lock-views";
import { newAuditId } from "../new-id";
import { requireText } from "../require-payload";
import { runLockCommand } from "./run-lock-command";
import type { RuntimeContext } from "../runtime-context";

export interface ForceReleaseLockArgs extends Idempotent {
  key: string;
  expectedFence: number;
  reason: string;
}

/** Throws `not-found` for a key never used, `fence-moved` with {expectedFence, fence}. */
export async function forceReleaseLock(
  context: RuntimeContext,
  actor: Actor,
  args: ForceReleaseLockArgs,
): Promise<ForceReleaseResult> {
  requirePermission(actor, "locks:force");
  const { key, expectedFence } = args;
  const reason = requireText(args.reason, "reason");
  return runLockCommand<ForceReleaseResult>(context, actor, {
    keys: [key],
    verb: "force-release",
    args: { expectedFence, reason },
    idempotencyKey: args.idempotencyKey,
    rule: async ([book], tx) => {
      // A row without a log is of a key that was named, never asked for.
      if (book.row.logSeq === 0) return { kind: "refused", error: lockNotFound(key) };
      if (book.row.fence !== expectedFence)
        return { kind: "refused", error: fenceMoved(key, expectedFence, book.row) };
      const forced = forceRelease(book, reason);
      await tx.writeAudit({
        id: newAuditId(),
        at: book.now,
        actor: actor.id,
        action: "force-release",
        target: `lock:${key}`,
        outcome: "done",
        details: JSON.stringify({ ...forced, reason }),
      });
      return { kind: "kept", result: { key, ...forced, replayed: false } };
    },
    replay: (result) => ({ ...result, replayed: true }),
  });
}

const fenceMoved = (
  key: string,
  expectedFence: number,
  row: { fence: number; holder: string | null },
): LockstepError =>
  new LockstepError(
    "fence-moved",
    `Lock ${key} has fence ${row.fence} now, not ${expectedFence}: ${row.holder === null ? "it is free" : `${row.holder} holds it`}. Look again, then decide.`,
    { details: { key, expectedFence, fence: row.fence, holder: row.holder } },
  );

export const lockNotFound = (key: string): LockstepError =>
  new LockstepError("not-found", `There is no lock ${key}: nobody has ever asked for it.`, {
    details: { key },
  });
