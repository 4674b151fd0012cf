/** A lock with its queue. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { lockNotFound } from "./force-release-lock";
import { viewLockSummary, viewQueue, type LockView } from "./lock-views";
import type { RuntimeContext } from "../runtime-context";

export async function getLock(
  { store }: RuntimeContext,
  actor: Actor,
  { key }: { key: string },
): Promise<LockView> {
  requirePermission(actor, "locks:read");
  const row = await store.findLock(key);
  if (!row) throw lockNotFound(key);
  const now = await store.now();
  const queue = await store.listWaiters(key);
  return { ...viewLockSummary(row, now), queue: viewQueue(queue, row, now), now };
}
