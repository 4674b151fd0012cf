/**
 * The rules of locks, pure: a lock's row and queue in, the changed row, queue and log out. The verbs run them inside one
 * transaction that holds the row.
 *
 * Holds: I3 the fence goes up with every change of hands, so an old holder's writes can be told and refused.
 *        I7 every change of the row is an entry of its log: folding the log gives the row; the fence never falls.
 *        Waiters are served in the order of their tickets; one that is gone is passed over.
 */
import { assert } from "@/lib/base/assert";
import { waiterSilentMs } from "@/lib/base/limits";
import type { LockLogRow, LockRow, WaiterRow } from "@/lib/store/locks";
import {
  isCoolingFor,
  isHeldAt,
  leaseEnd,
  type BusyLock,
  type LockDetails,
  type LockEventType,
} from "./lock-views";
import { isStateSession, noLeaseUntil } from "./state-session";

/** A lock during one command. */
export class LockBook {
  readonly log: LockLogRow[] = [];
  readonly joined: WaiterRow[] = [];
  readonly left: WaiterRow[] = [];
  /** Sessions of states that had it and have it no more, not of their own doing. */
  readonly lost: { session: string; holder: string; reason: string }[] = [];
  constructor(
    public row: LockRow,
    public queue: readonly WaiterRow[],
    readonly now: number,
    readonly actor: string,
  ) {}

  /** What is to be stored. */
  writes(): { row: LockRow; log: LockLogRow[]; joined: WaiterRow[]; left: WaiterRow[] } {
    return { row: this.row, log: this.log, joined: this.joined, left: this.left };
  }

  get changed(): boolean {
    return this.log.length + this.joined.length + this.left.length > 0;
  }

  /** Held, and the lease still runs. */
  isHeld(): boolean {
    return isHeldAt(this.row, this.now);
  }

  enter(
    type: LockEventType,
    about: {
      holder?: string | null;
      session?: string | null;
      actor?: string;
      reason?: string;
      details?: LockDetails;
    },
  ): void {
    const seq = this.row.logSeq + 1;
    this.row = { ...this.row, logSeq: seq };
    this.log.push({
      key: this.row.key,
      seq,
      type,
      at: this.now,
      fence: this.row.fence,
      holder: about.holder === undefined ? this.row.holder : about.holder,
      session: about.session === undefined ? this.row.session : about.session,
      actor: about.actor ?? this.actor,
      reason: about.reason ?? null,
      details: JSON.stringify(about.details ?? {}),
    });
  }

  join(waiter: WaiterRow): void {
    this.joined.push(waiter);
    this.queue = [...this.queue, waiter].sort((a, b) => a.ticket - b.ticket);
  }

  leave(waiter: WaiterRow): void {
    this.queue = this.queue.filter((each) => each.ticket !== waiter.ticket);
    this.left.push(waiter);
  }
}

export const openLockBook = (
  row: LockRow,
  queue: readonly WaiterRow[],
  now: number,
  actor: string,
): LockBook => new LockBook(row, queue, now, actor);

/** What time alone has done: ends a lease that ran out, lets go waiters whose time is up, serves the next. First of all. */
export function settle(book: LockBook): void {
  for (const waiter of book.queue.filter((each) => each.givesUpAt <= book.now)) {
    book.leave(waiter);
    book.enter("WAIT_TIMEOUT", { holder: waiter.holder, session: waiter.session, actor: "system" });
  }
  if (book.row.session !== null && !book.isHeld() && book.row.expired === 0) {
    lose(book, "its longest hold is over");
    const cooling = coolingOf(book, book.row.expiresAt ?? book.now);
    book.row = { ...book.row, expired: 1, ...cooling };
    book.enter("EXPIRED", { actor: "system", details: { expiresAt: book.row.expiresAt, ...told(cooling) } });
  }
  if (book.row.coolUntil !== null && book.row.coolUntil <= book.now) {
    book.row = { ...book.row, ...notCooling };
    book.enter("COOLED", { actor: "system" });
  }
  if (!book.isHeld()) serveNext(book);
}

type Cooling = Pick<LockRow, "coolUntil" | "coolSession">;
const notCooling: Cooling = { coolUntil: null, coolSession: null };

/**
 * Its cooling from when it was given up, or was taken; one that was so before goes on as it was, one promised before this grant at
 * least as long.
 */
