/** One entry with its microsteps: what was tried, by which guard, with which values. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import { viewLogEntryDetail, type LogEntryDetail } from "./instance-views";
import type { RuntimeContext } from "../runtime-context";

export async function getLogEntry(
  { store }: RuntimeContext,
  actor: Actor,
  args: { instanceId: string; seq: number },
): Promise<LogEntryDetail> {
  requirePermission(actor, "instances:read");
  const row = await store.findLogEntry(args.instanceId, args.seq);
  if (!row) throw await entryNotFound(store, args.instanceId, args.seq);
  return viewLogEntryDetail(row);
}

/** It never was, or retention has removed it. */
export async function entryNotFound(
  store: Pick<Store, "oldestEntry">,
  instanceId: string,
  seq: number,
): Promise<LockstepError> {
  const oldest = await store.oldestEntry(instanceId);
  const isForgotten = seq >= 1 && oldest !== null && seq < oldest;
  const why = isForgotten
    ? `Instance ${instanceId}'s log is kept from seq ${oldest} on; seq ${seq} was removed by the retention rule event-log.`
    : `Instance ${instanceId} has no log entry with seq ${seq}${seq < 1 ? ": the first one has seq 1" : ""}.`;
  return new LockstepError("not-found", why, {
    details: { instanceId, seq, ...(isForgotten ? { oldest } : {}) },
  });
}
