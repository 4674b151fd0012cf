/**
 * Tasks as the runtime shows them: to who works on them, and to who looks on.
 */
import type { Json } from "@/lib/base/json";
import { taskKeyScope, type KeyRow, type TaskRow } from "@/lib/store/tasks";
import { taskIdempotencyKey, type TaskError, type TaskKind, type TaskStatus } from "./task-rules";

/** What a worker gets with its claim. */
export interface ClaimedTask {
  /** Proves the claim: every later call for the task names it. */
  token: string;
  type: string;
  input: Json;
  instanceId: string;
  taskId: string;
  invokeId: string;
  /** Stable over attempts. */
  idempotencyKey: string;
  /** Rises with every claim of the task. */
  fence: number;
  /** From 1. */
  attempt: number;
  attemptsMax: number;
  /** What the last heartbeat with progress left, of an earlier attempt too. */
  progress: Json;
  leaseUntil: number;
  /** From the claim until then: a worker needs no clock in common with the server. */
  leaseMs: number;
  /** When this attempt's time is over; null: it has no limit. */
  attemptUntil: number | null;
}

/** Why a pending task is not being worked on. */
export type TaskWait =
  | { for: "worker" }
  /** The pause after a failed attempt. */
  | { for: "time"; until: number }
  /** Another task has the turn. */
  | { for: "key"; key: string; instanceId: string; taskId: string }
  /** Its src is only the name of what is still to be written. */
  | { for: "author" }
  | { for: "person" };

export interface TaskView {
  instanceId: string;
  taskId: string;
  invokeId: string;
  generation: number;
  state: string;
  kind: TaskKind;
  type: string;
  status: TaskStatus;
  input: Json;
  priority: number;
  attempt: number;
  attemptsMax: number;
  /** Pending: not claimed before. */
  readyAt: number;
  /** Null unless pending. */
  waits: TaskWait | null;
  worker: string | null;
  leaseUntil: number | null;
  attemptUntil: number | null;
  /** When the time for all attempts is over: an answer then comes too late. */
  dueAt: number | null;
  progress: Json;
  concurrencyKey: string | null;
  result: Json;
  /** Of the last attempt that failed, of the task when it failed for good. */
  error: TaskError | null;
  createdAt: number;
  startedAt: number | null;
  updatedAt: number;
  endedAt: number | null;
}

export const viewClaimedTask = (row: TaskRow): ClaimedTask => ({
  token: row.token ?? "",
  type: row.type,
  input: JSON.parse(row.input) as Json,
  instanceId: row.instanceId,
  taskId: row.taskId,
  invokeId: row.invokeId,
  idempotencyKey: taskIdempotencyKey(row),
  fence: row.fence,
  attempt: row.attempt,
  attemptsMax: row.attemptsMax,
  progress: parse(row.progress),
  leaseUntil: row.leaseUntil ?? 0,
  leaseMs: (row.leaseUntil ?? 0) - row.updatedAt,
  attemptUntil: row.attemptUntil,
});

export const viewTask = (row: TaskRow, keys: readonly KeyRow[], now: number): TaskView => ({
  instanceId: row.instanceId,
  taskId: row.taskId,
  invokeId: row.invokeId,
  generation: row.generation,
  state: row.state,
  kind: row.kind as TaskKind,
  type: row.type,
  status: row.status as TaskStatus,
  input: JSON.parse(row.input) as Json,
  priority: row.priority,
  attempt: row.attempt,
  attemptsMax: row.attemptsMax,
  readyAt: row.readyAt,
  waits: row.status === "pending" ? waitOf(row, keys, now) : null,
  worker: row.worker,
  leaseUntil: row.leaseUntil,
  attemptUntil: row.attemptUntil,
  dueAt: row.overallUntil,
  progress: parse(row.progress),
  concurrencyKey: row.concurrencyKey,
  result: parse(row.result),
  error: row.error === null ? null : (JSON.parse(row.error) as TaskError),
  createdAt: row.createdAt,
  startedAt: row.startedAt,
  updatedAt: row.updatedAt,
  endedAt: row.endedAt,
});

function waitOf(row: TaskRow, keys: readonly KeyRow[], now: number): TaskWait {
  if (row.kind === "placeholder") return { for: "author" };
  if (row.kind === "human") return { for: "person" };
  if (row.queue === null) {
    const holder = keys.find(
      ({ scope, key }) => scope === taskKeyScope(row.type) && key === row.concurrencyKey,
    );
    if (holder) {
      const { key, instanceId, taskId } = holder;
      return { for: "key", key, instanceId, taskId };
    }
  }
  return row.readyAt > now ? { for: "time", until: row.readyAt } : { for: "worker" };
}

const parse = (text: string | null): Json => (text === null ? null : (JSON.parse(text) as Json));
