/**
 * What acquiring one lock and acquiring several have in common: asking, waiting in line, and leaving it.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { isPassing, LockstepError } from "@/lib/base/errors";
import type { JsonObject } from "@/lib/base/json";
import type { Store } from "@/lib/store/store";
import type { Idempotent } from "../call";
import { lockTtlMs } from "../limits";
import {
  acquire,
  busy,
  grantedOf,
  isHeldBy,
  withdraw,
  type Acquired,
  type LockBooks,
  type Place,
} from "./lock-rules";
import type { BusyLock } from "./lock-views";
import type { WaitEnd } from "./lock-waits";
import { pause } from "../pause";
import { requireText } from "../require-payload";
import { runLockCommand, type LockOutcome } from "./run-lock-command";
import { isStateSession } from "./state-session";
import { shuttingDown, type RuntimeContext } from "../runtime-context";

export interface AcquireArgs extends Idempotent {
  session: string;
  holder: string;
  ttlMs?: number | undefined;
  waitMs?: number | undefined;
  /** How long it may be held at most, however often it is renewed; counts for a new grant. */
  holdMaxMs?: number | undefined;
  /** How long after its end no other session is to have it; counts for a new grant. */
  coolMs?: number | undefined;
  /** Ends the wait of a caller that has gone: it leaves the queues. What it was granted meanwhile ends with the lease. */
  signal?: AbortSignal | undefined;
}

/** How a verb asks, and how it tells what came of it. */
export interface Asking<T extends Told> {
  /** Sorted, none twice. */
  keys: readonly [string, ...string[]];
  verb: string;
  /** What tells its calls apart, beside what all have. */
  args: JsonObject;
  tell: (answer: Exclude<Acquired, { result: "waiting" }>) => T;
  replay: (result: T, books: LockBooks) => T;
}

interface Told {
  result: "acquired" | "busy";
}
type Waiting = Extract<Acquired, { result: "waiting" }>;
const isWaiting = (answer: Told | Waiting): answer is Waiting => answer.result === "waiting";

export async function acquireTogether<T extends Told>(
  context: RuntimeContext,
  actor: Actor,
  args: AcquireArgs,
  asking: Asking<T>,
): Promise<T> {
  requirePermission(actor, "locks:use");
  for (const field of ["session", "holder"] as const) requireText(args[field], field);
  const { keys } = asking;
  const { session, waitMs = 0 } = args;
  if (isStateSession(session)) {
    throw new LockstepError("bad-request", "A session whose name begins with state: is a chart's own.", {
      details: { field: "session" },
    });
  }
  if (waitMs > 0) await context.lockBreaker.through(() => requireNoCircle(context.store, keys, session));
  const giveUpAt = performance.now() + waitMs;
  const left = () => Math.max(1, Math.round(giveUpAt - performance.now()));
  let answer = await ask(context, actor, args, asking, waitMs);
  while (isWaiting(answer)) {
    const waiting: Waiting = answer;
    const end = await context.lockWaits.waitFor(keys, session, left(), args.signal);
    const since = { places: waiting.places, end };
    if (end !== "open") return leave(context, actor, args, asking, since);
    // However often it may ask: its time is up, and this is the last time.
    if (performance.now() >= giveUpAt)
      return leave(context, actor, args, asking, { ...since, end: "timeout" });
    answer = await ask(context, actor, args, asking, left(), since).catch(async (error: unknown) => {
      if (!isPassing(error) || performance.now() >= giveUpAt) throw error;
      // Its place is kept, and its time goes on running.
      await pause(tryEveryMs, context.closing);
      return waiting;
    });
  }
  return answer;
}

const tryEveryMs = 100;

/** A wait, and how it ended. */
interface Waited {
  places: readonly Place[];
  end: WaitEnd;
}

