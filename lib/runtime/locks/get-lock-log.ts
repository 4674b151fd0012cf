/** A lock's history, newest first. `before` is a seq. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { pageLimit } from "../call";
import { lockNotFound } from "./force-release-lock";
import { viewLockLogEntry, type LockLogEntry } from "./lock-views";
import type { RuntimeContext } from "../runtime-context";

export async function getLockLog(
  { store }: RuntimeContext,
  actor: Actor,
  args: { key: string; before?: string | undefined; limit?: number | undefined },
): Promise<{ items: LockLogEntry[]; total: number }> {
  requirePermission(actor, "locks:read");
  if (args.before !== undefined && !/^\d{1,15}$/.test(args.before)) {
    throw new LockstepError("bad-request", `before must be a seq of the lock's log, not "${args.before}".`, {
      details: { field: "before" },
    });
  }
  const [row] = await store.findLocks([args.key]);
  if (!row) throw lockNotFound(args.key);
  const before = args.before === undefined ? null : Number(args.before);
  const rows = await store.listLockLog(args.key, before, pageLimit(args.limit));
  return { items: rows.map(viewLockLogEntry), total: row.logSeq };
}
