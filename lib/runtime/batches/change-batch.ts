/** What stopping a batch and letting it go on have in common: its row held, its status after, the audit row. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { BatchRow } from "@/lib/store/batches";
import { viewBatch, type BatchView } from "./batch-views";
import { batchNotFound } from "./get-batch";
import { newAuditId } from "../new-id";
import { requireOpen, type RuntimeContext } from "../runtime-context";

/** `change` gives the row as it is to be, the same one when nothing is to change. Throws `not-found`. */
export async function changeBatch(
  context: RuntimeContext,
  actor: Actor,
  batchId: string,
  action: string,
  change: (row: BatchRow, now: number) => BatchRow,
): Promise<BatchView> {
  requirePermission(actor, "instances:control");
  requireOpen(context);
  return context.store.transaction(async (tx) => {
    const before = await tx.lockBatch(batchId);
    if (!before) throw batchNotFound(batchId);
    const now = await tx.now();
    const after = change(before, now);
    if (after === before) return viewBatch(before);
    await tx.updateBatch(after);
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action,
      target: `batch:${batchId}`,
      outcome: "done",
      details: JSON.stringify({
        ok: after.ok,
        refused: after.refused,
        skipped: after.skipped,
        total: after.total,
      }),
    });
    return viewBatch(after);
  });
}
