/** Who did what to what, why, and what came of it, newest first. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { AuditFilter, AuditRow } from "@/lib/store/audit";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import { requireFilter } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface AuditEntryView extends Omit<AuditRow, "details"> {
  /** What the verb was told, its reason among it. */
  details: Json;
}

/** Throws `bad-request`. */
export async function listAudit(
  { store }: RuntimeContext,
  actor: Actor,
  { cursor, limit, ...filter }: PageArgs & AuditFilter,
): Promise<Page<AuditEntryView>> {
  requirePermission(actor, "system:read");
  requireFilter(filter);
  requireOrder(filter);
  const size = pageLimit(limit);
  const rows = await store.listAudit(filter, readCursor(cursor, { at: 0, id: "" }), size + 1);
  return pageOf(
    rows,
    size,
    ({ at, id }) => ({ at, id }),
    (row) => ({ ...row, details: JSON.parse(row.details) as Json }),
  );
}

/** An empty page would read as "nothing happened then". */
function requireOrder({ from, to }: AuditFilter): void {
  if (from === undefined || to === undefined || from < to) return;
  throw new LockstepError(
    "bad-request",
    `to (${timeWords(to)}, itself not within) must be later than from (${timeWords(from)}): no entry lies between.`,
    { details: { field: "to", from, to } },
  );
}

/** Dates end before whole numbers do. */
const timeWords = (at: number): string => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at));
