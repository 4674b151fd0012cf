/** An instance as it is now. Reading never arms a timer. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { InstanceRow } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import { waitsOf } from "./conditions";
import { viewInstance, type InstanceView } from "./instance-views";
import type { RuntimeContext } from "../runtime-context";
import { instanceNotFound } from "../refusals";

export async function getInstance(
  { store }: RuntimeContext,
  actor: Actor,
  { instanceId }: { instanceId: string },
): Promise<InstanceView> {
  requirePermission(actor, "instances:read");
  const row = await findLiveInstance(store, instanceId);
  const labels = await store.labelsOf([instanceId]);
  return viewInstance(row, labels, await store.countMailbox(instanceId), await waitsOf(store, [row]));
}

/** Throws `not-found` for a deleted one too. */
export async function findLiveInstance(store: Store, instanceId: string): Promise<InstanceRow> {
  const row = await store.findInstance(instanceId);
  if (!row || row.deletedAt !== null) throw instanceNotFound(instanceId);
  return row;
}
