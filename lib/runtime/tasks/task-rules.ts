/**
 * What may happen to a task, as pure functions from row to row: time, token and chance come in.
 *
 *   pending → running (claimed) → succeeded | failed | cancelled, or back to pending for another attempt
 *
 * Holds: I3 only the newest claim's token, within its lease, changes a task: `standing` decides it. A lease never outlives
 *        its attempt's time nor that of all attempts, so that an expired lease is the one thing to watch for. The time of all
 *        attempts begins with the task, so that what nobody takes runs out too.
 */
import { must } from "@/lib/base/assert";
import type { Json } from "@/lib/base/json";
import type { Effect, RetryPolicy } from "@/lib/statechart/effect";
import { rankPerTierMs, type ConditionName, type InstanceRow } from "@/lib/store/instances";
import type { TaskRow } from "@/lib/store/tasks";
import { taskAttemptsMax, taskDelayMaxMs, taskDelayMs, taskLeaseMs } from "../limits";

/** What is carried out by Lockstep itself; every other src is the name of somebody's code. */
const ownKinds = ["http", "human", "chart", "each", "lock"] as const;
export type TaskKind = (typeof ownKinds)[number] | "named" | "placeholder" | "compensation";
export type TaskStatus = "pending" | "running" | "succeeded" | "failed" | "cancelled";

export interface TaskError {
  code: string;
  message: string;
  data?: Json;
}

/** Carried out by instances: nobody claims them, workers/settle-children begins them when they are due. */
export const isChildKind = (kind: string): boolean => kind === "chart" || kind === "each";

/** Begun by this very server when they are due, without a claim: children and locks. */
const isSettled = (kind: string): boolean => isChildKind(kind) || kind === "lock";

export const isOwnType = (type: string): boolean => (ownKinds as readonly string[]).includes(type);

export const taskIdOf = (generation: number, invokeId: string): string => `${generation}:${invokeId}`;

/** How the log names it, within one life of its instance. */
export const taskName = ({ instanceId, taskId }: Pick<TaskRow, "instanceId" | "taskId">): string =>
  `${instanceId}:${taskId}`;

/**
 * Stable over attempts: what a worker hands on to whoever must not do it twice. `ID:generation:invocation`; generations begin
 * anew with an id that was deleted and is used again, so its later lives are told apart: `ID#2:…` (no id has a `#`).
 */
export const taskIdempotencyKey = ({
  instanceId,
  incarnation,
  taskId,
}: Pick<TaskRow, "instanceId" | "incarnation" | "taskId">): string =>
  `${instanceId}${incarnation === 1 ? "" : `#${incarnation}`}:${taskId}`;

export function newTask(
  instance: Pick<InstanceRow, "id" | "incarnation" | "priority">,
  effect: Extract<Effect, { type: "invoke.start" }>,
  at: number,
): TaskRow {
  const kind: TaskKind = effect.placeholder
    ? "placeholder"
    : (ownKinds.find((own) => own === effect.src) ?? "named");
  const isClaimable = kind !== "placeholder" && kind !== "human" && !isSettled(kind);
  // A person has one attempt, and its time begins now too.
  const ends = [
    overallOf(effect.retry ?? {}, at),
    kind === "human" && effect.timeoutMs !== undefined ? at + effect.timeoutMs : null,
  ];
  const overallUntil = earliestOf(ends);
  return {
    instanceId: instance.id,
    taskId: taskIdOf(effect.generation, effect.id),
    incarnation: instance.incarnation,
    invokeId: effect.id,
    generation: effect.generation,
    state: effect.state,
    kind,
    type: effect.src,
    status: "pending",
    // People's are listed by it too.
    queue: isClaimable || kind === "human" ? effect.src : null,
    condition: conditionOf(kind),
    input: JSON.stringify(effect.input),
    priority: instance.priority,
    rank: at - instance.priority * rankPerTierMs,
    readyAt: at,
    attempt: 0,
    attemptsMax: attemptsMaxOf(effect.retry ?? {}),
    fence: 0,
    retry: JSON.stringify(effect.retry ?? {}),
    timeoutMs: effect.timeoutMs ?? null,
    attemptUntil: null,
    overallUntil,
    dueAt: isSettled(kind) ? at : overallUntil,
    worker: null,
    token: null,
    leaseUntil: null,
    progress: null,
    // What nobody claims would hold its key for ever.
    concurrencyKey: isClaimable ? (effect.concurrencyKey ?? null) : null,
    compensate: effect.compensate === undefined ? null : JSON.stringify(effect.compensate),
    result: null,
    error: null,
    lost: 0,
    createdAt: at,
    startedAt: null,
    updatedAt: at,
    endedAt: null,
  };
}

