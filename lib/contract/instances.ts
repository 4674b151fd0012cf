/**
 * Instances: start, send, read now / at seq / at time, log, delete.
 */
import { z } from "zod";
import { keyCharsMax, labelsMax } from "@/lib/base/limits";
import {
  businessKey,
  eventType,
  fieldFilter,
  id,
  json,
  labelFilter,
  labels,
  lockKey,
  pageOf,
  pageQuery,
  searchText,
  seq,
  textInt,
  timestamp,
  versionNumber,
} from "./common";

export const instanceStatus = z.enum([
  "queued",
  "running",
  "suspended",
  "cancelling",
  "compensating",
  "stuck",
  "completed",
  "failed",
  "cancelled",
  "terminated",
]);
export type InstanceStatus = z.infer<typeof instanceStatus>;

export const conditionName = z.enum(["key", "lock", "task", "human", "child", "breaker"]);
export type ConditionName = z.infer<typeof conditionName>;
export const condition = z.object({
  /** `key`: its concurrency key. `human`: a person's answer. `child`: instances that it invoked. The rest as they are called. */
  for: conditionName,
  /** The invocation; null: of `key`. */
  taskId: z.string().nullable(),
  /** The key, the keys of the locks, the invocation's src. */
  of: z.string(),
  /** Who has it, or works on it: an instance, a lock's holder, a worker or a person; null: nobody. */
  by: z.string().nullable(),
  /** When it is tried again; null: that is not told by time. */
  until: timestamp.nullable(),
  /** To be put after "waits for". */
  reason: z.string(),
});