function coolingOf({ row, now }: LockBook, from: number): Cooling {
  const { coolMs, session, coolUntil, coolSession } = row;
  if (session === null || row.expired === 1) return { coolUntil, coolSession };
  const until = Math.max(coolUntil ?? 0, coolMs === null ? 0 : from + coolMs);
  return until > now ? { coolUntil: until, coolSession: session } : notCooling;
}

/** As the log keeps it. */
const told = (cooling: Cooling): LockDetails => (cooling.coolUntil === null ? {} : { ...cooling });

/** Gives a lock that nobody holds to the first waiter who is still there. Returns its holder. */
function serveNext(book: LockBook): string | null {
  for (const waiter of book.queue) {
    // A state gets all its keys at once, under its task: workers/settle-state-locks.
    if (isStateSession(waiter.session)) return null;
    const isGone = waiter.heartbeatAt < book.now - waiterSilentMs;
    // So does a call that asks for several, by its own process: acquire-together.
    if ((waiter.keys !== null || isCoolingFor(book.row, waiter.session, book.now)) && !isGone) return null;
    book.leave(waiter);
    if (isGone) {
      book.enter("WAIT_TIMEOUT", {
        holder: waiter.holder,
        session: waiter.session,
        actor: "system",
        reason: "its call is gone",
      });
      continue;
    }
    grant(book, "HANDOFF", waiter, { ticket: waiter.ticket, waitedMs: book.now - waiter.since });
    return waiter.holder;
  }
  return null;
}

function lose({ row, lost }: LockBook, reason: string): void {
  const { session, holder } = row;
  if (session !== null && holder !== null && isStateSession(session)) lost.push({ session, holder, reason });
}

/** May have it now: nobody holds it, it needn't cool, nobody is before it. */
export const isNext = (book: LockBook, session: string): boolean =>
  !book.isHeld() &&
  !isCoolingFor(book.row, session, book.now) &&
  (book.queue.length === 0 || book.queue[0]?.session === session);

/** Grants it to a state; `holdMaxMs` null: until the state is left. */
export function grantToState(
  book: LockBook,
  to: { session: string; holder: string; actor: string; holdMaxMs: number | null },
): void {
  grantNext(book, { ...to, ttlMs: to.holdMaxMs ?? 0, holdMaxMs: null, coolMs: null });
}

function grantNext(book: LockBook, to: Parameters<typeof grant>[2]): void {
  const waiter = placeOf(book, to.session);
  if (waiter) book.leave(waiter);
  const details = waiter ? { ticket: waiter.ticket, waitedMs: book.now - waiter.since } : {};
  grant(book, waiter ? "HANDOFF" : "ACQUIRED", to, details);
}

const placeOf = ({ queue }: LockBook, session: string): WaiterRow | undefined =>
  queue.find((waiter) => waiter.session === session);

/** A state begins to wait in line; null when it does already. */
export function joinAsState(
  book: LockBook,
  to: {
    session: string;
    holder: string;
    actor: string;
    holdMaxMs: number | null;
    givesUpAt: number;
    /** As `keysOf` tells them. */
    keys: string | null;
  },
): void {
  const { now, row } = book;
  const { session, holder, actor, givesUpAt, keys } = to;
  const ticket = row.nextTicket;
  const waitMs = givesUpAt - now;
  book.enter("REQUESTED", { holder, session, details: { ttlMs: to.holdMaxMs ?? 0, waitMs } });
  book.row = { ...book.row, nextTicket: ticket + 1 };
  const waiter = { key: row.key, ticket, session, holder, actor, ttlMs: to.holdMaxMs ?? 0, since: now };
  // It needs no process that waits: its row is its word.
  const limits = { holdMaxMs: null, coolMs: null };
  book.join({ ...waiter, ...limits, keys, givesUpAt, heartbeatAt: noLeaseUntil });
  book.enter("ENQUEUED", { holder, session, details: { ticket, waitMs } });
}

/** The state was left: what it held is free, where it waited it waits no more. */
export function leaveAsState(book: LockBook, session: string): void {
  if (book.row.session === session) release(book, { session, fence: book.row.fence });
  else withdraw(book, session, "its state was left");
}

