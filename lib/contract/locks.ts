/**
 * Locks: lease for liveness, fence for safety.
 */
import { z } from "zod";
import { lockKeysMax } from "@/lib/base/limits";
import { id, lockKey, pageOf, pageQuery, searchText, timestamp } from "./common";

export const lockHealth = z.enum(["free", "healthy", "late", "expired", "holder-finished"]);
export const lockSummary = z.object({
  key: z.string(),
  /** `held` while the lease runs, `expired` when it ran out and nobody took over, else `free`. */
  status: z.enum(["held", "expired", "free"]),
  fence: z.int(),
  holder: z.string().nullable(),
  session: z.string().nullable(),
  acquiredAt: timestamp.nullable(),
  renewedAt: timestamp.nullable(),
  expiresAt: timestamp.nullable(),
  ttlMs: z.int().nullable(),
  /** Its longest hold ends then, however often it is renewed. */
  holdUntil: timestamp.nullable(),
  /** How long after its present grant no other session is to have it. */
  coolMs: z.int().nullable(),
  /** Until then no session has it but the one that had it last, or has it anew. */
  coolUntil: timestamp.nullable(),
  waiters: z.int(),
  longestWaitMs: z.int().nullable(),
  health: lockHealth,
  /** The instance whose id is the holder, if there is one. */
  instance: z.object({ id: z.string(), status: z.string(), configuration: z.array(z.string()) }).nullable(),
  rejectedWrites: z.int(),
});
export type LockSummary = z.infer<typeof lockSummary>;

export const waiter = z.object({
  position: z.int(),
  session: z.string(),
  holder: z.string(),
  since: timestamp,
  givesUpAt: timestamp.nullable(),
  /** What its call waits for together, this one among them. */
  keys: z.array(z.string()),
  /** `line`: those before it. `keys`: this one could be had, another of its keys not. */
  waitsFor: z.enum(["line", "holder", "cooling", "keys"]),
});
export const lockView = lockSummary.extend({
  queue: z.array(waiter),
  /** The database's clock when this was read: leases are counted against it, never the browser's. */
  now: timestamp,
});
export type LockView = z.infer<typeof lockView>;

