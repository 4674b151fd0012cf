/**
 * The hot path: claim instances, read what waits for them, write all that their steps caused. Every call takes a batch
 * and costs a fixed number of statements, however many instances are in it.
 */
import { LockstepError } from "@/lib/base/errors";
import type {
  DeadLetterRow,
  DedupeRow,
  FieldRow,
  InstanceRow,
  LabelRow,
  LogRow,
  MessageRow,
  QueuedMessage,
  SnapshotRow,
  TimerRow,
} from "./instances";
import type { ChildWrites } from "./children";
import type { TaskRow } from "./tasks";

export const instanceExists = (id: string): LockstepError =>
  new LockstepError(
    "instance-exists",
    `There is an instance ${id} already. Choose another id, or send to that one.`,
    {
      details: { instanceId: id },
    },
  );

/** All that a batch of steps changes. */
export interface StepWrites extends ChildWrites {
  /** New instances, and tombstones re-created. */
  created: InstanceRow[];
  labels: LabelRow[];
  /** Fields that have another value now, or one for the first time. */
  fieldsSet: FieldRow[];
  /** Fields that have none any more. */
  fieldsCleared: Pick<FieldRow, "instanceId" | "field">[];
  /** Instances of another version: all their fields go before `fieldsSet`. */
  fieldsReplaced: string[];
  /** Existing instances after steps that changed what steps change: state and place in the log (steppedColumns). */
  stepped: InstanceRow[];
  /** Existing instances whose steps changed their status too (statusColumns). */
  restated: InstanceRow[];
  /** Existing instances of which anything else changed: version, session, incarnation. */
  changed: InstanceRow[];
  /** Instances whose configuration changed: active states they have no more, and those they have now. */
  configurations: ({ instanceId: string } & StatesMoved)[];
  log: LogRow[];
  snapshots: SnapshotRow[];
  /** Joins the end of each mailbox in this order. */
  enqueued: MessageRow[];
  consumed: Pick<QueuedMessage, "instanceId" | "enqueuedTx" | "enqueuedN">[];
  deadLetters: DeadLetterRow[];
  /** New answers; a taken (scope, key) is an error. */
  dedupe: DedupeRow[];
  /** Answers of calls that were claimed, or whose message had waited. */
  answered: Pick<DedupeRow, "scope" | "key" | "result" | "at">[];
  armed: TimerRow[];
  cancelled: Pick<TimerRow, "instanceId" | "timerId">[];
  /** One with a concurrency key that another task holds waits for it: its `queue` is not stored. */
  tasksBegun: TaskRow[];
  /** Instances that give up their concurrency key, or their place in its line. */
  keysLeft: string[];
  /** Those that are unfinished still. */
  tasksCancelled: (Pick<TaskRow, "instanceId" | "taskId"> & { at: number })[];
  /** Instances that ended: what is left in their mailbox becomes dead letters, their timers go, their tasks are cancelled. */
  ended: { instanceId: string; at: number; reason: string }[];
  /** Instances that were deleted: their mailbox, timers, tasks and fields go, their children are orphans. */
  emptied: string[];
  /** Instances that take nothing now: what waits for them is no work until they are in `unparked`. */
  parked: string[];
  unparked: string[];
}

/** Two lists without a common member. */
export interface StatesMoved {
  left: string[];
  entered: string[];
}

/** What an ordinary step changes of its instance. */
export const steppedColumns = [
  "seq",
  "at",
  "rank",
  "configuration",
  "snapshot",
  "stateHash",
  "snapshotSeq",
  "logBytes",
  "lastEvent",
  "updatedAt",
] as const satisfies readonly (keyof InstanceRow)[];

/** What one that ends, fails or is cancelled changes. */
export const statusColumns = [
  ...steppedColumns,
  "status",
  "errorCode",
  "errorMessage",
  "endedAt",
] as const satisfies readonly (keyof InstanceRow)[];

