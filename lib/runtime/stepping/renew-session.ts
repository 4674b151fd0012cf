/** A session's time counted anew from now, never beyond its hold. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { renewed, sessionLost, sessionOf } from "./instance-session";
import { inTurn } from "./in-turn";
import { sessionTtlMs } from "../limits";
import type { RuntimeContext } from "../runtime-context";

export interface RenewSessionResult {
  until: number;
  holdUntil: number;
  leftMs: number;
}

/** Throws `not-found`, `lease-lost` when it is over. */
export async function renewSession(
  context: RuntimeContext,
  actor: Actor,
  {
    instanceId,
    session,
    ttlMs = sessionTtlMs,
  }: { instanceId: string; session: string; ttlMs?: number | undefined },
): Promise<RenewSessionResult> {
  requirePermission(actor, "events:send");
  const { replayed: _, ...result } = await inTurn(context, {
    verb: "renew-session",
    actor,
    args: { instanceId },
    work({ row, now, turn }) {
      const open = sessionOf(row, now);
      if (open?.token !== session) throw sessionLost(row.id);
      const after = renewed(open, ttlMs, now);
      turn.setSession(after);
      const { until, holdUntil } = after;
      return () => ({ until, holdUntil, leftMs: until - now, replayed: false });
    },
  });
  return result;
}
