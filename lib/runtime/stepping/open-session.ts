/**
 * An instance session opened: until it ends, its holder's events alone are applied, others' wait in the mailbox.
 *
 * Holds: I1 what the mailbox holds keeps its order and goes on after the session. I4 a lost answer is got again with the
 *        same idempotency key.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { requireOpenable } from "./instance-session";
import { inTurn, type Guarded } from "./in-turn";
import { sessionHoldMaxMs, sessionTtlMs } from "../limits";
import { newTaskToken } from "../new-id";
import { requireText } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface OpenSessionArgs extends Guarded {
  ttlMs?: number | undefined;
  /** However often it is renewed; at most 60 s. */
  holdMaxMs?: number | undefined;
  /** Shown to those who wait; default: the caller. */
  holder?: string | undefined;
}
export interface OpenSessionResult {
  instanceId: string;
  /** Goes with every event of the session; secret. */
  session: string;
  /** Of the instance, when the session began. */
  seq: number;
  /** On the database's clock. */
  until: number;
  holdUntil: number;
  /** From the answer's making to `until`. */
  leftMs: number;
  replayed: boolean;
}

/** Throws `not-found`, `instance-ended`, `wrong-status`, `instance-session`, `sequence-conflict`, `stale-fence`. */
export async function openSession(
  context: RuntimeContext,
  actor: Actor,
  args: OpenSessionArgs,
): Promise<OpenSessionResult> {
  requirePermission(actor, "events:send");
  if (args.holder !== undefined) requireText(args.holder, "holder");
  return inTurn(context, {
    verb: "open-session",
    actor,
    args,
    work({ row, now, turn }) {
      requireOpenable(row, now);
      const { ttlMs = sessionTtlMs, holdMaxMs = sessionHoldMaxMs, holder = actor.id } = args;
      const holdUntil = now + Math.min(holdMaxMs, sessionHoldMaxMs);
      const until = Math.min(now + ttlMs, holdUntil);
      const token = newTaskToken();
      turn.setSession({ token, holder, actor: actor.id, openedAt: now, until, holdUntil });
      const leftMs = until - now;
      return () => ({
        instanceId: row.id,
        session: token,
        seq: row.seq,
        until,
        holdUntil,
        leftMs,
        replayed: false,
      });
    },
  });
}