export const instanceSummary = z.object({
  id: z.string(),
  chartId: z.string(),
  version: z.int(),
  status: instanceStatus,
  /** Names of the active atomic states. */
  configuration: z.array(z.string()),
  seq,
  priority: z.int(),
  businessKey: z.string().nullable(),
  /** Of its chart's instances with the same one, one is under way at a time (settings.concurrencyKey). */
  concurrencyKey: z.string().nullable(),
  /** While it is queued: the instance that has its concurrency key. */
  blockedBy: z.string().nullable(),
  /** What it waits for, beside events and time. Absent: told by a version that did not know of them. */
  conditions: z.array(condition).default([]),
  labels: z.record(z.string(), z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
  /** Type of the newest log entry's event, e.g. `pay`. */
  lastEvent: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type InstanceSummary = z.infer<typeof instanceSummary>;

export const timerView = z.object({
  id: z.string(),
  dueAt: timestamp,
  kind: z.enum(["after", "send"]),
  state: z.string().nullable(),
  /** What fires: the after key or the event type. */
  label: z.string(),
});

export const instanceView = instanceSummary.extend({
  incarnation: z.int(),
  context: json,
  output: json.nullable(),
  timers: z.array(timerView),
  /** Messages not yet applied. */
  pending: z.int(),
  /** While it is open, only its holder's events are applied. It may have run out since: `until` is the database's time. */
  session: z.object({ holder: z.string(), until: timestamp }).nullable(),
  /** The invocation that it is. */
  parent: z.object({ instanceId: z.string(), taskId: z.string(), place: z.int() }).nullable(),
});
export type InstanceView = z.infer<typeof instanceView>;

export const stateAt = z.object({
  instanceId: z.string(),
  seq,
  at: timestamp,
  chartId: z.string(),
  version: z.int(),
  status: z.string(),
  configuration: z.array(z.string()),
  context: json,
  output: json.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  timers: z.array(timerView),
  /** Rebuilt from this stored snapshot. */
  fromSnapshot: seq,
  /** SHA-256 recorded by the step, and of the rebuilt state. They differ only when something is wrong: shown, never hidden. */
  storedHash: z.string(),
  rebuiltHash: z.string(),
  hashMatches: z.boolean(),
});
export type StateAt = z.infer<typeof stateAt>;

export const logKind = z.enum([
  "start",
  "event",
  "timer",
  "task-answer",
  "lock-answer",
  "control",
  "migration",
  "step-failed",
  "deleted",
]);
export const logEntry = z.object({
  seq,
  kind: logKind,
  /** Event type; for a timer the after key or event; for start `start`. */
  type: z.string(),
  at: timestamp,
  actor: z.string(),
  outcome: z.enum(["moved", "handled", "ignored", "failed"]),
  reason: z.string().nullable(),
  exited: z.array(z.string()),
  entered: z.array(z.string()),
  version: z.int(),
  dedupeKey: z.string().nullable(),
  /** Holder of the instance session in which it was sent. */
  session: z.string().nullable(),
  /** Why the step failed; or, with another outcome, the first thing in it that did (an action, a guard, a send). */
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type LogEntry = z.infer<typeof logEntry>;

const verdict = z.enum(["true", "false", "error", "placeholder", "not-evaluated"]);
export const microstep = z.object({
  index: z.int(),
  event: z.object({ type: z.string(), data: json.optional() }).nullable(),
  candidates: z.array(
    z.object({
      atomic: z.string(),
      transition: z.string(),
      guard: z.string().nullable(),
      verdict,
      reads: z.array(z.tuple([z.string(), json])),
      error: z.string().optional(),
      selected: z.boolean(),
      forbidden: z.literal(true).optional(),
    }),
  ),
  taken: z.array(z.string()),
  exited: z.array(z.string()),
  entered: z.array(z.string()),
  actions: z.array(
    z.object({
      state: z.string(),
      block: z.enum(["entry", "exit", "transition", "initial", "history", "finalize"]),
      text: z.string(),
      error: z.string().optional(),
    }),
  ),
  changes: z.array(z.object({ path: z.string(), before: json.optional(), after: json.optional() })),
});
export const logEntryDetail = logEntry.extend({
  instanceId: z.string(),
  data: json,
  messageId: z.string().nullable(),
  stateHash: z.string(),
  microsteps: z.array(microstep),
  logs: z.array(z.object({ label: z.string().optional(), value: json })),
});
export type LogEntryDetail = z.infer<typeof logEntryDetail>;

export const fence = z.strictObject({ key: lockKey, session: id, fence: z.int().min(1) });
/** Locks that the caller must still hold: without them the call is refused (409 `stale-fence`). */
export const fences = z.array(fence).max(20).optional();
export const startInstanceBody = z.strictObject({
  chartId: id,
  /** Newest when absent. */
  version: versionNumber.optional(),
  id: id.optional(),
  input: json.optional(),
  businessKey: businessKey.optional(),
  labels: labels.optional(),
  priority: z.int().min(0).max(4).optional(),
  fences,
});
export const sendEventBody = z.strictObject({
  type: eventType,
  data: json.optional(),
  expectedSeq: seq.optional(),
  fences,
  /**
   * How long to wait for the step before answering 202; default 5000. Who gives it also waits for the end of another's
   * session; without it the call is refused (423) while one is open.
   */
  waitMs: z.int().min(0).max(30_000).optional(),
  /** Of an instance session: the event goes ahead of what others sent. */
  session: z.string().max(128).optional(),
});
export const sendResult = z.object({
  messageId: z.string(),
  instanceId: z.string(),
  /** `applied`, or `queued` (202: not stepped yet; ask /messages/ID). */
  state: z.enum(["applied", "queued"]),
  seq: seq.nullable(),
  outcome: z.enum(["moved", "handled", "ignored", "failed"]).nullable(),
  reason: z.string().nullable(),
  status: instanceStatus,
  configuration: z.array(z.string()),
  /** Messages left in the mailbox. */
  pending: z.int(),
  /** True when this is the stored answer of an earlier call with the same idempotency key. */
  replayed: z.boolean(),
});
export type SendResult = z.infer<typeof sendResult>;
export const messageResult = sendResult.extend({
  /** `refused`: it was not applied when its turn came, and is a dead letter; `reason` is the refusal's code. */
  state: z.enum(["applied", "queued", "refused"]),
  /** Why it was refused, or its step failed; null: neither. Absent: told by a version that did not know of it. */
  error: z.object({ code: z.string(), message: z.string() }).nullable().default(null),
});
export type MessageResult = z.infer<typeof messageResult>;

/** Applied all together or not at all. */
export const sendEventsBody = z.strictObject({
  events: z
    .array(z.strictObject({ type: eventType, data: json.optional() }))
    .min(1)
    .max(100),
  expectedSeq: seq.optional(),
  fences,
  /** How long to wait for what lies in the mailbox before them, default 5000, and for the end of another's session. */
  waitMs: z.int().min(0).max(30_000).optional(),
  session: z.string().max(128).optional(),
});
export const openSessionBody = z.strictObject({
  ttlMs: z.int().min(1_000).max(60_000).optional(),
  /** However often it is renewed. */
  holdMaxMs: z.int().min(1_000).max(60_000).optional(),
  /** Shown to those who wait; default: the caller. */
  holder: z.string().min(1).max(128).optional(),
  expectedSeq: seq.optional(),
  fences,
});
const sessionTimes = {
  /** On the database's clock. */
  until: timestamp,
  holdUntil: timestamp,
  /** From the answer's making to `until`. */
  leftMs: z.int(),
};
export const openSessionResult = z.object({
  instanceId: z.string(),
  /** Goes with every event of the session; secret. */
  session: z.string(),
  /** Of the instance, when the session began. */
  seq,
  ...sessionTimes,
  replayed: z.boolean(),
});
const session = z.string().min(1).max(128);
export const renewSessionBody = z.strictObject({ session, ttlMs: openSessionBody.shape.ttlMs });
export const renewSessionResult = z.object(sessionTimes);
export const endSessionBody = z.strictObject({ session });
export const endSessionResult = z.object({ result: z.enum(["ended", "already-over"]) });
export const sendEventsResult = z.object({
  instanceId: z.string(),
  /** `queued` (202): they wait in the mailbox as one message; ask /messages/ID of the last one. Absent: applied. */
  state: z.enum(["applied", "queued"]).default("applied"),
  /** Of the last one; null while they wait. */
  seq: seq.nullable(),
  status: instanceStatus,
  configuration: z.array(z.string()),
  /** In the order of the events. Absent: told by a version that did not tell them apart from the results. */
  messageIds: z.array(z.string()).default([]),
  /** As well; none while they wait. */
  results: z.array(
    z.object({
      messageId: z.string(),
      seq,
      outcome: z.enum(["moved", "handled", "ignored", "failed"]),
      reason: z.string().nullable(),
    }),
  ),
  pending: z.int(),
  replayed: z.boolean(),
});

export const instanceList = pageOf(instanceSummary);
export const instanceQuery = z.strictObject({
  ...pageQuery,
  chartId: id.optional(),
  status: instanceStatus.optional(),
  state: searchText(256).optional(),
  idPrefix: searchText(128).optional(),
  businessKey: searchText(keyCharsMax).optional(),
  condition: conditionName.optional(),
  /** Children of that instance's invocations. */
  parent: id.optional(),
  /** May be given several times: all of them must hold. */
  label: z.array(labelFilter).max(labelsMax).optional(),
  /** `field:value`, with chartId: of the fields that the chart declares by settings.index. May be given several times, as label. */
  index: z.array(fieldFilter).max(20).optional(),
});
export const childStatus = z.enum(["running", "orphan", "succeeded", "failed", "cancelled"]);
export const childView = z.object({
  instanceId: z.string(),
  /** From 0: the item's, for `each`. */
  place: z.int(),
  /** What it is to the invocation. `orphan`: nobody waits for it any more, it is being ended. */
  status: childStatus,
  /** Its output, once it has succeeded. */
  result: json,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** What it is now; null: deleted. */
  instance: instanceSummary
    .pick({ chartId: true, version: true, status: true, configuration: true })
    .nullable(),
});
export type ChildView = z.infer<typeof childView>;
/** `counts`: of all that have begun, whatever is asked for. */
export const childList = pageOf(childView).extend({ counts: z.record(childStatus, z.int()) });
export type ChildList = z.infer<typeof childList>;
export const childQuery = z.strictObject({ ...pageQuery, status: childStatus.optional() });
export const logQuery = z.strictObject({
  /** Entries with seq below this, newest first (default: from the newest). */
  before: textInt(0, Number.MAX_SAFE_INTEGER).optional(),
  limit: pageQuery.limit,
});
export const logPage = z.object({ items: z.array(logEntry), total: z.int() });
export const stateQuery = z.strictObject({
  seq: textInt(0, Number.MAX_SAFE_INTEGER).optional(),
  at: textInt(0, Number.MAX_SAFE_INTEGER).optional(),
});

/** Of the verbs that suspend, resume, cancel, terminate and redrive. */
export const controlBody = z.strictObject({
  /** Kept in the log and the audit. */
  reason: z.string().trim().min(1).max(1000),
  expectedSeq: seq.optional(),
  fences,
});
/** May be left out whole. */
export const deleteInstanceBody = controlBody.partial();
export const deleteInstanceResult = z.object({ id: z.string(), seq, replayed: z.boolean() });
export const retryDeadLetterBody = z.strictObject({ fences });
export const controlResult = z.object({
  instanceId: z.string(),
  /** Of the control entry; of the newest one when nothing was changed. */
  seq,
  status: instanceStatus,
  configuration: z.array(z.string()),
  /** False when the instance was as the verb would leave it. */
  changed: z.boolean(),
  pending: z.int(),
  replayed: z.boolean(),
});
export type ControlResult = z.infer<typeof controlResult>;

export const deadLetter = z.object({
  instanceId: z.string(),
  messageId: z.string(),
  type: z.string(),
  data: json,
  actor: z.string(),
  cause: z.string().nullable(),
  enqueuedAt: timestamp,
  at: timestamp,
  /** `step-failed`, `instance-ended`, or the code of the refusal that it met when its turn came. */
  reason: z.string(),
  /** The message that it was sent again as. */
  retriedAs: z.string().nullable(),
});
export type DeadLetter = z.infer<typeof deadLetter>;
export const deadLetterList = pageOf(deadLetter);
export const deadLetterQuery = z.strictObject({ ...pageQuery, instanceId: id.optional() });

export const forkBody = z.strictObject({
  /** Default: the newest. */
  seq: z.int().min(1).optional(),
  /** Of the new instance. */
  id: id.optional(),
  /** Arm the timers of that moment again, with the time they had left; default: none is. */
  rearmTimers: z.boolean().optional(),
  /** Send it the external events that the other took later, at most 1,000; default: none. */
  laterEvents: z.boolean().optional(),
  fences,
  reason: controlBody.shape.reason,
});
export const resetBody = controlBody.extend({
  seq: z.int().min(1),
  rearmTimers: z.boolean().optional(),
});
export const migrateBody = controlBody.extend({
  version: versionNumber,
  /** Names of active states → their names in the other version, where they differ. */
  mapping: z.record(z.string().max(256), z.string().max(256)).optional(),
  /** Only says what would be done. */
  dryRun: z.boolean().optional(),
});
/** `needs-mapping`: say which state it is now; `blocked`: no mapping helps. */
const migrationVerdict = z.enum(["ok", "needs-mapping", "blocked"]);
export type MigrationVerdict = z.infer<typeof migrationVerdict>;
export const migrateResult = z.object({
  instanceId: z.string(),
  seq,
  status: instanceStatus,
  version: z.int(),
  configuration: z.array(z.string()),
  plan: z.object({
    /** The worst of all. */
    verdict: migrationVerdict,
    states: z.array(
      z.object({
        state: z.string(),
        to: z.string().nullable(),
        verdict: migrationVerdict,
        why: z.string().nullable(),
      }),
    ),
    /** Armed timers that the other version doesn't know: they go. */
    timersDropped: z.array(z.string()),
    /** Context roots that the other version brings along, with their first values. */
    contextAdded: z.array(z.string()),
  }),
  /** False after a dry run. */
  changed: z.boolean(),
  replayed: z.boolean(),
});
export type MigrateResult = z.infer<typeof migrateResult>;
