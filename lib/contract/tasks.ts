/**
 * Tasks: outside work under a lease, for workers in any language.
 */
import { z } from "zod";
import { id, json, pageOf, pageQuery, searchText, timestamp } from "./common";
import { fences } from "./instances";

/** The src of an invocation. */
const type = z.string().min(1).max(256);
export const workerId = searchText(128).min(1);
const token = z.string().min(1).max(64);
const taskError = z.object({ code: z.string(), message: z.string(), data: json.optional() });

export const claimBody = z.strictObject({
  types: z.array(type).min(1).max(50),
  /** Who claims, e.g. `host-4711`: shown with the task. */
  workerId,
  /** As in the worker's beat: another one's claims under this id are refused while it lives. */
  session: z.string().min(1).max(128).optional(),
  /** Default 1. */
  max: z.int().min(1).max(100).optional(),
  /** How long to wait for work when there is none; default 0. */
  waitMs: z.int().min(0).max(30_000).optional(),
});
export const claimedTask = z.object({
  /** Proves the claim: every later call for the task names it. */
  token: z.string(),
  type: z.string(),
  input: json,
  instanceId: z.string(),
  taskId: z.string(),
  invokeId: z.string(),
  /** Stable over attempts: hand it on to whoever must not do it twice. */
  idempotencyKey: z.string(),
  /** Rises with every claim of the task. */
  fence: z.int(),
  /** From 1. */
  attempt: z.int(),
  attemptsMax: z.int(),
  /** What the last heartbeat with progress left, of an earlier attempt too; null when none did. */
  progress: json,
  leaseUntil: timestamp,
  /** From the claim until then, so that a worker needs no clock in common with the server: heartbeat at a third of it. */
  leaseMs: z.int(),
  /** When this attempt's time is over; null: it has no limit. */
  attemptUntil: timestamp.nullable(),
});
export type ClaimedTask = z.infer<typeof claimedTask>;
/**
 * No tasks: there was nothing to do within `waitMs`; ask again. `drain`: an operator wants you to take no more, and to end; it
 * is told at once.
 */
export const claimResult = z.object({
  tasks: z.array(claimedTask),
  /** Absent in the answer of an older server. */
  drain: z.boolean().default(false),
});

export const heartbeatBody = z.strictObject({ token, progress: json.optional() });
export const heartbeatResult = z.object({
  leaseUntil: timestamp,
  /** From now until then. */
  leaseMs: z.int(),
  /** The instance waits for it no more: stop, and say so by failing it. */
  cancel: z.boolean(),
});
/** Gives it back unfinished: another worker may have it at once. */
export const releaseBody = z.strictObject({ token });
export const releaseTaskResult = z.object({ status: z.enum(["pending", "cancelled"]) });
export const completeBody = z.strictObject({ token, fences, output: json.optional() });
export const completeResult = z.object({
  /** `cancelled`: the instance waits for it no more; the output is kept and moves nothing. */
  status: z.enum(["succeeded", "cancelled"]),
  /** This claim had been completed before: nothing was changed. */
  replayed: z.boolean(),
});
export const failBody = z.strictObject({
  token,
  fences,
  error: z.strictObject({
    /** Not tried again when the invocation's `noRetry` names it. */
    code: z.string().min(1).max(128),
    message: z.string().max(4_000),
    data: json.optional(),
    /** false: another attempt is no use. */
    retry: z.boolean().optional(),
  }),
});
export const failResult = z.object({
  /** `pending`: it is tried again from `readyAt` on. */
  status: z.enum(["pending", "failed", "cancelled"]),
  readyAt: timestamp.nullable(),
  replayed: z.boolean(),
});