function grant(
  book: LockBook,
  type: "ACQUIRED" | "HANDOFF",
  to: Pick<WaiterRow, "session" | "holder" | "ttlMs" | "actor" | "holdMaxMs" | "coolMs">,
  details: LockDetails,
): void {
  const { now } = book;
  const { ttlMs, holdMaxMs, coolMs } = to;
  const holdUntil = holdMaxMs === null ? null : now + holdMaxMs;
  const expiresAt = ttlMs === 0 ? noLeaseUntil : Math.min(now + ttlMs, holdUntil ?? Infinity);
  // Its last session has it anew: what the others were told goes on behind it.
  const { coolUntil, coolSession } = book.row;
  const cooling: Cooling = (coolUntil ?? 0) > now ? { coolUntil, coolSession } : notCooling;
  book.row = {
    ...book.row,
    fence: book.row.fence + 1,
    holder: to.holder,
    session: to.session,
    acquiredAt: now,
    renewedAt: now,
    expiresAt,
    ttlMs,
    expired: 0,
    holdUntil,
    coolMs,
    ...cooling,
  };
  const more = {
    ...(holdUntil === null ? {} : { holdUntil }),
    ...(coolMs === null ? {} : { coolMs }),
    ...told(cooling),
  };
  book.enter(type, { actor: to.actor, details: { ...details, ttlMs, expiresAt, ...more } });
}

const free = (row: LockRow): LockRow => ({
  ...row,
  holder: null,
  session: null,
  acquiredAt: null,
  renewedAt: null,
  expiresAt: null,
  ttlMs: null,
  expired: 0,
  holdUntil: null,
  coolMs: null,
  ...notCooling,
});

/** Of one command's keys, in their order. */
export type LockBooks = readonly [LockBook, ...LockBook[]];

export interface Granted {
  key: string;
  fence: number;
  expiresAt: number;
}
export interface Place {
  key: string;
  ticket: number;
  givesUpAt: number;
}
export type Acquired =
  | { result: "acquired"; locks: Granted[] }
  /** The places tell this wait from one of the same session that took them. */
  | { result: "waiting"; places: Place[] }
  /** Of those that another has, or that others are before it for. */
  | { result: "busy"; locks: BusyLock[] };

export interface AcquireCommand {
  session: string;
  holder: string;
  ttlMs: number;
  /** 0: don't wait. */
  waitMs: number;
  /** Of a new grant: so long at most, however often it is renewed; null: without end. */
  holdMaxMs: number | null;
  /** Of a new grant: so long after its end no other session has it; null: at once. */
  coolMs: number | null;
}

/**
 * Each free or expired, and the caller first → fence + 1; held by the same session: same fence. Else none of them: busy, or into
 * the queues of those that it doesn't hold.
 */
export function acquire(books: LockBooks, to: AcquireCommand): Acquired {
  const { session, waitMs } = to;
  if (books.every((book) => isHeldBy(book, session) || isNext(book, session))) {
    for (const book of books) take(book, to);
    return { result: "acquired", locks: grantedOf(books) };
  }
  if (waitMs === 0) return busy(books, session);
  const missing = books.filter((book) => !isHeldBy(book, session));
  const keys = keysOf(books);
  if (!standsTogether(missing, session, keys))
    for (const book of missing) withdraw(book, session, "its session asks anew");
  return { result: "waiting", places: missing.map((book) => standInLine(book, to, keys)) };
}

export const isHeldBy = (book: LockBook, session: string): boolean =>
  book.isHeld() && book.row.session === session;

/** The grant made under that fence still holds. */
export const stands = (book: LockBook | undefined, session: string, fence: number): boolean =>
  book !== undefined && isHeldBy(book, session) && book.row.fence === fence;

export const grantedOf = (books: LockBooks): Granted[] =>
  books.map(({ row: { key, fence, expiresAt } }) => ({ key, fence, expiresAt: expiresAt ?? 0 }));

/** What a place in line keeps of a command's keys; null: one key has no others. */
export const keysOf = (books: readonly LockBook[]): string | null =>
  books.length === 1 ? null : JSON.stringify(books.map(({ row }) => row.key));

/** Else it would be before another in one queue and behind it in the next. */
function standsTogether(books: readonly LockBook[], session: string, keys: string | null): boolean {
  const places = books.map((book) => placeOf(book, session));
  return places.every((place) => place?.keys === keys) || places.every((place) => place === undefined);
}

function take(book: LockBook, command: AcquireCommand): void {
  const { session, holder, ttlMs, waitMs } = command;
  const mine = placeOf(book, session);
  if (isHeldBy(book, session)) {
    if (mine) book.leave(mine);
    extend(book, ttlMs);
    return;
  }
  if (!mine) book.enter("REQUESTED", { holder, session, details: { ttlMs, waitMs } });
  grantNext(book, { ...command, actor: book.actor });
}

