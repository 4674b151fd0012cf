/** Locks, most-waited-for first. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import { viewLockSummary, type LockSummary } from "./lock-views";
import { requireFilter } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface ListLocksArgs extends PageArgs {
  /** Default: those held or expired, and free ones that cool or that somebody waits for; `all` adds free keys that have a history. */
  status?: "held" | "expired" | "free" | "all" | undefined;
  search?: string | undefined;
}

export async function listLocks(
  { store }: RuntimeContext,
  actor: Actor,
  { cursor, limit, ...filter }: ListLocksArgs,
): Promise<Page<LockSummary> & { held: number; waiting: number; now: number }> {
  requirePermission(actor, "locks:read");
  requireFilter(filter);
  const size = pageLimit(limit);
  const after = readCursor(cursor, { waiters: 0, key: "" });
  const now = await store.now();
  const rows = await store.listLocks(filter, after, size + 1, now);
  const page = pageOf(
    rows,
    size,
    ({ waiters, key }) => ({ waiters, key }),
    (row) => viewLockSummary(row, now),
  );
  return { ...page, ...(await store.countLocks(now)), now };
}