export const lockEventType = z.enum([
  "REQUESTED",
  "ENQUEUED",
  "ACQUIRED",
  "RENEWED",
  "RELEASED",
  "EXPIRED",
  "FORCE_RELEASED",
  "WAIT_TIMEOUT",
  "HANDOFF",
  /** Its cooling is over: it may be given to anybody. */
  "COOLED",
  "WRITE_REJECTED",
  "DELETED",
  /** What the older entries, now forgotten, had come to. */
  "CHECKPOINT",
]);
export const lockLogEntry = z.object({
  seq: z.int(),
  type: lockEventType,
  at: timestamp,
  fence: z.int(),
  holder: z.string().nullable(),
  session: z.string().nullable(),
  actor: z.string(),
  reason: z.string().nullable(),
  /** e.g. ttlMs, refused fence, instance. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
export type LockLogEntry = z.infer<typeof lockLogEntry>;

/** How a grant was given, as its entry (ACQUIRED, HANDOFF) keeps it; null: none was. A state's hold has no lease: ttlMs 0. */
export function grantTerms({ at, details }: Pick<LockLogEntry, "at" | "details">): {
  ttlMs: number | null;
  holdMaxMs: number | null;
  coolMs: number | null;
} {
  const numberOf = (name: string): number | null => {
    const value = details[name];
    return typeof value === "number" ? value : null;
  };
  const holdUntil = numberOf("holdUntil");
  return {
    ttlMs: numberOf("ttlMs"),
    holdMaxMs: holdUntil === null ? null : holdUntil - at,
    coolMs: numberOf("coolMs"),
  };
}

/** Until when the lock cools after its hold ended with this entry; null: it doesn't, or the entry ends no hold. */
export function coolsUntil({ type, details }: Pick<LockLogEntry, "type" | "details">): number | null {
  const { coolUntil } = details;
  const ends = type === "RELEASED" || type === "EXPIRED" || type === "FORCE_RELEASED";
  return ends && typeof coolUntil === "number" ? coolUntil : null;
}

const ttlMs = z.int().min(1_000).max(3_600_000);
export const acquireBody = z.strictObject({
  session: id,
  holder: id,
  ttlMs: ttlMs.optional(),
  waitMs: z.int().min(0).max(30_000).optional(),
  /** How long it may be held at most, however often it is renewed; counts for a new grant. */
  holdMaxMs: z.int().min(1_000).max(86_400_000).optional(),
  /** How long after its end no other session is to have it; counts for a new grant. */
  coolMs: z.int().min(0).max(3_600_000).optional(),
});
/** All of the keys or none. */
export const acquireLocksBody = acquireBody.extend({ keys: z.array(lockKey).min(1).max(lockKeysMax) });
export const renewBody = z.strictObject({ session: id, fence: z.int().min(1), ttlMs: ttlMs.optional() });
export const releaseBody = z.strictObject({ session: id, fence: z.int().min(1) });
export const forceReleaseBody = z.strictObject({
  expectedFence: z.int().min(0),
  reason: z.string().trim().min(3).max(1000),
});

/** Why it is not to be had. */
const busyLock = z.object({
  key: z.string(),
  /** Null: nobody holds it. */
  holder: z.string().nullable(),
  /** Of the holder's lease; null: a state's hold has none. */
  expiresAt: timestamp.nullable(),
  /** Not null: nobody holds it, it cools down. */
  coolUntil: timestamp.nullable(),
  /** In line, were the caller to wait: those before it come first, also for a lock that nobody holds. */
  position: z.int(),
});
/** A grant, or `busy`. */
export const acquireResult = z.discriminatedUnion("result", [
  z.object({
    result: z.literal("acquired"),
    key: z.string(),
    fence: z.int(),
    expiresAt: timestamp,
    replayed: z.boolean(),
    /** With a replay: does the grant still hold? */
    valid: z.boolean(),
  }),
  busyLock.extend({ result: z.literal("busy") }),
]);
/** The grants, by key; or who has those that are not to be had: none of the others was taken. */
export const acquireLocksResult = z.discriminatedUnion("result", [
  z.object({
    result: z.literal("acquired"),
    locks: z.array(z.object({ key: z.string(), fence: z.int(), expiresAt: timestamp })),
    replayed: z.boolean(),
    /** With a replay: do all of the grants still hold? */
    valid: z.boolean(),
  }),
  z.object({ result: z.literal("busy"), locks: z.array(busyLock) }),
]);
export const renewResult = z.object({
  key: z.string(),
  fence: z.int(),
  expiresAt: timestamp,
  /** Of the lease, by the database's clock when this was answered; 0: it is over. */
  leftMs: z.int(),
  replayed: z.boolean(),
  /** With a replay: does the grant still hold? */
  valid: z.boolean(),
});
export const releaseResult = z.object({
  result: z.enum(["released", "already-released", "stale"]),
  key: z.string(),
  fence: z.int(),
  replayed: z.boolean(),
});
export const forceReleaseResult = z.object({
  key: z.string(),
  fence: z.int(),
  previousFence: z.int(),
  previousHolder: z.string().nullable(),
  nextHolder: z.string().nullable(),
  replayed: z.boolean(),
});

export const lockList = pageOf(lockSummary).extend({ held: z.int(), waiting: z.int(), now: timestamp });
export const lockQuery = z.strictObject({
  ...pageQuery,
  /** Default: those held or expired, and free ones that cool or that somebody waits for; `all` adds free keys that have a history. */
  status: z.enum(["held", "expired", "free", "all"]).optional(),
  search: searchText(256).optional(),
});
export const lockLogQuery = z.strictObject({ before: pageQuery.cursor, limit: pageQuery.limit });
export const lockLogPage = z.object({ items: z.array(lockLogEntry), total: z.int() });
export const lockParams = z.object({ key: lockKey });