function standInLine(
  book: LockBook,
  { session, holder, ttlMs, waitMs, holdMaxMs, coolMs }: AcquireCommand,
  keys: string | null,
): Place {
  const { actor, now } = book;
  const { key } = book.row;
  const mine = placeOf(book, session);
  if (mine) book.leave(mine);
  else book.enter("REQUESTED", { holder, session, details: { ttlMs, waitMs } });
  // Who asks again, having lost its connection, keeps its place.
  const ticket = mine?.ticket ?? book.row.nextTicket;
  if (!mine) book.row = { ...book.row, nextTicket: ticket + 1 };
  const since = mine?.since ?? now;
  // Later than that of the call whose place it takes: so they are told apart.
  const givesUpAt = Math.max(now + waitMs, (mine?.givesUpAt ?? 0) + 1);
  const asked = { session, holder, actor, ttlMs, keys, holdMaxMs, coolMs };
  book.join({ key, ticket, ...asked, since, givesUpAt, heartbeatAt: now });
  if (!mine) book.enter("ENQUEUED", { holder, session, details: { ticket, waitMs } });
  return { key, ticket, givesUpAt };
}

export function busy(books: LockBooks, session: string): Acquired {
  const missing = books.filter((book) => !isHeldBy(book, session));
  const barred = missing.filter((book) => !isNext(book, session));
  const locks = (barred.length > 0 ? barred : missing).map((book) => {
    const { row, queue, now } = book;
    const isHeld = book.isHeld();
    const place = queue.findIndex((waiter) => waiter.session === session);
    return {
      key: row.key,
      holder: isHeld ? row.holder : null,
      expiresAt: isHeld ? leaseEnd(row) : null,
      coolUntil: !isHeld && isCoolingFor(row, session, now) ? row.coolUntil : null,
      position: (place === -1 ? queue.length : place) + 1,
    };
  });
  return { result: "busy", locks };
}

function extend(book: LockBook, ttlMs: number): void {
  // A shorter lease than promised before would cut off who relies on it.
  const longer = Math.max(book.row.expiresAt ?? 0, book.now + ttlMs);
  const expiresAt = Math.min(longer, book.row.holdUntil ?? Infinity);
  book.row = { ...book.row, renewedAt: book.now, expiresAt, ttlMs };
  book.enter("RENEWED", { details: { ttlMs, expiresAt } });
}

/**
 * `never-given`: no such fence of it was. `not-yours`: that fence was given to another session. `hold-over`: it was renewed as long
 * as its longest hold allows.
 */
export type LostReason = "expired" | "hold-over" | "superseded" | "released" | "never-given" | "not-yours";
export type Renewed = { fence: number; expiresAt: number } | { lost: LostReason };

/** Session and fence match and the lease runs → longer, never shorter. */
export function renew(
  book: LockBook,
  { session, fence, ttlMs }: { session: string; fence: number; ttlMs: number | undefined },
): Renewed {
  const { row } = book;
  if (fence > row.fence) return { lost: "never-given" };
  if (row.fence !== fence) return { lost: "superseded" };
  if (row.session === null) return { lost: "released" };
  if (row.session !== session) return { lost: "not-yours" };
  if (!book.isHeld()) return { lost: row.expiresAt === row.holdUntil ? "hold-over" : "expired" };
  extend(book, ttlMs ?? row.ttlMs ?? 0);
  return { fence: book.row.fence, expiresAt: book.row.expiresAt ?? 0 };
}

export type Released = "released" | "already-released" | "stale";

/** Match → free, next waiter served. */
export function release(book: LockBook, { session, fence }: { session: string; fence: number }): Released {
  const { row } = book;
  if (row.fence !== fence) return "stale";
  if (row.session === null) return "already-released";
  if (row.session !== session) return "stale";
  const cooling = coolingOf(book, book.now);
  book.row = { ...free(row), ...cooling };
  book.enter("RELEASED", { holder: row.holder, session: row.session, details: told(cooling) });
  serveNext(book);
  return "released";
}

export interface Forced {
  fence: number;
  previousFence: number;
  previousHolder: string | null;
  nextHolder: string | null;
}