export const noWrites = (): StepWrites => ({
  created: [],
  labels: [],
  fieldsSet: [],
  fieldsCleared: [],
  fieldsReplaced: [],
  stepped: [],
  restated: [],
  changed: [],
  configurations: [],
  log: [],
  snapshots: [],
  enqueued: [],
  consumed: [],
  deadLetters: [],
  dedupe: [],
  answered: [],
  armed: [],
  cancelled: [],
  tasksBegun: [],
  keysLeft: [],
  tasksCancelled: [],
  childrenBegun: [],
  childrenEnded: [],
  childrenLeft: [],
  ended: [],
  emptied: [],
  parked: [],
  unparked: [],
});

/** An instance as a step needs it, read without a lock. */
export interface FoundForStep {
  row: InstanceRow;
  /** The database's time of reading, ms. */
  now: number;
  /** Messages lie in its mailbox. */
  waiting: boolean;
}
export interface OptimisticStep {
  /** After the step; its `seq` is one more than what was read. */
  row: InstanceRow;
  log: LogRow;
  /** Null when the configuration is the old one. */
  moved: StatesMoved | null;
  /** Its status is another than what was read. */
  restated: boolean;
}
/** The optimistic form of a step: read, or remembered, then written unless it was overtaken. */
export interface OptimisticSteps {
  /** Null where a batch is as short a way for an instance that is not remembered. */
  readonly find: ((instanceId: string) => Promise<FoundForStep | null>) | null;
  /**
   * Steps of as many instances. `written`: the ids of those that were; of any other nothing has changed: another step, a
   * message or an end came between, another has the row, or the step's time is not the database's. `now`: the database's
   * time of writing, ms. `lagMaxMs`: how far a step's `row.at` may lie behind that, never ahead of it; null: unchecked.
   */
  write(
    steps: readonly OptimisticStep[],
    lagMaxMs: number | null,
  ): Promise<{ now: number; written: readonly string[] }>;
}

export interface StepTransaction {
  /**
   * The rows of those ids that exist, tombstones included, by id, locked to the transaction's end: until then this
   * transaction alone steps them (I1). `skipBusy` leaves out the ones that another transaction holds; else it waits.
   */
  lockInstances(instanceIds: readonly string[], options?: { skipBusy?: boolean }): Promise<InstanceRow[]>;
  /**
   * The same with skipBusy, in no order. Of an instance that is as in `known`, by id, that very row is given: it does not travel.
   */
  lockKnown(instanceIds: readonly string[], known: ReadonlyMap<string, InstanceRow>): Promise<InstanceRow[]>;
  /**
   * Of those ids, in their order, the first `limit` that no other transaction holds and that have a message, or at `now` a timer
   * due; their rows are locked as by lockInstances. So workers that found the same instances share them out.
   */
  claimInstances(instanceIds: readonly string[], now: number, limit: number): Promise<string[]>;
  /** Messages waiting for them, per instance in mailbox order, at most `limitEach`. Call it after lockInstances. */
  readMailboxes(instanceIds: readonly string[], limitEach: number): Promise<QueuedMessage[]>;
  /** The same, with the time that decides (I10). */
  readWaiting(
    instanceIds: readonly string[],
    limitEach: number,
  ): Promise<{ now: number; messages: QueuedMessage[] }>;
  /** The stored answers among these (scope, key) pairs. Call it after the row lock that guards the scope. */
  findAnswers(keys: readonly Pick<DedupeRow, "scope" | "key">[]): Promise<DedupeRow[]>;
  /** Which of these ids name a live, running instance. Takes no lock. */
  incarnationsOf(
    instanceIds: readonly string[],
  ): Promise<Pick<InstanceRow, "id" | "incarnation" | "status" | "deletedAt">[]>;
  /**
   * Claims (scope, key) for a call that has no row to lock yet. Null: it is ours, and `row` is stored; else the row that
   * was there first (a call with the same key under way is waited for).
   */
  claimAnswer(row: DedupeRow): Promise<DedupeRow | null>;
  /**
   * Marks a dead letter as sent again. Null: done; else the message that it was sent as before (a call under way is waited
   * for).
   */
  retireDeadLetter(instanceId: string, messageId: string, retriedAs: string): Promise<string | null>;
  /**
   * Writes it all (I2). A created id that is live already: `instance-exists`. A taken (instance, seq) is an error. Log
   * entries appear in the feed of changes.
   */
  writeSteps(writes: StepWrites): Promise<void>;
}
