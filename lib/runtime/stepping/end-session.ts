/** A session's end by its holder: what waited meanwhile goes on in the same transaction. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { sessionOf } from "./instance-session";
import { inTurn } from "./in-turn";
import type { RuntimeContext } from "../runtime-context";

/** `already-over`: it had ended before, by its time or otherwise. Throws `not-found`. */
export async function endSession(
  context: RuntimeContext,
  actor: Actor,
  { instanceId, session }: { instanceId: string; session: string },
): Promise<{ result: "ended" | "already-over" }> {
  requirePermission(actor, "events:send");
  const { result } = await inTurn(context, {
    verb: "end-session",
    actor,
    args: { instanceId },
    work({ row, now, turn }) {
      const mine = sessionOf(row, now)?.token === session;
      if (mine) turn.setSession(null);
      return () => ({ result: mine ? ("ended" as const) : ("already-over" as const), replayed: false });
    },
  });
  return { result };
}
