/**
 * What is forgotten: one rule for each kind of row that is over some day, how far its walk has come, and what removes a
 * portion. Every verb touches at most `limit` rows, so that a transaction of it is short.
 */
import type { ChildRow } from "./children";
import type { LogRow, SnapshotRow } from "./instances";
import type { LockLogRow } from "./locks";

/** Rules whose rows go by their age alone. */
export const plainRules = [
  "answers",
  "lock-answers",
  "tasks",
  "dead-letters",
  "audit",
  "tombstones",
] as const;
export type PlainRule = (typeof plainRules)[number];
/** Instances by the status in which they ended. */
export const endRules = ["completed", "failed", "cancelled", "terminated"] as const;
export type EndRule = (typeof endRules)[number];
export type RuleName = PlainRule | EndRule | "deleted" | "event-log" | "lock-log" | "batches";

export interface RetentionRow {
  rule: RuleName;
  /** null: for ever. */
  keepMs: number | null;
  then: "purge" | "archive";
  updatedAt: number;
  updatedBy: string;
  /** JSON; null: no walk is under way. */
  cursor: string | null;
  walkBegan: number | null;
  walkEnded: number | null;
  /** Rows, since ever. */
  removed: number;
  /** The newest transaction of which something is missing from the feed of changes. */
  purgedTx: number;
}

export interface Portion {
  removed: number;
  /** Where to go on; null: the walk is at its end. */
  next: string | null;
}
/** The log of a deleted instance, up to a seq. */
export interface DoomedLog {
  instanceId: string;
  upToSeq: number;
  deletedAt: number;
  /** 1: whatever its age. */
  atOnce: number;
}
export interface RemovedLog {
  removed: number;
  /** Entries are left below `below`. */
  more: boolean;
  /** Of the newest entry removed. */
  purgedTx: number;
}

export interface RetentionReads {
  /** All rules, by name. */
  listRetention(): Promise<RetentionRow[]>;
  /** seq of the oldest entry that is kept; null: there is none. */
  oldestEntry(instanceId: string): Promise<number | null>;
  /** Whole entries with seq ≥ `from`, oldest first. */
  readLog(instanceId: string, from: number, limit: number): Promise<LogRow[]>;
  readSnapshots(instanceId: string): Promise<SnapshotRow[]>;
  readChildren(parentId: string): Promise<ChildRow[]>;
  /** Live instances that ended in `status` at or before `bound`, by (createdAt, id) after the cursor. */
  listEnded(
    status: EndRule,
    after: { createdAt: number; id: string } | null,
    bound: number,
    limit: number,
  ): Promise<{ id: string; seq: number; incarnation: number; createdAt: number; ended: number }[]>;
}

export interface RetentionTransaction {
  /** Held to the transaction's end; null when another has it, or, with `wait`, when there is none. */
  holdRule(rule: RuleName, options?: { wait?: boolean }): Promise<RetentionRow | null>;
  writeRule(row: RetentionRow): Promise<void>;
  /** Looks at up to `limit` rows after `after` and removes those that are over since `bound`; `dry` only counts them. */
  sweep(
    rule: PlainRule,
    after: string | null,
    options: { bound: number; limit: number; dry: boolean },
  ): Promise<Portion>;
  /**
   * Looks at some batches after `after`, by id, and removes what ended at or before `bound`: at most `limit` of their items,
   * and those of which no item is left. `dry` only counts both.
   */
  sweepBatches(after: string, options: { bound: number; limit: number; dry: boolean }): Promise<Portion>;
  /** By id: instances with entries before their newest snapshot of `bound` or before, and that snapshot's seq. */
  findCompactable(
    after: string,
    bound: number,
    limit: number,
  ): Promise<{ instanceId: string; seq: number; entries: number }[]>;
  /**
   * Removes the oldest entries below `below`, and behind the last of them the snapshots. Entries that the fleet's deltas
   * have not counted yet stay.
   */
  removeLog(instanceId: string, below: number, limit: number): Promise<RemovedLog>;
  addDoomed(rows: readonly DoomedLog[]): Promise<void>;
  /** Those to go at once, and those deleted at or before `bound` (null: none of them). */
  findDoomed(bound: number | null, limit: number): Promise<DoomedLog[]>;
  removeDoomed(row: DoomedLog): Promise<void>;
  /** Labels, dead letters and children's rows of instances that are purged. How many rows. */
  forgetInstances(instanceIds: readonly string[]): Promise<number>;
  /** By key: locks with more than one entry of `bound` or before, and the newest such seq. */
  findAgedLocks(after: string, bound: number, limit: number): Promise<{ key: string; seq: number }[]>;
  /** The oldest entries up to `upTo`. */
  readLockPrefix(key: string, upTo: number, limit: number): Promise<LockLogRow[]>;
  /** The entry takes the place of all up to its seq. */
  replaceLockPrefix(entry: LockLogRow): Promise<{ removed: number; purgedTx: number }>;
}
