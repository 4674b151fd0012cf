/**
 * A longer lease for who still holds it.
 *
 * Holds: a repeat gets the first answer, and hears whether that grant still holds and how long.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Idempotent } from "../call";
import { renew, stands, type LostReason } from "./lock-rules";
import type { RenewResult } from "./lock-views";
import { runLockCommand } from "./run-lock-command";
import type { RuntimeContext } from "../runtime-context";

export interface RenewLockArgs extends Idempotent {
  key: string;
  session: string;
  fence: number;
  ttlMs?: number | undefined;
}

/** Throws `lock-lost` with {reason: expired | hold-over | superseded | forced | released | never-given | not-yours}. */
export function renewLock(context: RuntimeContext, actor: Actor, args: RenewLockArgs): Promise<RenewResult> {
  requirePermission(actor, "locks:use");
  const { key, session, fence, ttlMs } = args;
  return runLockCommand<RenewResult>(context, actor, {
    keys: [key],
    verb: "renew",
    args: { session, fence, ttlMs: ttlMs ?? null },
    idempotencyKey: args.idempotencyKey,
    isRenewal: true,
    rule: async ([book], tx) => {
      const renewed = renew(book, { session, fence, ttlMs });
      if (!("lost" in renewed)) {
        const leftMs = renewed.expiresAt - book.now;
        return { kind: "kept", result: { key, ...renewed, leftMs, replayed: false, valid: true } };
      }
      const forced = renewed.lost === "superseded" && (await tx.wasForced(key, fence + 1));
      const reason = forced ? "forced" : renewed.lost;
      return { kind: "refused", error: lockLost(key, fence, reason, book.row.fence) };
    },
    replay: (result, [book]) => {
      const valid = stands(book, session, fence);
      const leftMs = valid ? (book.row.expiresAt ?? 0) - book.now : 0;
      return { ...result, leftMs, replayed: true, valid };
    },
  });
}

const why: Record<LostReason | "forced", string> = {
  expired: "its lease ran out",
  "hold-over": "its longest hold is over",
  superseded: "it has been given out again since",
  forced: "it was force-released",
  released: "it was released",
  "never-given": "that fence was never given",
  "not-yours": "that fence was given to another session",
};

const lockLost = (key: string, fence: number, reason: keyof typeof why, newest: number): LockstepError =>
  new LockstepError(
    "lock-lost",
    `Lock ${key} is not yours under fence ${fence}: ${why[reason]} (the newest is ${newest}). Stop what it protects; acquire it anew.`,
    { details: { key, fence, reason, newest } },
  );
