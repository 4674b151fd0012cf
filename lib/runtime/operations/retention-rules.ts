/**
 * What may be forgotten, by rule, and how rules are changed.
 */
import type { EndRule, RetentionRow, RuleName } from "@/lib/store/retention";
import { LockstepError } from "@/lib/base/errors";

export interface RetentionRuleView {
  rule: RuleName;
  /** null: for ever. */
  keepMs: number | null;
  /** `archive`: written into files before it goes; of ended instances alone. */
  then: "purge" | "archive";
  updatedAt: number;
  updatedBy: string;
  /** Of the present or last walk. */
  walkBegan: number | null;
  walkEnded: number | null;
  underWay: boolean;
  /** Rows, since ever. */
  removed: number;
}

export const viewRule = (row: RetentionRow): RetentionRuleView => ({
  rule: row.rule,
  keepMs: row.keepMs,
  then: row.then,
  updatedAt: row.updatedAt,
  updatedBy: row.updatedBy,
  walkBegan: row.walkBegan,
  walkEnded: row.walkEnded,
  underWay: row.cursor !== null,
  removed: row.removed,
});

/** Instances in these statuses are over, or may be taken for it. */
const ends: ReadonlySet<string> = new Set([
  "completed",
  "failed",
  "cancelled",
  "terminated",
] satisfies EndRule[]);
export const isEndRule = (rule: RuleName): rule is EndRule => ends.has(rule);

/** How long an answer must be kept at least: whoever repeats a call does so within it (I4). */
export const answersKeptMinMs = 3_600_000;

/** A walk's place, and whose portion is under way: kept as the rule's cursor. */
export interface WalkCursor {
  /** null: at the walk's beginning. */
  place: string | null;
  /** The worker whose archive is being written, and until when no other begins. */
  by?: string;
  until?: number;
}
export const readWalk = (row: RetentionRow): WalkCursor | null =>
  row.cursor === null ? null : (JSON.parse(row.cursor) as WalkCursor);

/** Between two walks: a twentieth of what is kept, so that nothing stays much longer than its time. */
const walkEveryMaxMs = 600_000;
export function isDue(row: RetentionRow, now: number): boolean {
  if (row.keepMs === null && row.rule !== "deleted") return row.cursor !== null;
  if (row.cursor !== null || row.walkEnded === null) return true;
  const keepMs = row.keepMs ?? walkEveryMaxMs;
  return row.walkEnded + Math.min(walkEveryMaxMs, Math.max(1_000, keepMs / 20)) <= now;
}

export const noRule = (rule: string): LockstepError =>
  new LockstepError("not-found", `There is no retention rule ${rule}.`, { details: { rule } });