/** What an instance waits for whose unfinished task it is. */
const conditionOf = (kind: string): ConditionName =>
  isChildKind(kind) ? "child" : kind === "human" || kind === "lock" ? kind : "task";

export function claimed(task: TaskRow, worker: string, token: string, now: number): TaskRow {
  // One that an older version made has none yet.
  const overallUntil = task.overallUntil ?? overallOf(retryOf(task), now);
  const attemptUntil = task.timeoutMs === null ? null : now + task.timeoutMs;
  return withLease(
    {
      ...task,
      status: "running",
      queue: null,
      condition: conditionOf(task.kind),
      attempt: task.attempt + 1,
      fence: task.fence + 1,
      attemptUntil,
      overallUntil,
      worker,
      token,
      startedAt: now,
      updatedAt: now,
    },
    now,
  );
}

/** As the claim left it, with a lease counted from now. */
export function withLease(task: TaskRow, now: number): TaskRow {
  const leaseUntil = earliestOf([now + taskLeaseMs, task.attemptUntil, task.overallUntil]);
  return { ...task, leaseUntil, dueAt: leaseUntil, updatedAt: now };
}

/**
 * Where a claim stands: `running` may be written; `cancelled`: the same, for a task that its instance no longer waits for;
 * `answered`: this very claim has ended it, or its attempt; `lost`: the claim counts no more.
 */
export function standing(task: TaskRow, now: number): "running" | "cancelled" | "answered" | "lost" {
  if (task.leaseUntil === null) return task.status === "running" ? "lost" : "answered";
  if (task.leaseUntil <= now) return "lost";
  return task.status === "cancelled" ? "cancelled" : "running";
}

export function succeeded(task: TaskRow, output: Json, now: number): TaskRow {
  return ended({ ...task, status: "succeeded", result: JSON.stringify(output) }, now);
}

/** A late answer: kept, moves nothing. */
export function answeredLate(
  task: TaskRow,
  answer: { output?: Json; error?: TaskError },
  now: number,
): TaskRow {
  return {
    ...task,
    result: answer.output === undefined ? null : JSON.stringify(answer.output),
    error: answer.error === undefined ? null : JSON.stringify(answer.error),
    dueAt: null,
    leaseUntil: null,
    updatedAt: now,
  };
}

/** Its worker has said what became of the attempt: it is under way no more. */
export const withoutAttempt = (task: TaskRow): TaskRow => ({ ...task, attemptUntil: null });

/** An attempt failed: another one later, or the end. `chance` in [0, 1) is the backoff's jitter. */
export function failed(
  task: TaskRow,
  error: TaskError,
  { now, chance, retry = true }: { now: number; chance: number; retry?: boolean },
): TaskRow {
  const policy = retryOf(task);
  const final = !retry || task.attempt >= task.attemptsMax || (policy.noRetry?.includes(error.code) ?? false);
  const readyAt = now + backoffMs(policy, task.attempt, chance);
  const told = { ...task, error: JSON.stringify(error) };
  if (final || (task.overallUntil !== null && readyAt >= task.overallUntil)) {
    return ended({ ...told, status: "failed" }, now);
  }
  return waiting(told, readyAt, now);
}

/** Nobody has renewed the lease, the attempt took too long or its worker is gone; or the time of all attempts is over. */
export function expired(task: TaskRow, now: number, chance: number): TaskRow {
  // Cancelled while it ran: now no attempt of it can be under way any more.
  if (task.status === "cancelled") return { ...task, lost: 1, dueAt: null, leaseUntil: null, updatedAt: now };
  // Between two attempts, or before the first.
  if (task.status === "pending") {
    const after = { ...task, lost: leftUnknown(task) ? 1 : 0 };
    return failed(after, timeUp(task), { now, chance, retry: false });
  }
  const lost = { ...task, token: null, lost: 1 };
  // The last one may have been done all the same: its answer can still come (hand-over-late.ts).
  const last = task.compensate === null ? lost : { ...lost, token: task.token };
  if (task.overallUntil !== null && task.overallUntil <= now) {
    return failed(last, timeUp(task), { now, chance, retry: false });
  }
  if (task.attemptUntil !== null && task.attemptUntil <= now) {
    const error = {
      code: "timeout",
      message: `attempt ${task.attempt} took longer than ${must(task.timeoutMs, "an attempt's end has its length")} ms`,
    };
    return failed(task.attempt >= task.attemptsMax ? last : lost, error, { now, chance });
  }
  const error = {
    code: "lease-expired",
    message: `the worker ${task.worker ?? ""} was not heard of any more`,
  };
  if (task.attempt >= task.attemptsMax) return failed(last, error, { now, chance });
  // Its worker's fault, not the task's: no need to wait.
  return waiting({ ...lost, error: JSON.stringify(error) }, now, now);
}

