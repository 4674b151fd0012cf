/** A worker is asked to take no more, or to take work again; audited. It does so within seconds, and says so. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { newAuditId } from "../new-id";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";

/** Throws `not-found`. */
export async function drainWorker(
  context: RuntimeContext,
  actor: Actor,
  args: { workerId: string; drain: boolean; reason: string },
): Promise<{ id: string; drain: boolean }> {
  requirePermission(actor, "system:control");
  requireOpen(context);
  requireText(args.reason, "reason");
  const { workerId, drain, reason } = args;
  return context.store.transaction(async (tx) => {
    if (!(await tx.askDrain(workerId, drain))) throw workerNotFound(workerId);
    await tx.writeAudit({
      id: newAuditId(),
      at: await tx.now(),
      actor: actor.id,
      action: drain ? "drain-worker" : "undrain-worker",
      target: `worker:${workerId}`,
      outcome: "done",
      details: JSON.stringify({ reason }),
    });
    return { id: workerId, drain };
  });
}

export const workerNotFound = (workerId: string): LockstepError =>
  new LockstepError("not-found", `There is no worker ${workerId}.`, { details: { workerId } });
