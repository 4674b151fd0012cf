/**
 * What is remembered of instances: their present state, their history, what waits for them.
 */
export interface InstanceRow {
  id: string;
  /** Counts re-creations under the same id, from 1. */
  incarnation: number;
  status: string;
  chartId: string;
  version: number;
  semantics: number;
  seq: number;
  at: number;
  priority: number;
  rank: number;
  businessKey: string | null;
  partition: number;
  /** JSON: names of the active atomic states. */
  configuration: string;
  /** JSON: the engine's snapshot. */
  snapshot: string;
  stateHash: string;
  /** seq of the newest stored snapshot, 0 when none. */
  snapshotSeq: number;
  /** Bytes of log since that snapshot. */
  logBytes: number;
  lastEvent: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  createdAt: number;
  updatedAt: number;
  endedAt: number | null;
  /** A tombstone when set. */
  deletedAt: number | null;
  /** JSON: the session that is, or was, open; null: none. */
  session: string | null;
  /** JSON: the invocation that it is (ParentRef); null: nobody's. */
  parent: string | null;
  /** Of its chart's instances with the same one, one is under way at a time. */
  concurrencyKey: string | null;
}

export interface LabelRow {
  instanceId: string;
  key: string;
  value: string;
}

/** What the context has in a field that its chart declares by settings.index. */
export interface FieldRow {
  instanceId: string;
  /** A location, as the chart writes it. */
  field: string;
  chartId: string;
  value: string;
}

export interface LogRow {
  instanceId: string;
  seq: number;
  incarnation: number;
  kind: string;
  type: string;
  /** JSON: what the engine was given. */
  input: string;
  at: number;
  actor: string;
  /** Id of the message or instance that caused it. */
  cause: string | null;
  messageId: string | null;
  dedupeKey: string | null;
  outcome: string;
  reason: string | null;
  /** The instance's status after it. */
  status: string;
  chartId: string;
  version: number;
  semantics: number;
  /** JSON lists of state names. */
  exited: string;
  entered: string;
  /** JSON list of [path, value] or, when removed, [path]. */
  patch: string;
  stateHash: string;
  /** JSON list of microsteps. */
  trace: string;
  /** JSON list of {label?, value}. */
  logs: string;
  errorCode: string | null;
  errorMessage: string | null;
}
export type LogLine = Omit<LogRow, "input" | "patch" | "trace" | "logs">;
/** What replay needs. */
export type LogInput = Pick<
  LogRow,
  | "seq"
  | "incarnation"
  | "kind"
  | "type"
  | "input"
  | "at"
  | "chartId"
  | "version"
  | "semantics"
  | "stateHash"
  | "status"
>;

export interface SnapshotRow {
  instanceId: string;
  seq: number;
  incarnation: number;
  at: number;
  version: number;
  text: string;
  hash: string;
}

export interface MessageRow {
  instanceId: string;
  incarnation: number;
  messageId: string;
  type: string;
  /** JSON: what the engine will be given. */
  input: string;
  actor: string;
  cause: string | null;
  enqueuedAt: number;
  dedupeScope: string | null;
  dedupeKey: string | null;
  expectedSeq: number | null;
  /** JSON: [{key, session, fence}]. */
  fences: string | null;
}
/** A message in the mailbox, with its place. */
export interface QueuedMessage extends MessageRow {
  enqueuedTx: number;
  enqueuedN: number;
}

export interface DeadLetterRow {
  instanceId: string;
  messageId: string;
  incarnation: number;
  type: string;
  input: string;
  actor: string;
  cause: string | null;
  enqueuedAt: number;
  at: number;
  reason: string;
  /** The message that it was sent again as. */
  retriedAs: string | null;
}
/** The last row of the page before, newest first. */
export interface DeadLetterCursor {
  at: number;
  instanceId: string;
  messageId: string;
}

export interface DedupeRow {
  scope: string;
  key: string;
  /** SHA-256 of the call's arguments. */
  digest: string;
  messageId: string | null;
  /** JSON; null while the message waits. */
  result: string | null;
  at: number;
}