export const taskKind = z.enum([
  "named",
  "http",
  "human",
  "chart",
  "each",
  "lock",
  "placeholder",
  "compensation",
]);
export const taskStatus = z.enum(["pending", "running", "succeeded", "failed", "cancelled"]);
/** Why a pending task is not being worked on. */
export const taskWait = z.discriminatedUnion("for", [
  z.object({ for: z.literal("worker") }),
  /** The pause after a failed attempt. */
  z.object({ for: z.literal("time"), until: timestamp }),
  /** Another task has the turn. */
  z.object({ for: z.literal("key"), key: z.string(), instanceId: z.string(), taskId: z.string() }),
  /** Its src is only the name of what is still to be written. */
  z.object({ for: z.literal("author") }),
  z.object({ for: z.literal("person") }),
]);
export const taskView = z.object({
  instanceId: z.string(),
  taskId: z.string(),
  invokeId: z.string(),
  generation: z.int(),
  state: z.string(),
  kind: taskKind,
  type: z.string(),
  status: taskStatus,
  input: json,
  priority: z.int(),
  /** Attempts begun. */
  attempt: z.int(),
  attemptsMax: z.int(),
  /** Pending: not claimed before. */
  readyAt: timestamp,
  /** Null unless pending. */
  waits: taskWait.nullable(),
  worker: z.string().nullable(),
  leaseUntil: timestamp.nullable(),
  attemptUntil: timestamp.nullable(),
  /** When the time for all attempts is over: an answer then comes too late. */
  dueAt: timestamp.nullable(),
  progress: json,
  concurrencyKey: z.string().nullable(),
  result: json,
  /** Of the last attempt that failed; of the task when it failed for good. */
  error: taskError.nullable(),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  updatedAt: timestamp,
  endedAt: timestamp.nullable(),
});
export type TaskView = z.infer<typeof taskView>;
/** `now`: the database's clock when this was read: leases are counted against it, never the browser's. */
export const taskList = pageOf(taskView).extend({ now: timestamp });
export const taskQuery = z.strictObject({ ...pageQuery });

/** Tasks of all instances that wait for a person, the longest waiting first. */
export const openTaskQuery = z.strictObject({ ...pageQuery, kind: z.literal("human") });
export const taskParams = z.object({ instanceId: id, taskId: searchText(512).min(1) });
/** `give-back`: somebody else may have it. `take-over`: also from who has it. */
export const takeTaskBody = z.strictObject({ how: z.enum(["take", "take-over", "give-back"]) });
export const answerTaskBody = z.strictObject({
  output: json.optional(),
  /** Instead of an output: it can't be done, and why. */
  refusal: z.string().min(1).max(4_000).optional(),
  fences,
});
export const answerTaskResult = z.object({
  status: z.enum(["succeeded", "failed"]),
  /** It had been answered just so before. */
  replayed: z.boolean(),
});

export const beatWorkerBody = z.strictObject({
  /** Made by the worker at its start: tells it from another one that claims the same id. */
  session: z.string().min(1).max(128),
  types: z.array(type).max(50),
  /** Tasks at once. */
  slots: z.int().min(0).max(10_000),
  /** Tasks under way. */
  running: z.int().min(0).max(10_000),
  /** It takes no more. */
  draining: z.boolean(),
  note: z.string().max(1_000).optional(),
  /** It is ending: forget it. */
  leaving: z.boolean().optional(),
});
/** `nextMs`: be heard of again within this time. `drain`: an operator wants you to take no more, and to end. */
export const beatWorkerResult = z.object({ nextMs: z.int(), drain: z.boolean() });
export const workerView = z.object({
  id: z.string(),
  /** `runtime`: steps instances on the database. `task`: carries out tasks over the API. */
  kind: z.enum(["runtime", "task"]),
  /** `silent`: not heard of lately: stopped, cut off or gone. */
  status: z.enum(["working", "draining", "silent"]),
  types: z.array(z.string()),
  slots: z.int(),
  running: z.int(),
  note: z.string().nullable(),
  /** Circuit breakers that are not closed. */
  breakers: z.array(
    z.object({ name: z.string(), state: z.enum(["open", "half-open"]), until: timestamp.nullable() }),
  ),
  /** Whose instances it steps, as `0-31`; null: all. */
  partitions: z.string().nullable(),
  /** An operator wants it to take no more. */
  drainAsked: z.boolean(),
  startedAt: timestamp,
  seenAt: timestamp,
});
export type WorkerView = z.infer<typeof workerView>;
/** `now`: the database's clock when this was read. */
export const workerList = z.object({ items: z.array(workerView), now: timestamp });
