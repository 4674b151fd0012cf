/**
 * Batches: one control verb over many instances.
 */
import { z } from "zod";
import { id, oneOf, pageOf, pageQuery, timestamp, versionNumber } from "./common";
import { controlBody, forkBody, instanceQuery, instanceStatus, migrateBody } from "./instances";

export const batchVerb = z.enum([
  "suspend",
  "resume",
  "cancel",
  "terminate",
  "redrive",
  "retry-dead-letters",
  "migrate",
  "reset",
  "fork",
  "delete",
]);
export type BatchVerb = z.infer<typeof batchVerb>;

/** Of the list of instances; an empty one selects all. */
const filter = instanceQuery.omit({ cursor: true, limit: true });
export const batchSelection = oneOf("must be {instanceIds: [1 to 1,000 ids]} or {filter: {…}}", [
  z.strictObject({ instanceIds: z.array(id).min(1).max(1_000) }),
  z.strictObject({ filter }),
]);
export type BatchSelection = z.infer<typeof batchSelection>;

export const batchCount = z.object({
  /** At most 100,000. */
  count: z.int(),
  /** There are more than that. */
  capped: z.boolean(),
  byStatus: z.array(z.object({ status: instanceStatus, count: z.int() })),
});
export type BatchCount = z.infer<typeof batchCount>;

export const createBatchBody = z.strictObject({
  verb: batchVerb,
  selection: batchSelection,
  reason: controlBody.shape.reason,
  /** Shown in lists; made from the verb when absent. */
  name: z.string().trim().min(1).max(200).optional(),
  /** Of `migrate`, which needs it. */
  version: versionNumber.optional(),
  mapping: migrateBody.shape.mapping,
  /** Of `reset`, which needs it, and `fork` (default: each one's newest): the entry that each goes back to, or begins from. */
  seq: forkBody.shape.seq,
  /** Of `reset` and `fork`. */
  rearmTimers: forkBody.shape.rearmTimers,
  /** Of `fork`. */
  laterEvents: forkBody.shape.laterEvents,
  /** At most so many instances a second; default: as fast as they go. */
  ratePerSecond: z.int().min(1).max(10_000).optional(),
});

/** With a verb it is refused as making the batch would be, and nothing is made. */
export const countBatchBody = createBatchBody.partial({ verb: true, reason: true });

export const batchStatus = z.enum(["listing", "running", "done", "cancelled"]);
export const batchView = z.object({
  id: z.string(),
  name: z.string(),
  verb: batchVerb,
  reason: z.string(),
  version: z.int().nullable(),
  mapping: z.record(z.string(), z.string()),
  seq: z.int().nullable().default(null),
  rearmTimers: z.boolean().default(false),
  laterEvents: z.boolean().default(false),
  selection: batchSelection,
  /** `listing`: its instances are being looked up, none has been touched. */
  status: batchStatus,
  ratePerSecond: z.int().nullable(),
  /** Listed so far; all of them once it is not `listing`. */
  total: z.int(),
  ok: z.int(),
  refused: z.int(),
  /** They were as the verb would leave them. */
  skipped: z.int(),
  createdAt: timestamp,
  createdBy: z.string(),
  endedAt: timestamp.nullable(),
});
export type BatchView = z.infer<typeof batchView>;
export const batchList = pageOf(batchView);
export const batchQuery = z.strictObject({ ...pageQuery });

export const batchItemStatus = z.enum(["pending", "ok", "refused", "skipped"]);
export const batchItem = z.object({
  place: z.int(),
  instanceId: z.string(),
  /** `pending`: its turn is still to come. */
  status: batchItemStatus,
  at: timestamp.nullable(),
  /** Why it was refused; of a pending one, why it was put off. */
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type BatchItem = z.infer<typeof batchItem>;
export const batchItemList = pageOf(batchItem);
export const batchItemQuery = z.strictObject({ ...pageQuery, status: batchItemStatus.optional() });