/** Granted: the answer is kept for repeats. Else it leaves the queues. */
async function leave<T extends Told>(
  context: RuntimeContext,
  actor: Actor,
  args: AcquireArgs,
  asking: Asking<T>,
  waited: Waited,
): Promise<T> {
  const { end } = waited;
  let behind: BusyLock | undefined;
  const last = await ask(context, actor, args, { ...asking, tell }, 0, waited);
  function tell(answer: Parameters<Asking<T>["tell"]>[0]): T {
    behind = answer.result === "busy" ? answer.locks[0] : undefined;
    return asking.tell(answer);
  }
  if (isWaiting(last)) throw new LockstepError("internal", "a call that does not wait was told to");
  if (end === "closed" && behind) throw shuttingDown();
  if (end === "deadlock" && behind) {
    const { key, holder } = behind;
    throw new LockstepError(
      "lock-deadlock",
      `Waiting for ${key} would never end: ${holder ?? "another"} is before ${args.session} and waits, directly or through others, for a lock that ${args.session} holds. Release that first.`,
      { details: { key, session: args.session } },
    );
  }
  return last;
}

const reasons: Record<Exclude<WaitEnd, "open">, string> = {
  granted: "its time is up",
  timeout: "its time is up",
  closed: "the server is shutting down",
  gone: "its call is gone",
  deadlock: "it would wait for ever",
};

function ask<T extends Told>(
  context: RuntimeContext,
  actor: Actor,
  args: AcquireArgs,
  asking: Asking<T>,
  waitMs: number,
  waited?: Waited,
): Promise<T | Waiting> {
  const { session, holder, ttlMs = lockTtlMs, holdMaxMs = null } = args;
  const coolMs = args.coolMs || null;
  const { keys, verb, tell, replay } = asking;
  const answerOf = (done: Acquired): LockOutcome<T | Waiting> =>
    done.result === "acquired"
      ? { kind: "kept", result: tell(done) }
      : { kind: "given", result: done.result === "busy" ? tell(done) : done };
  return runLockCommand<T | Waiting>(context, actor, {
    keys,
    verb,
    args: {
      ...{ session, holder, ttlMs, ...asking.args },
      // Not there when not asked for: the digests of answers that were kept before they could be.
      ...(holdMaxMs === null ? {} : { holdMaxMs }),
      ...(coolMs === null ? {} : { coolMs }),
    },
    idempotencyKey: args.idempotencyKey,
    asks: true,
    ending: waited !== undefined && waited.end !== "open",
    rule: (books) => {
      const command = { session, holder, ttlMs, waitMs, holdMaxMs, coolMs };
      if (!waited) return answerOf(acquire(books, command));
      if (books.every((book) => isHeldBy(book, session)))
        return answerOf({ result: "acquired", locks: grantedOf(books) });
      const { places, end } = waited;
      if (end === "open") return answerOf(acquire(books, command));
      const isThere = end !== "gone" && end !== "closed";
      const answer = isThere ? acquire(books, command) : busy(books, session);
      for (const place of places) {
        const book = books.find(({ row }) => row.key === place.key);
        if (book) withdraw(book, session, reasons[end], place);
      }
      return answerOf(answer);
    },
    replay: (result, books) => (isWaiting(result) ? result : replay(result, books)),
  });
}

/** Longer chains than this are not searched; the leases end them. */
const chainMax = 50;

/** Follows who waits for whom from the keys' holders; arriving at the caller closes the circle. */
async function requireNoCircle(store: Store, keys: readonly string[], session: string): Promise<void> {
  const held = (await store.findLocks(keys)).filter(
    (lock) => lock.session !== null && lock.session !== session,
  );
  const now = await store.now();
  let frontier = held.flatMap((lock) => lock.session ?? []);
  const seen = new Set<string>(frontier);
  for (let length = 0; length < chainMax && frontier.length > 0; length += 1) {
    const blocking = await store.sessionsBlocking(frontier, now);
    const back = blocking.find((each) => each.holder === session);
    if (back) {
      throw new LockstepError(
        "lock-deadlock",
        `Waiting for ${keys.join(", ")} would never end: ${held.map((lock) => `${lock.session ?? ""} holds ${lock.key}`).join(", ")} and waits, directly or through others, for ${back.key}, which ${session} holds. Release that first.`,
        { details: { key: held[0]?.key ?? keys[0] ?? "", session, holds: back.key } },
      );
    }
    frontier = [...new Set(blocking.map((each) => each.holder))].filter((each) => !seen.has(each));
    for (const each of frontier) seen.add(each);
  }
}