/** Why a task fails whose attempts together have had their time. */
export function timeUp({ kind, status, attempt }: TaskRow): TaskError {
  const message =
    kind === "human"
      ? "it was not answered by the time it was due"
      : status === "pending" && attempt === 0
        ? "nobody took it within the time for all attempts"
        : "the time for all attempts together is over";
  return { code: "timeout", message };
}

/** Of an attempt that is over, nobody can know whether it has done it: also a worker that ran out of time knows as little. */
export const leftUnknown = ({ lost, error }: Pick<TaskRow, "lost" | "error">): boolean =>
  lost === 1 || (error !== null && (JSON.parse(error) as TaskError).code === "timeout");

/** Given back before its end: at once another's. Unworked: the attempt doesn't count. */
export const handedBack = (task: TaskRow, now: number, unworked: boolean): TaskRow =>
  waiting({ ...task, attempt: task.attempt - (unworked ? 1 : 0), token: null }, now, now);

/** An undoing from the beginning, once its present attempt can't run any more. `input`: JSON. */
export const undoneAgain = (task: TaskRow, input: string, now: number): TaskRow => ({
  ...waiting(
    {
      ...task,
      input,
      attemptsMax: task.attempt + attemptsMaxOf(retryOf(task)),
      token: null,
      overallUntil: overallOf(retryOf(task), now),
      result: null,
      error: null,
      lost: 0,
      endedAt: null,
    },
    Math.max(now, task.leaseUntil ?? now),
    now,
  ),
  // One that waits for its concurrency key still does.
  queue: task.status === "pending" ? task.queue : task.type,
});

/** Not tried, for a breaker is open: again after a while, and the attempt doesn't count. */
export const postponed = (task: TaskRow, ms: number, why: TaskError, now: number): TaskRow => ({
  ...waiting({ ...task, attempt: task.attempt - 1, token: null, error: JSON.stringify(why) }, now + ms, now),
  condition: "breaker",
});

const waiting = (task: TaskRow, readyAt: number, now: number): TaskRow => ({
  ...task,
  status: "pending",
  queue: task.type,
  condition: conditionOf(task.kind),
  readyAt,
  rank: readyAt - task.priority * rankPerTierMs,
  attemptUntil: null,
  dueAt: task.overallUntil,
  worker: null,
  leaseUntil: null,
  updatedAt: now,
});

const ended = (task: TaskRow, now: number): TaskRow => ({
  ...task,
  queue: null,
  condition: null,
  dueAt: null,
  leaseUntil: null,
  updatedAt: now,
  endedAt: now,
});

/** Doubles from the first delay up to the longest, then up to a quarter less, so that what failed together parts. */
function backoffMs(policy: RetryPolicy, attempt: number, chance: number): number {
  const { delayMs = taskDelayMs, delayMaxMs = taskDelayMaxMs, factor = 2 } = policy;
  const full = Math.min(delayMaxMs, delayMs * factor ** Math.max(0, attempt - 1));
  return Math.round(full * (1 - 0.25 * chance));
}

/** When the time of all attempts is over that begins at `at`; null: never. */
export const overallOf = ({ withinMs }: RetryPolicy, at: number): number | null =>
  withinMs === undefined ? null : at + withinMs;

/** Null: there is none. */
export function earliestOf(times: readonly (number | null)[]): number | null {
  const given = times.filter((each) => each !== null);
  return given.length === 0 ? null : Math.min(...given);
}

const attemptsMaxOf = ({ attemptsMax }: RetryPolicy): number => attemptsMax ?? taskAttemptsMax;

export const retryOf = (task: Pick<TaskRow, "retry">): RetryPolicy => JSON.parse(task.retry) as RetryPolicy;
