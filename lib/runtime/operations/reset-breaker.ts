/** A worker is asked to close one of its breakers, so that the next call goes through; audited. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { workerNotFound } from "./drain-worker";
import { newAuditId } from "../new-id";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";

/** Throws `not-found`. A breaker that is closed already stays so. */
export async function resetBreaker(
  context: RuntimeContext,
  actor: Actor,
  args: { workerId: string; name: string; reason: string },
): Promise<{ id: string; name: string }> {
  requirePermission(actor, "system:control");
  requireOpen(context);
  requireText(args.reason, "reason");
  const { workerId, name, reason } = args;
  requireText(name, "name");
  return context.store.transaction(async (tx) => {
    if (!(await tx.askReset(workerId, name))) throw workerNotFound(workerId);
    await tx.writeAudit({
      id: newAuditId(),
      at: await tx.now(),
      actor: actor.id,
      action: "reset-breaker",
      target: `worker:${workerId}`,
      outcome: "done",
      details: JSON.stringify({ breaker: name, reason }),
    });
    return { id: workerId, name };
  });
}
