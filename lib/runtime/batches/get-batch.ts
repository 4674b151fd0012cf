/** One batch: how far it is. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { viewBatch, type BatchView } from "./batch-views";
import type { RuntimeContext } from "../runtime-context";

/** Throws `not-found`. */
export async function getBatch(
  { store }: RuntimeContext,
  actor: Actor,
  { batchId }: { batchId: string },
): Promise<BatchView> {
  requirePermission(actor, "instances:read");
  const row = await store.findBatch(batchId);
  if (!row) throw batchNotFound(batchId);
  return viewBatch(row);
}

export const batchNotFound = (batchId: string): LockstepError =>
  new LockstepError("not-found", `There is no batch ${batchId}.`, { details: { batchId } });
