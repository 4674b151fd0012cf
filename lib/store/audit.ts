/**
 * What is remembered of who did what: written with what was done, read newest first.
 */
export interface AuditRow {
  id: string;
  at: number;
  actor: string;
  /** Verb, e.g. `force-release`. */
  action: string;
  target: string;
  outcome: string;
  /** JSON. */
  details: string;
}

/** All of them must hold; texts exactly. */
export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  outcome?: string | undefined;
  /** ms: from then on, and before then. */
  from?: number | undefined;
  to?: number | undefined;
}
/** The last row of the page before, newest first. */
export type AuditCursor = Pick<AuditRow, "at" | "id">;

export interface AuditReads {
  /** Newest first, those after the cursor. By target or by time along an index; the others are looked for on the way. */
  listAudit(filter: AuditFilter, after: AuditCursor | null, limit: number): Promise<AuditRow[]>;
}
