/**
 * Wing and Gong's search ("Testing and verifying concurrent objects", 1993): is there an order of the operations, within
 * what their beginnings and ends allow, in which a lock would have given these answers?
 *
 * An operation without an answer may have happened at any time after its beginning, or never. A lease ends when the
 * database's clock has reached its end, and never before: the clock goes only forward in a history, and an operation's time
 * lies between what it said at its beginning and at its end. Exponential at worst: for histories of at most
 * `operationsMax`, with states that were seen before left out.
 */
import { assert } from "@/lib/base/assert";

export type LockAsk =
  /** `key`: of a call that is repeated with it when no answer comes. */
  | { verb: "acquire"; session: string; ttlMs: number; key: string }
  | { verb: "release"; session: string; fence: number }
  | { verb: "renew"; session: string; fence: number; ttlMs: number }
  | { verb: "force"; fence: number };
export type LockSaid =
  | { said: "acquired"; fence: number; expiresAt: number }
  /** The first answer to its key again; `valid`: it counts still. */
  | { said: "replayed"; fence: number; valid: boolean }
  | { said: "busy" }
  | { said: "released" | "already-released" | "stale" }
  | { said: "renewed"; expiresAt: number }
  | { said: "lost" }
  | { said: "forced"; fence: number }
  | { said: "moved" }
  /** No answer came. */
  | { said: "nothing" };
export interface Operation {
  ask: LockAsk;
  answer: LockSaid;
  /** Places in one order of all begins and ends; an unanswered one ends at Infinity. */
  began: number;
  ended: number;
  /** What the database's clock said then. */
  beganAt: number;
  endedAt: number;
}

export const operationsMax = 100;
/** Histories of the simulator need some hundreds. */
const statesMax = 300_000;

interface Model {
  fence: number;
  session: string | null;
  /** When the lease ends; two when its beginning is not known better. */
  until: readonly [earliest: number, latest: number];
  expired: boolean;
  /** Fences that keys have got. */
  kept: Readonly<Record<string, number>>;
  /** No operation to come is earlier. */
  now: number;
}
const unheld = { session: null, until: [0, 0], expired: false } as const;

/** Null, or why there is no such order. */
export function notLinearizable(history: readonly Operation[]): string | null {
  assert(
    history.length <= operationsMax,
    `a history has ${history.length} operations, more than are searched`,
  );
  // Those without an answer last: most of them explain nothing.
  const silence = ({ answer }: Operation): number => (answer.said === "nothing" ? 1 : 0);
  const operations = [...history].sort((a, b) => silence(a) - silence(b) || a.began - b.began);
  /** At which time it was come to, at the earliest. */
  const seen = new Map<string, number>();
  let deepest = 0;
  const search = (done: bigint, count: number, model: Model): boolean => {
    const open = operations.filter((one, index) => !has(done, index) && one.answer.said !== "nothing");
    if (open.length === 0) return true;
    if (!open.every((one) => canCome(model, one))) return false;
    const name = `${done} ${held(model)}`;
    if ((seen.get(name) ?? Infinity) <= model.now) return false;
    seen.set(name, model.now);
    if (seen.size > statesMax) return false;
    deepest = Math.max(deepest, count);
    const firstEnd = Math.min(...open.map(({ ended }) => ended));
    const latest = Math.min(...open.map(({ endedAt }) => endedAt));
    const outcomes = (one: Operation, index: number): Model[] => {
      if (has(done, index) || one.began > firstEnd) return [];
      const earliest = Math.max(model.now, one.beganAt);
      return earliest > latest ? [] : after({ ...model, now: earliest }, one, latest);
    };
    const before = held(model);
    // What is answered so now and changes nothing is as well done now: in any order that there is it can come first.
    const idle = operations.findIndex(
      (one, index) =>
        one.answer.said !== "nothing" && outcomes(one, index).some((next) => held(next) === before),
    );
    if (idle >= 0) return search(done | (1n << BigInt(idle)), count + 1, model);
    return operations.some((one, index) =>
      outcomes(one, index).some(
        // Nor need it have happened at all, when nobody heard of it.
        (next) => held(next) !== before && search(done | (1n << BigInt(index)), count + 1, next),
      ),
    );
  };
  if (search(0n, 0, { fence: 0, ...unheld, kept: {}, now: 0 })) return null;
  const among = seen.size > statesMax ? `none found in ${statesMax} states` : "no order";
  return `${among} of these ${operations.length} operations explains their answers; ${deepest} fit`;
}