export interface TimerRow {
  instanceId: string;
  timerId: string;
  incarnation: number;
  dueAt: number;
  kind: string;
  state: string | null;
  label: string;
  /** Its instance's. */
  priority: number;
}

/** The most urgent; 0 is the least. */
export const priorityMax = 4;
/** A minute's wait counts as one priority tier. */
export const rankPerTierMs = 60_000;

/** Both included; of 0 to 63. */
export interface Partitions {
  from: number;
  to: number;
}

/** What an instance waits for while a task of it is unfinished. `task`: a worker. `breaker`: it is not tried while one is open. */
export type ConditionName = "task" | "human" | "child" | "lock" | "breaker";

export interface InstanceFilter {
  chartId?: string | undefined;
  status?: string | undefined;
  /** Name of an active atomic state. */
  state?: string | undefined;
  idPrefix?: string | undefined;
  businessKey?: string | undefined;
  /** Children of that instance's invocations. */
  parent?: string | undefined;
  /** All of them. */
  labels?: readonly Pick<LabelRow, "key" | "value">[] | undefined;
  /** What they wait for. */
  condition?: ConditionName | "key" | undefined;
  /** All of them. */
  fields?: readonly Pick<FieldRow, "chartId" | "field" | "value">[] | undefined;
}
export interface Runnable {
  id: string;
  /** When it began to wait, less a minute for each priority. */
  rank: number;
  /** When it was last stepped, ms. */
  servedAt: number;
}
/** The last row of the page before, newest first. */
export interface InstanceCursor {
  createdAt: number;
  id: string;
}

export interface InstanceReads {
  /** The row, tombstones included; null when the id was never used. */
  findInstance(instanceId: string): Promise<InstanceRow | null>;
  /** Live instances, newest first, without snapshots. Every filter is applied by an index or a row, never by JSON. */
  listInstances(
    filter: InstanceFilter,
    after: InstanceCursor | null,
    limit: number,
  ): Promise<Omit<InstanceRow, "snapshot">[]>;
  labelsOf(instanceIds: readonly string[]): Promise<LabelRow[]>;
  /** Of the present incarnation. */
  countMailbox(instanceId: string): Promise<number>;
  /** Entries with seq below `before` (null: all), newest first. */
  listLog(instanceId: string, before: number | null, limit: number): Promise<LogLine[]>;
  findLogEntry(instanceId: string, seq: number): Promise<LogRow | null>;
  /** Entries after `from` up to and including `to`, oldest first, at most `limit`. */
  logInputs(instanceId: string, from: number, to: number, limit: number): Promise<LogInput[]>;
  /** seq of the last entry not later than `at`; 0 when there is none. */
  seqAt(instanceId: string, at: number): Promise<number>;
  /** The newest stored snapshot with seq ≤ `seq`. */
  snapshotBefore(instanceId: string, seq: number): Promise<SnapshotRow | null>;
  findEntryOfMessage(instanceId: string, messageId: string): Promise<LogLine | null>;
  findQueued(instanceId: string, messageId: string): Promise<QueuedMessage | null>;
  findDeadLetter(instanceId: string, messageId: string): Promise<DeadLetterRow | null>;
  /** Of one instance, or of all (null), newest first. */
  listDeadLetters(
    instanceId: string | null,
    after: DeadLetterCursor | null,
    limit: number,
  ): Promise<DeadLetterRow[]>;
  /**
   * Instances that have a message waiting or a timer due at `now`: those that wait longest (priority counted, and for timers
   * also not counted), and some of all others with messages in the order of their ids from after `after` on, so that calls that hand on `next` come round to each.
   * Derived from committed rows alone, so no wake-up can be lost; at most a few hundred, whatever waits. `partitions`: of
   * those alone.
   */
  findRunnable(
    now: number,
    after: string,
    partitions?: Partitions,
  ): Promise<{ found: Runnable[]; next: string }>;
}
