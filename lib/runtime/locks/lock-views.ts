/**
 * Locks as the runtime shows them.
 */
import type { LockListRow, LockLogRow, LockRow, WaiterRow } from "@/lib/store/locks";
import { isEnded } from "../instances/instance-views";
import { isStateSession, noLeaseUntil } from "./state-session";

export interface LockSummary {
  key: string;
  status: "held" | "expired" | "free";
  fence: number;
  holder: string | null;
  session: string | null;
  acquiredAt: number | null;
  renewedAt: number | null;
  expiresAt: number | null;
  ttlMs: number | null;
  /** Its longest hold ends then, however often it is renewed. */
  holdUntil: number | null;
  /** How long after its present grant no other session is to have it. */
  coolMs: number | null;
  /** Until then no session has it but the one that had it last, or has it anew. */
  coolUntil: number | null;
  waiters: number;
  longestWaitMs: number | null;
  health: "free" | "healthy" | "late" | "expired" | "holder-finished";
  instance: { id: string; status: string; configuration: string[] } | null;
  rejectedWrites: number;
}
export interface WaiterView {
  position: number;
  session: string;
  holder: string;
  since: number;
  givesUpAt: number | null;
  /** What its call waits for together, this one among them. */
  keys: string[];
  /** `line`: those before it. `keys`: this one could be had, another of its keys not. */
  waitsFor: "line" | "holder" | "cooling" | "keys";
}
export interface LockView extends LockSummary {
  queue: WaiterView[];
  now: number;
}
export type LockEventType =
  | "REQUESTED"
  | "ENQUEUED"
  | "ACQUIRED"
  | "RENEWED"
  | "RELEASED"
  | "EXPIRED"
  | "FORCE_RELEASED"
  | "WAIT_TIMEOUT"
  | "HANDOFF"
  /** Its cooling is over: it may be given to anybody. */
  | "COOLED"
  | "WRITE_REJECTED"
  | "DELETED"
  /** What the older entries, now forgotten, had come to. */
  | "CHECKPOINT";
export type LockDetails = Record<string, string | number | boolean | null>;
export interface LockLogEntry {
  seq: number;
  type: LockEventType;
  at: number;
  fence: number;
  holder: string | null;
  session: string | null;
  actor: string;
  reason: string | null;
  details: LockDetails;
}
export type AcquireResult =
  | { result: "acquired"; key: string; fence: number; expiresAt: number; replayed: boolean; valid: boolean }
  | ({ result: "busy" } & BusyLock);
/** Why it is not to be had. */
export interface BusyLock {
  key: string;
  /** Null: nobody holds it. */
  holder: string | null;
  /** Of the holder's lease; null: a state's hold has none. */
  expiresAt: number | null;
  /** Not null: nobody holds it, it cools down. */
  coolUntil: number | null;
  /** In line, were the caller to wait: those before it come first, also for a lock that nobody holds. */
  position: number;
}
export type AcquireLocksResult =
  | {
      result: "acquired";
      /** By key. */
      locks: { key: string; fence: number; expiresAt: number }[];
      replayed: boolean;
      valid: boolean;
    }
  /** Those that another has, or that others are before it for; none of the rest was taken. */
  | { result: "busy"; locks: BusyLock[] };
export interface RenewResult {
  key: string;
  fence: number;
  expiresAt: number;
  /** Of the lease, now; 0: it is over. */
  leftMs: number;
  replayed: boolean;
  /** With a replay: does the grant still hold? */
  valid: boolean;
}
export interface ReleaseResult {
  result: "released" | "already-released" | "stale";
  key: string;
  fence: number;
  replayed: boolean;
}
export interface ForceReleaseResult {
  key: string;
  fence: number;
  previousFence: number;
  previousHolder: string | null;
  nextHolder: string | null;
  replayed: boolean;
}

/** An expiry that was logged stays one, also when the database's clock is set back. */
export const isHeldAt = (
  { session, expired, expiresAt }: Pick<LockRow, "session" | "expired" | "expiresAt">,
  now: number,
): boolean => session !== null && expired === 0 && (expiresAt ?? 0) > now;

/** A state's hold has none. */
export const leaseEnd = ({ expiresAt }: Pick<LockRow, "expiresAt">): number | null =>
  expiresAt === noLeaseUntil ? null : expiresAt;

/** Nobody's, and not yet to be given to that session; null: to a session that is new. */
export const isCoolingFor = (
  { coolUntil, coolSession }: Pick<LockRow, "coolUntil" | "coolSession">,
  session: string | null,
  now: number,
): boolean => coolUntil !== null && coolUntil > now && coolSession !== session;

export function viewLockSummary(row: LockListRow, now: number): LockSummary {
  const status = row.session === null ? "free" : isHeldAt(row, now) ? "held" : "expired";
  return {
    key: row.key,
    status,
    fence: row.fence,
    holder: row.holder,
    session: row.session,
    acquiredAt: row.acquiredAt,
    renewedAt: row.renewedAt,
    expiresAt: leaseEnd(row),
    ttlMs: row.ttlMs === 0 ? null : row.ttlMs,
    holdUntil: row.holdUntil,
    coolMs: row.coolMs,
    coolUntil: isCoolingFor(row, null, now) ? row.coolUntil : null,
    waiters: row.waiters,
    longestWaitMs: row.oldestWaiterSince === null ? null : Math.max(0, now - row.oldestWaiterSince),
    health: healthOf(row, status, now),
    instance:
      row.instanceId === null
        ? null
        : {
            id: row.instanceId,
            status: row.instanceStatus ?? "",
            configuration: JSON.parse(row.instanceConfiguration ?? "[]") as string[],
          },
    rejectedWrites: row.rejectedWrites,
  };
}

/** Clients renew at a third of the lease, give or take a tenth: half of it in silence is one missed renewal. */
function healthOf(row: LockListRow, status: LockSummary["status"], now: number): LockSummary["health"] {
  if (status !== "held") return status;
  if (row.instanceStatus !== null && isEnded(row.instanceStatus)) return "holder-finished";
  if (row.session !== null && isStateSession(row.session)) return "healthy";
  return now - (row.renewedAt ?? now) > (row.ttlMs ?? 0) / 2 ? "late" : "healthy";
}

export const viewQueue = (queue: readonly WaiterRow[], lock: LockRow, now: number): WaiterView[] =>
  queue.map((row, index) => ({
    position: index + 1,
    session: row.session,
    holder: row.holder,
    since: row.since,
    givesUpAt: row.givesUpAt,
    keys: row.keys === null ? [row.key] : (JSON.parse(row.keys) as string[]),
    waitsFor: index > 0 ? "line" : waitsFor(row, lock, now),
  }));

function waitsFor(first: WaiterRow, lock: LockRow, now: number): WaiterView["waitsFor"] {
  if (isHeldAt(lock, now)) return "holder";
  if (isCoolingFor(lock, first.session, now)) return "cooling";
  return first.keys === null ? "line" : "keys";
}

export const viewLockLogEntry = (row: LockLogRow): LockLogEntry => ({
  seq: row.seq,
  type: row.type as LockEventType,
  at: row.at,
  fence: row.fence,
  holder: row.holder,
  session: row.session,
  actor: row.actor,
  reason: row.reason,
  details: JSON.parse(row.details) as LockDetails,
});
