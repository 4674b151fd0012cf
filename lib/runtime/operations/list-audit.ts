/** Who did what to what, why, and what came of it, newest first. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
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
  const size = pageLimit(limit);
  const rows = await store.listAudit(filter, readCursor(cursor, { at: 0, id: "" }), size + 1);
  return pageOf(
    rows,
    size,
    ({ at, id }) => ({ at, id }),
    (row) => ({ ...row, details: JSON.parse(row.details) as Json }),
  );
}
