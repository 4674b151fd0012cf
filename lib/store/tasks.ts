/**
 * What is remembered of tasks: one row for each invocation of an entry generation of its state.
 */
import type { ConditionName, Partitions } from "./instances";

export interface TaskRow {
  instanceId: string;
  /** `generation:invokeId`; with the instance's id before it, the idempotency key of what it does. */
  taskId: string;
  incarnation: number;
  invokeId: string;
  generation: number;
  /** The state that invoked it. */
  state: string;
  kind: string;
  /** What a worker claims it by: the invocation's src. */
  type: string;
  status: string;
  /** The type while it may be claimed, else null. */
  queue: string | null;
  /** What its instance waits for; null: it is over. */
  condition: ConditionName | null;
  /** JSON. */
  input: string;
  priority: number;
  rank: number;
  readyAt: number;
  /** Attempts begun. */
  attempt: number;
  attemptsMax: number;
  /** Counts claims and never falls. */
  fence: number;
  /** JSON: the engine's RetryPolicy. */
  retry: string;
  /** Of one attempt; null: none. */
  timeoutMs: number | null;
  attemptUntil: number | null;
  /** For all attempts together. */
  overallUntil: number | null;
  /** When the sweeper must look at it. */
  dueAt: number | null;
  worker: string | null;
  /** Of the newest claim; stays after its end, so that a repeated answer is told apart from a stranger's. */
  token: string | null;
  /** While an attempt may still be running. */
  leaseUntil: number | null;
  /** JSON. */
  progress: string | null;
  concurrencyKey: string | null;
  /** JSON: the engine's Compensation. */
  compensate: string | null;
  /** JSON: the output. */
  result: string | null;
  /** JSON: {code, message}. */
  error: string | null;
  /** 1: an attempt ended without anybody's word, and may have done it. */
  lost: number;
  createdAt: number;
  /** Of the newest attempt. */
  startedAt: number | null;
  updatedAt: number;
  endedAt: number | null;
}
/** An unfinished one, without what it carries. */
export type AwaitedTask = Pick<
  TaskRow,
  | "instanceId"
  | "taskId"
  | "incarnation"
  | "invokeId"
  | "kind"
  | "type"
  | "status"
  | "queue"
  | "readyAt"
  | "attempt"
  | "attemptsMax"
  | "worker"
  | "concurrencyKey"
  | "error"
> & { condition: ConditionName };
export type TaskKey = Pick<TaskRow, "instanceId" | "taskId">;

/** Who has the turn among those that share a concurrency key. */
export interface KeyRow {
  /** task:TYPE, or chart:ID (concurrency.ts). */
  scope: string;
  key: string;
  instanceId: string;
  taskId: string;
  since: number;
  /** 1: its holder is done, the next one is to be served. */
  free: number;
}
export const taskKeyScope = (type: string): string => `task:${type}`;

export interface SagaReads {
  /** Those that have a compensation and those that are one. */
  sagaTasks(instanceId: string, incarnation: number): Promise<TaskRow[]>;
}

export interface TaskReads extends SagaReads {
  /** An instance's tasks, newest first; rows after the cursor. */
  listTasks(
    instanceId: string,
    after: Pick<TaskRow, "createdAt" | "taskId"> | null,
    limit: number,
  ): Promise<TaskRow[]>;
  /** All that wait in a queue, longest ready first; rows after the cursor. */
  listQueue(
    queue: string,
    after: Pick<TaskRow, "readyAt" | "instanceId" | "taskId"> | null,
    limit: number,
  ): Promise<TaskRow[]>;
  findTask(key: TaskKey): Promise<TaskRow | null>;
  /** The unfinished tasks of those instances, oldest first of each; of very many some. */
  awaitedTasks(instanceIds: readonly string[]): Promise<AwaitedTask[]>;
  /** How many of each type may be claimed at `now`, counted up to `limitEach`; types without any are left out. */
  countClaimable(
    types: readonly string[],
    now: number,
    limitEach: number,
  ): Promise<{ type: string; count: number }[]>;
  /** The keys among these that somebody holds. */
  findKeys(keys: readonly Pick<KeyRow, "scope" | "key">[]): Promise<KeyRow[]>;
  /** Keys of tasks, or of charts' instances, whose holder is done. */
  findFreeKeys(of: "task" | "chart", limit: number): Promise<KeyRow[]>;
  /** Tasks at which the sweeper must look; those of children (children.ts) are not among them. */
  findDueTasks(now: number, limit: number): Promise<TaskKey[]>;
}

export interface ClaimOrder {
  /** `rank`: only ranks up to `bound`, smallest first. `ready`: only ranks above it, longest ready first. */
  by: "rank" | "ready";
  bound: number;
}

export interface TaskTransaction extends SagaReads {
  /**
   * Tasks of that type that may be claimed at `now` and whose time for all attempts is not over, held to the transaction's end; others' are skipped. `partitions`: of
   * their instances.
   */
  lockClaimable(
    type: string,
    order: ClaimOrder,
    now: number,
    limit: number,
    partitions?: Partitions,
  ): Promise<TaskRow[]>;
  /** The task of that claim, held to the transaction's end. */
  lockTaskByToken(token: string): Promise<TaskRow | null>;
  /** Those that exist, by key, held to the transaction's end. `skipBusy` leaves out the ones another transaction holds. */
  lockTasks(keys: readonly TaskKey[], options?: { skipBusy?: boolean }): Promise<TaskRow[]>;
  /** Holds the unfinished tasks of those instances: lock order, before lock rows. */
  holdTasksOf(instanceIds: readonly string[]): Promise<void>;
  /** Tasks as they are now; each one's row is held. One that is over frees its concurrency key. */
  writeTasks(rows: readonly TaskRow[]): Promise<void>;
  /** The same for those that get another input or more attempts; they join the queues of their concurrency keys again. */
  beginTasksAnew(rows: readonly TaskRow[]): Promise<void>;
  /**
   * Gives a free key to the task that has waited longest for it, or to nobody. Who begins to wait meanwhile comes after us.
   */
  serveKey(key: Pick<KeyRow, "scope" | "key">, now: number): Promise<void>;
}
