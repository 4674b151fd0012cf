/**
 * The right to a name for a while: granted at once, after waiting in line, or `busy`.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import type { Idempotent } from "../call";
import { lockTtlMs } from "../limits";
import { acquire, busy, giveUp, type Acquired } from "./lock-rules";
import type { WaitEnd } from "./lock-waits";
import { isHeldAt, type AcquireResult } from "./lock-views";
import { requireText } from "../require-payload";
import { runLockCommand, type LockOutcome } from "./run-lock-command";
import { isStateSession } from "./state-session";
import { shuttingDown, type RuntimeContext } from "../runtime-context";

export interface AcquireLockArgs extends Idempotent {
  key: string;
  session: string;
  holder: string;
  ttlMs?: number | undefined;
  waitMs?: number | undefined;
  /** Ends the wait of a caller that has gone: it leaves the queue, and is not granted the lock. */
  signal?: AbortSignal | undefined;
}
type Wait = Extract<Acquired, { result: "waiting" }>;
type Answer = AcquireResult | Wait;

/** Throws `lock-deadlock` when waiting would close, or is the youngest in, a circle of those that wait for each other. */
export async function acquireLock(
  context: RuntimeContext,
  actor: Actor,
  args: AcquireLockArgs,
): Promise<AcquireResult> {
  requirePermission(actor, "locks:use");
  for (const field of ["key", "session", "holder"] as const) requireText(args[field], field);
  if (isStateSession(args.session)) {
    throw new LockstepError("bad-request", "A session whose name begins with state: is a chart's own.", {
      details: { field: "session" },
    });
  }
  const waitMs = args.waitMs ?? 0;
  if (waitMs > 0) await requireNoCircle(context.store, args.key, args.session);
  const first = await ask(context, actor, args, waitMs);
  if (first.result !== "waiting") return first;

  const end = await context.lockWaits.waitFor(args.key, args.session, waitMs, args.signal);
  // Granted: the same session is given its fence, and the answer is kept for repeats. Else it leaves the queue.
  const last = await ask(context, actor, args, 0, { wait: first, reason: reasons[end] });
  if (end === "closed" && last.result === "busy") throw shuttingDown();
  if (end === "deadlock" && last.result === "busy") {
    throw new LockstepError(
      "lock-deadlock",
      `Waiting for ${args.key} would never end: ${last.holder} is before ${args.session} and waits, directly or through others, for a lock that ${args.session} holds. Release that first.`,
      { details: { key: args.key, session: args.session } },
    );
  }
  if (last.result === "waiting") throw new LockstepError("internal", "a call that does not wait was told to");
  return last;
}

const reasons: Record<WaitEnd, string> = {
  granted: "its time is up",
  timeout: "its time is up",
  closed: "the server is shutting down",
  gone: "its call is gone",
  deadlock: "it would wait for ever",
};

function ask(
  context: RuntimeContext,
  actor: Actor,
  args: AcquireLockArgs,
  waitMs: number,
  leaving?: { wait: Wait; reason: string },
): Promise<Answer> {
  const { key, session, holder } = args;
  const ttlMs = args.ttlMs ?? lockTtlMs;
  const answerOf = (done: Acquired): LockOutcome<Answer> => {
    if (done.result === "waiting") return { kind: "given", result: done };
    if (done.result === "busy") return { kind: "given", result: { ...done, key } };
    return { kind: "kept", result: { ...done, key, replayed: false, valid: true } };
  };
  return runLockCommand<Answer>(context, actor, {
    key,
    verb: "acquire",
    args: { session, holder, ttlMs },
    idempotencyKey: args.idempotencyKey,
    asks: true,
    ending: leaving !== undefined,
    rule: (book) => {
      if (leaving === undefined) return answerOf(acquire(book, { session, holder, ttlMs, waitMs }));
      if (book.isHeld() && book.row.session === session) {
        const { fence, expiresAt } = book.row;
        return answerOf({ result: "acquired", fence, expiresAt: expiresAt ?? 0 });
      }
      const answer = busy(book, session);
      giveUp(book, session, leaving.reason, leaving.wait);
      return answerOf(answer);
    },
    replay: (result, { row, now }) =>
      result.result !== "acquired"
        ? result
        : {
            ...result,
            replayed: true,
            valid: row.session === session && row.fence === result.fence && isHeldAt(row, now),
          },
  });
}

/** Longer chains than this are not searched; the leases end them. */
const chainMax = 50;

/** Follows who waits for whom from the key's holder; arriving at the caller closes the circle. */
async function requireNoCircle(store: Store, key: string, session: string): Promise<void> {
  const [lock] = await store.findLocks([key]);
  let frontier = lock?.session ? [lock.session] : [];
  if (frontier.includes(session)) return;
  const seen = new Set<string>(frontier);
  for (let length = 0; length < chainMax && frontier.length > 0; length += 1) {
    const blocking = await store.sessionsBlocking(frontier);
    const back = blocking.find((each) => each.holder === session);
    if (back) {
      throw new LockstepError(
        "lock-deadlock",
        `Waiting for ${key} would never end: ${lock?.session ?? ""} holds it and waits, directly or through others, for ${back.key}, which ${session} holds. Release that first.`,
        { details: { key, session, holds: back.key } },
      );
    }
    frontier = [...new Set(blocking.map((each) => each.holder))].filter((each) => !seen.has(each));
    for (const each of frontier) seen.add(each);
  }
}
