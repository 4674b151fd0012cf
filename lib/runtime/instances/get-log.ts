/** An instance's history, newest first; a deleted one's too. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { pageLimit } from "../call";
import { viewLogEntry, type LogEntry } from "./instance-views";
import type { RuntimeContext } from "../runtime-context";
import { instanceNotFound } from "../refusals";

export async function getLog(
  { store }: RuntimeContext,
  actor: Actor,
  args: { instanceId: string; before?: number | undefined; limit?: number | undefined },
): Promise<{ items: LogEntry[]; total: number }> {
  requirePermission(actor, "instances:read");
  const row = await store.findInstance(args.instanceId);
  if (!row) throw instanceNotFound(args.instanceId);
  const lines = await store.listLog(args.instanceId, args.before ?? null, pageLimit(args.limit));
  // seq counts from 1 without gaps (I1), so the newest one is the number of entries.
  return { items: lines.map(viewLogEntry), total: row.seq };
}
