/**
 * What is remembered, as an interface: the runtime decides what one transaction holds, the store runs it.
 *
 * Holds: what a call outside a transaction reads is committed; what a transaction wrote is visible after it resolved and
 *        never before. Every implementation passes the one contract suite (sql/store-contract.test.ts).
 */
import type { AuditReads, AuditRow } from "./audit";
import type { BatchReads, BatchTransaction } from "./batches";
import type { ChartReads, ChartWrites } from "./charts";
import type { ChildReads, ChildTransaction } from "./children";
import type { ConcurrencyReads, ConcurrencyTransaction } from "./concurrency";
import type { FleetReads, FleetTransaction } from "./fleet";
import type { InstanceReads } from "./instances";
import type { LockReads, LockTransaction } from "./locks";
import type { RetentionReads, RetentionTransaction } from "./retention";
import type { ScheduleReads, ScheduleTransaction } from "./schedules";
import type { OptimisticSteps, StepTransaction } from "./steps";
import type { TaskReads, TaskTransaction } from "./tasks";
import type { WorkerOrderReads, WorkerOrderTransaction } from "./worker-orders";
import type { WorkerReads, WorkerTransaction } from "./workers";
import type { WorkReads } from "./work";

export interface Store
  extends
    ChartReads,
    InstanceReads,
    LockReads,
    TaskReads,
    ConcurrencyReads,
    ChildReads,
    WorkerOrderReads,
    RetentionReads,
    FleetReads,
    WorkerReads,
    WorkReads,
    ScheduleReads,
    BatchReads,
    AuditReads {
  readonly database: "sqlite" | "postgresql";
  /**
   * Commits all of `work` or nothing (I2, I9). It may run more than once: everything it does must go through `tx`, and
   * what it returns is the last run's. Never call the store itself inside it.
   */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  readonly optimistic: OptimisticSteps;
  /** The database's clock, ms since the epoch, for showing and for choosing candidates: it decides nothing (I10). */
  now(): Promise<number>;
  /** The first time after `after` at which something is due by itself: a timer, a task, a lease, a schedule. */
  nextDue(after: number): Promise<number | null>;
  /**
   * Committed changes after `position`, in an order in which nothing committed later is ever inserted before. Null: none,
   * and a position from which to follow: nothing committed from now on is missed, a change just before may come again.
   * `resync`: the position is none of this store's.
   */
  changesSince(position: string | null, limit: number): Promise<StoredChanges>;
  /**
   * Calls `listener` after each transaction of this process that wrote; and, on PostgreSQL, when another process says that
   * it left work. A hint: that one may be lost.
   */
  onCommit(listener: CommitListener): () => void;
  /** Null when all is well, else what isn't, in one sentence. Writes only when nothing was written lately. */
  trouble(): Promise<string | null>;
  /** How often this process has run a transaction again because others were in its way: deadlocks, serialisation failures. */
  repeatedTransactions(): number;
  /** Null, or what was said to a write that was refused for want of room in the last 15 s: smaller ones may succeed. */
  refusedForRoom(): string | null;
  close(): Promise<void>;
}

/** `where` the commit was. */
export type CommitListener = (where: "here" | "elsewhere") => void;

export interface StoreTransaction
  extends
    ChartWrites,
    StepTransaction,
    LockTransaction,
    TaskTransaction,
    ConcurrencyTransaction,
    ChildTransaction,
    WorkerOrderTransaction,
    RetentionTransaction,
    FleetTransaction,
    WorkerTransaction,
    ScheduleTransaction,
    BatchTransaction {
  /**
   * The time that decides (I10), read now: call it after the row lock it is to follow. PostgreSQL: the server's clock.
   * SQLite: the machine's, inside the write lock, never below an earlier reading.
   */
  now(): Promise<number>;
  /** Changes nothing, and fails as a write does where none may be made. */
  beginWriting(): Promise<void>;
  /** Who did what, kept with what was done. */
  writeAudit(entry: AuditRow): Promise<void>;
}

export type StoredChange =
  | { kind: "instance"; id: string; seq: number; status: string; position: string }
  | { kind: "lock"; key: string; fence: number; position: string }
  | { kind: "chart"; id: string; revision: number; position: string };
export interface StoredChanges {
  changes: StoredChange[];
  position: string;
  resync: boolean;
}
