/**
 * What is remembered of locks: one row per key, its append-only log, the queue of waiters, answers of commands.
 */
export interface LockRow {
  key: string;
  fence: number;
  /** holder and session stay after an expiry nobody acted on; null when free. */
  holder: string | null;
  session: string | null;
  acquiredAt: number | null;
  renewedAt: number | null;
  expiresAt: number | null;
  ttlMs: number | null;
  /** 1: EXPIRED is logged for this fence. */
  expired: number;
  logSeq: number;
  nextTicket: number;
  rejectedWrites: number;
  /** No renewal goes beyond it; null: any may. */
  holdUntil: number | null;
  /** How long it is to be left alone after the present grant. */
  coolMs: number | null;
  /** Until then it is given to nobody but `coolSession`, which had it last, or has it anew. */
  coolUntil: number | null;
  coolSession: string | null;
}

export interface WaiterRow {
  key: string;
  ticket: number;
  session: string;
  holder: string;
  actor: string;
  ttlMs: number;
  since: number;
  givesUpAt: number;
  heartbeatAt: number;
  /** A JSON list: the keys that its call waits for together; null: this one alone. */
  keys: string | null;
  /** What it asked for beside the lease. */
  holdMaxMs: number | null;
  coolMs: number | null;
}

export interface LockLogRow {
  key: string;
  seq: number;
  type: string;
  at: number;
  fence: number;
  holder: string | null;
  session: string | null;
  actor: string;
  reason: string | null;
  /** JSON: flat. */
  details: string;
}

export interface LockCommandRow {
  key: string;
  /** Caller and verb. */
  scope: string;
  /** The caller's idempotency key. */
  idem: string;
  digest: string;
  /** JSON. */
  result: string;
  at: number;
}

export interface LockListRow extends LockRow {
  waiters: number;
  oldestWaiterSince: number | null;
  instanceId: string | null;
  instanceStatus: string | null;
  instanceConfiguration: string | null;
}
export interface LockFilter {
  status?: "held" | "expired" | "free" | "all" | undefined;
  /** Part of the key, the holder or the session. */
  search?: string | undefined;
}

/** A place in a queue, and who holds the lock. */
export interface LockWait extends Pick<WaiterRow, "key" | "ticket" | "session" | "holder" | "since"> {
  /** The state that waits, and its instance's chart; null: a caller waits. */
  state: string | null;
  chartId: string | null;
  version: number | null;
  /** The holder's session, null: nobody's; with its state when one holds it. */
  heldBy: string | null;
  heldHolder: string | null;
  heldState: string | null;
}

/** A state's place in a queue, who holds the lock, null: nobody does by now, and until when it cools then. */
export type LockWaitOf = Pick<WaiterRow, "key" | "session"> &
  Pick<LockRow, "coolUntil"> & { holder: string | null };

export interface LockReads {
  findLock(key: string): Promise<LockListRow | null>;
  /** What those sessions wait for, by key. */
  lockWaitsOf(sessions: readonly string[]): Promise<LockWaitOf[]>;
  /** Rows of those keys that exist. */
  findLocks(keys: readonly string[]): Promise<LockRow[]>;
  /** By number of waiters, then key; rows after the cursor. `held` and `expired` are told apart by `now`. */
  listLocks(
    filter: LockFilter,
    after: { waiters: number; key: string } | null,
    limit: number,
    now: number,
  ): Promise<LockListRow[]>;
  countLocks(now: number): Promise<{ held: number; waiting: number }>;
  listWaiters(key: string): Promise<WaiterRow[]>;
  /** Entries with seq below `before` (null: all), newest first. */
  listLockLog(key: string, before: number | null, limit: number): Promise<LockLogRow[]>;
  /** Who is first in line for each of those keys; none where nobody waits. */
  findHeads(keys: readonly string[]): Promise<Pick<WaiterRow, "key" | "session" | "heartbeatAt">[]>;
  /** Waiters of states that are the first in line for a lock that nobody holds, but for calls that are gone. */
  findReadyStates(now: number, limit: number): Promise<Pick<WaiterRow, "session" | "holder">[]>;
  /** Keys whose lease ran out unlogged, whose cooling is over, or whose queue holds one whose time is up. */
  findUnsettled(now: number, limit: number): Promise<string[]>;
  /** Who waits at `now`, by key and ticket; none unless somebody waits who holds a lock: no other wait can be without end. */
  lockWaits(now: number, limit: number): Promise<LockWait[]>;
  /** The keys a session waits for are held by these sessions at `now`. For the search of cycles; one level. */
  sessionsBlocking(
    sessions: readonly string[],
    now: number,
  ): Promise<{ waiter: string; key: string; holder: string }[]>;
}

export interface LockTransaction {
  /** The lock's row, made when missing, held FOR UPDATE to the transaction's end. */
  lockLock(key: string): Promise<LockRow>;
  /** The same when there is a row. */
  lockLockIfAny(key: string): Promise<LockRow | null>;
  /** Rows of those keys that exist, by key, held FOR SHARE to the transaction's end: force-release waits for us (I3). */
  shareLocks(keys: readonly string[]): Promise<LockRow[]>;
  /** The queue in order. Call it after lockLock. */
  readWaiters(key: string): Promise<WaiterRow[]>;
  findLockCommand(key: string, scope: string, idem: string): Promise<LockCommandRow | null>;
  /** Whether that fence came from a force-release. */
  wasForced(key: string, fence: number): Promise<boolean>;
  /** Row, log, queue and answer together (I7). Log entries appear in the feed of changes. */
  writeLock(writes: {
    row: LockRow;
    log: LockLogRow[];
    joined: WaiterRow[];
    left: Pick<WaiterRow, "key" | "ticket">[];
    answer: LockCommandRow | null;
  }): Promise<void>;
  /** What the states of these instances hold or wait for, by key. Call it after lockInstances. */
  stateLocksOf(instanceIds: readonly string[]): Promise<{ key: string; session: string; holder: string }[]>;
  /** Says that these waiting calls are still there. */
  beatWaiters(waiters: readonly Pick<WaiterRow, "key" | "session" | "heartbeatAt">[]): Promise<void>;
}