/** False: that answer can't come any more. Fences only rise, and each is one session's. */
function canCome({ fence, session, kept }: Model, { ask, answer }: Operation): boolean {
  const isBelow = (limit: number, whose: string | null) =>
    fence < limit || (fence === limit && session === whose);
  switch (answer.said) {
    case "acquired":
      return ask.verb === "acquire" && isBelow(answer.fence, ask.session);
    case "replayed":
      return (
        ask.verb === "acquire" &&
        (kept[ask.key] === undefined ? isBelow(answer.fence, ask.session) : kept[ask.key] === answer.fence)
      );
    case "released":
    case "renewed":
      return ask.verb !== "acquire" && ask.verb !== "force" && isBelow(ask.fence, ask.session);
    case "already-released":
      return ask.verb === "release" && fence <= ask.fence;
    case "forced":
      return fence < answer.fence;
    default:
      return true;
  }
}

/** All but the time. */
const held = ({ now: _now, ...lock }: Model): string => JSON.stringify(lock);

const has = (done: bigint, index: number): boolean => (done & (1n << BigInt(index))) !== 0n;

/** The states a lock may be in after that operation, at a time from `model.now` to `latest`, gave that answer. */
function after(model: Model, operation: Operation, latest: number): Model[] {
  return settled(model, latest).flatMap((now) => {
    // Held, it happened before the lease's end.
    const until = now.session !== null && !now.expired ? Math.min(latest, now.until[1] - 1) : latest;
    return applied(now, operation, until);
  });
}

/** Held still, or run out: whichever that time allows. */
function settled(model: Model, latest: number): Model[] {
  if (model.session === null || model.expired) return [model];
  const [earliest, last] = model.until;
  const all: Model[] = [];
  if (last > model.now) all.push({ ...model, until: [Math.max(earliest, model.now + 1), last] });
  if (earliest <= latest) all.push({ ...model, expired: true, now: Math.max(model.now, earliest) });
  return all;
}

function applied(model: Model, { ask, answer }: Operation, latest: number): Model[] {
  const { fence, session, expired } = model;
  const silent = answer.said === "nothing";
  const isHeld = session !== null && !expired;
  /** From its own time on. */
  const lease = (ttlMs: number): Model["until"] => [model.now + ttlMs, latest + ttlMs];
  const told = (until: Model["until"], expiresAt: number): Model["until"] | null =>
    until[0] <= expiresAt && expiresAt <= until[1] ? [expiresAt, expiresAt] : null;
  switch (ask.verb) {
    case "acquire": {
      const kept = model.kept[ask.key];
      if (kept !== undefined) {
        if (silent) return [model];
        const valid = isHeld && session === ask.session && fence === kept;
        return answer.said === "replayed" && answer.fence === kept && answer.valid === valid ? [model] : [];
      }
      if (isHeld && session !== ask.session) return silent || answer.said === "busy" ? [model] : [];
      const fresh = lease(ask.ttlMs);
      const [earliest, last] = model.until;
      const longest: Model["until"] = [Math.max(fresh[0], earliest), Math.max(fresh[1], last)];
      const next: Model = {
        ...model,
        ...(isHeld
          ? { until: longest }
          : { until: fresh, fence: fence + 1, session: ask.session, expired: false }),
        kept: { ...model.kept, [ask.key]: isHeld ? fence : fence + 1 },
      };
      if (silent) return [next];
      if (answer.said !== "acquired" || answer.fence !== next.fence) return [];
      const until = told(next.until, answer.expiresAt);
      return until ? [{ ...next, until }] : [];
    }
    case "release": {
      const match = fence === ask.fence && session === ask.session;
      const said = match
        ? "released"
        : fence === ask.fence && session === null
          ? "already-released"
          : "stale";
      return silent || answer.said === said ? [match ? { ...model, ...unheld } : model] : [];
    }
    case "renew": {
      if (!isHeld || fence !== ask.fence || session !== ask.session)
        return silent || answer.said === "lost" ? [model] : [];
      const fresh = lease(ask.ttlMs);
      const [earliest, last] = model.until;
      const longest: Model["until"] = [Math.max(fresh[0], earliest), Math.max(fresh[1], last)];
      if (silent) return [{ ...model, until: longest }];
      const until = answer.said === "renewed" ? told(longest, answer.expiresAt) : null;
      return until ? [{ ...model, until }] : [];
    }
    case "force": {
      if (fence !== ask.fence) return silent || answer.said === "moved" ? [model] : [];
      const next = { ...model, ...unheld, fence: fence + 1 };
      return silent || (answer.said === "forced" && answer.fence === next.fence) ? [next] : [];
    }
  }
}
