/** Whether this process can serve calls now: what a balancer asks before it sends any. Health says more, to people. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { NoArgs } from "../call";
import type { RuntimeContext } from "../runtime-context";

export interface Readiness {
  ready: boolean;
  /** Null, or why not, in one sentence. */
  reason: string | null;
}

export async function getReadiness(
  { store, closing }: RuntimeContext,
  actor: Actor,
  _args: NoArgs,
): Promise<Readiness> {
  requirePermission(actor, "system:read");
  if (closing.aborted) return { ready: false, reason: "This server is shutting down." };
  try {
    // A database that takes no writes is found by one; a disk may have room for this one alone.
    await store.transaction((tx) => tx.beginWriting());
    const reason = store.refusedForRoom();
    return { ready: reason === null, reason };
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return { ready: false, reason: error.message };
  }
}
