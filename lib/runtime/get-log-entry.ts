/** One entry with its microsteps: what was tried, by which guard, with which values. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { viewLogEntryDetail, type LogEntryDetail } from "./instance-views";
import type { RuntimeContext } from "./runtime-context";

export async function getLogEntry(
  { store }: RuntimeContext,
  actor: Actor,
  args: { instanceId: string; seq: number },
): Promise<LogEntryDetail> {
  requirePermission(actor, "instances:read");
  const row = await store.findLogEntry(args.instanceId, args.seq);
  if (!row) throw entryNotFound(args.instanceId, args.seq);
  return viewLogEntryDetail(row);
}

export const entryNotFound = (instanceId: string, seq: number): LockstepError =>
  new LockstepError("not-found", `Instance ${instanceId} has no log entry with seq ${seq}.`, {
    details: { instanceId, seq },
  });