/** Any state → free with a higher fence; a lock that nobody has cools no more. The next waiter is served. The caller has compared the fence. */
export function forceRelease(book: LockBook, reason: string): Forced {
  const { fence: previousFence, holder: previousHolder, session } = book.row;
  lose(book, reason);
  const cooling = session === null ? notCooling : coolingOf(book, book.now);
  book.row = { ...free({ ...book.row, fence: previousFence + 1 }), ...cooling };
  const details = { previousFence, ...told(cooling) };
  book.enter("FORCE_RELEASED", { holder: previousHolder, session, reason, details });
  const nextHolder = serveNext(book);
  return { fence: book.row.fence, previousFence, previousHolder, nextHolder };
}

/** The lock's subject is gone: nobody holds it, nobody waits, and every fence given out is stale. */
export function deleteLock(book: LockBook, reason: string): void {
  const { holder, session } = book.row;
  for (const waiter of book.queue) book.leave(waiter);
  book.row = free({ ...book.row, fence: book.row.fence + 1 });
  book.enter("DELETED", { holder, session, reason });
}

/** A write under a stale fence was refused elsewhere: the lock remembers it. */
export function rejectWrite(
  book: LockBook,
  refused: { fence: number; session: string; actor: string; instanceId: string; type: string },
): void {
  book.row = { ...book.row, rejectedWrites: book.row.rejectedWrites + 1 };
  book.enter("WRITE_REJECTED", {
    holder: null,
    session: refused.session,
    actor: refused.actor,
    reason: `${refused.type} to ${refused.instanceId}`,
    details: { refusedFence: refused.fence, instance: refused.instanceId, event: refused.type },
  });
}

/**
 * A waiter stops waiting on its own account, and who stands behind it is served; `place`: unless the same session waits by
 * another call by now.
 */
export function withdraw(book: LockBook, session: string, reason?: string, place?: Place): void {
  const waiter = placeOf(book, session);
  if (!waiter) return;
  if (place && (waiter.ticket !== place.ticket || waiter.givesUpAt !== place.givesUpAt)) return;
  book.leave(waiter);
  book.enter("WAIT_TIMEOUT", { holder: waiter.holder, session, ...(reason === undefined ? {} : { reason }) });
  if (!book.isHeld()) serveNext(book);
}

/**
 * I7: the row that a whole log, oldest first, comes to (rejected writes and tickets counted from it too).
 */
export function foldLockLog(key: string, log: readonly LockLogRow[]): LockRow {
  let row: LockRow = {
    ...free({ key, fence: 0, logSeq: 0, nextTicket: 1, rejectedWrites: 0 } as LockRow),
  };
  for (const entry of log) {
    assert(entry.fence >= row.fence, `the fence of ${key} fell at log entry ${entry.seq}`);
    row = { ...foldEntry(row, entry), fence: entry.fence, logSeq: entry.seq };
  }
  return row;
}

function foldEntry(row: LockRow, entry: LockLogRow): LockRow {
  const details = JSON.parse(entry.details) as LockDetails;
  switch (entry.type as LockEventType) {
    case "ACQUIRED":
    case "HANDOFF":
      return {
        ...row,
        holder: entry.holder,
        session: entry.session,
        acquiredAt: entry.at,
        renewedAt: entry.at,
        expiresAt: Number(details["expiresAt"]),
        ttlMs: Number(details["ttlMs"]),
        expired: 0,
        holdUntil: numberOf(details["holdUntil"]),
        coolMs: numberOf(details["coolMs"]),
        ...coolingIn(details),
      };
    case "RENEWED":
      return {
        ...row,
        renewedAt: entry.at,
        expiresAt: Number(details["expiresAt"]),
        ttlMs: Number(details["ttlMs"]),
      };
    case "EXPIRED":
      return { ...row, expired: 1, ...coolingIn(details) };
    case "COOLED":
      return { ...row, ...notCooling };
    case "RELEASED":
    case "FORCE_RELEASED":
      return { ...free(row), ...coolingIn(details) };
    case "DELETED":
      return free(row);
    case "CHECKPOINT":
      return { ...row, ...(details as Partial<LockRow>), holder: entry.holder, session: entry.session };
    case "ENQUEUED":
      return { ...row, nextTicket: Number(details["ticket"]) + 1 };
    case "WRITE_REJECTED":
      return { ...row, rejectedWrites: row.rejectedWrites + 1 };
    case "REQUESTED":
    case "WAIT_TIMEOUT":
      return row;
  }
}

const numberOf = (told: LockDetails[string] | undefined): number | null =>
  typeof told === "number" ? told : null;

const coolingIn = ({ coolUntil, coolSession }: LockDetails): Cooling =>
  typeof coolUntil === "number" ? { coolUntil, coolSession: String(coolSession) } : notCooling;
