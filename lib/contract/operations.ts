/**
 * What keeps an installation going: the fleet's counts, what is forgotten when, workers and their breakers.
 */
import { z } from "zod";
import { id, json, pageOf, pageQuery, searchText, textInt, timestamp } from "./common";
import { instanceStatus } from "./instances";
import { workerId } from "./tasks";

const reason = z.string().trim().min(3).max(1000);

export const fleetQuery = z.strictObject({
  /** Default: now. */
  at: textInt(0, Number.MAX_SAFE_INTEGER).optional(),
  chartId: id.optional(),
});
export const fleetView = z.object({
  at: timestamp,
  now: timestamp,
  /** What commits from now on can change nothing up to then. */
  completeUpTo: timestamp,
  /** How many instances were in each state; compound states are counted beside those within them. */
  items: z.array(z.object({ chartId: z.string(), version: z.int(), state: z.string(), count: z.int() })),
});

export const fleetListQuery = z.strictObject({
  ...pageQuery,
  at: fleetQuery.shape.at,
  chartId: id.optional(),
  /** A name of an active state, compound ones among them. */
  state: searchText(256).optional(),
  status: instanceStatus.optional(),
});
/** By id. A page may be short, even empty, and its cursor goes on. */
export const fleetList = pageOf(
  z.object({
    id: z.string(),
    /** Of its newest entry then; `at`: when that was made. */
    seq: z.int(),
    at: timestamp,
    chartId: z.string(),
    version: z.int(),
    status: instanceStatus,
    configuration: z.array(z.string()),
  }),
).extend({
  at: timestamp,
  /** Looked at for this page, and not known: no entry of that time is kept, or none was made yet. */
  unknown: z.int(),
});

export const retentionRule = z.enum([
  /** Answers kept for repeated calls, of lock commands too. */
  "answers",
  "lock-answers",
  /** Ended instances, by the status they ended in; `failed`: those nobody has mended. */
  "completed",
  "failed",
  "cancelled",
  "terminated",
  /** Logs of deleted instances; then what is left of deleted and purged ones: their ids' last seq. */
  "deleted",
  "tombstones",
  /** Entries of live instances before a kept snapshot; of locks, put into one. */
  "event-log",
  "lock-log",
  /** Finished tasks. */
  "tasks",
  "dead-letters",
  /** Ended batches with their items. */
  "batches",
  "audit",
]);
const keepMs = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const retentionRuleView = z.object({
  rule: retentionRule,
  /** null: for ever. */
  keepMs: keepMs.nullable(),
  then: z.enum(["purge", "archive"]),
  updatedAt: timestamp,
  updatedBy: z.string(),
  walkBegan: timestamp.nullable(),
  walkEnded: timestamp.nullable(),
  underWay: z.boolean(),
  /** Rows, since ever. */
  removed: z.int(),
});
export type RetentionRuleView = z.infer<typeof retentionRuleView>;
export const retentionList = z.object({ items: z.array(retentionRuleView), now: timestamp });
export const retentionParams = z.object({ rule: retentionRule });
export const setRetentionBody = z.strictObject({
  keepMs: keepMs.nullable(),
  /** Of ended instances: written into files first. */
  then: z.enum(["purge", "archive"]).optional(),
  reason,
});
/** `keepMs` default: the rule's own. */
export const previewRetentionQuery = z.strictObject({
  keepMs: textInt(0, Number.MAX_SAFE_INTEGER).optional(),
});
export const retentionPreview = z.object({
  rule: retentionRule,
  keepMs: keepMs.nullable(),
  count: z.int(),
  /** False: there are at least so many. */
  complete: z.boolean(),
});

const instant = textInt(0, Number.MAX_SAFE_INTEGER);
/** Texts exactly, all of them at once; `from` is within, `to` is not. */
export const auditQuery = z.strictObject({
  ...pageQuery,
  actor: searchText(256).optional(),
  /** The verb, as `terminate-instance`. */
  action: searchText(256).optional(),
  /** As `instance:order-1`. */
  target: searchText(512).optional(),
  outcome: searchText(256).optional(),
  from: instant.optional(),
  to: instant.optional(),
});
/** Newest first. */
export const auditList = pageOf(
  z.object({
    id: z.string(),
    at: timestamp,
    actor: z.string(),
    action: z.string(),
    target: z.string(),
    outcome: z.string(),
    /** What the verb was told, its reason among it. */
    details: json,
  }),
);

export const workerParams = z.object({ workerId });
/** `drain` false: it may take work again. */
export const drainWorkerBody = z.strictObject({ drain: z.boolean(), reason });
export const drainWorkerResult = z.object({ id: z.string(), drain: z.boolean() });
export const resetBreakerBody = z.strictObject({ name: z.string().min(1).max(256), reason });
export const resetBreakerResult = z.object({ id: z.string(), name: z.string() });
