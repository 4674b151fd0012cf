/**
 * Wing and Gong's search ("Testing and verifying concurrent objects", 1993): is there an order of the operations, within
 * what their beginnings and ends allow, in which a lock would have given these answers?
 *
 * An operation without an answer may have happened at any time after its beginning, or never. Exponential at worst: for
 * histories of at most `operationsMax`, with states that were seen before left out.
 */
import { assert } from "@/lib/base/assert";

export type LockAsk =
  | { verb: "acquire"; session: string }
  | { verb: "release"; session: string; fence: number }
  | { verb: "renew"; session: string; fence: number }
  | { verb: "force"; fence: number };
export type LockSaid =
  | { said: "acquired"; fence: number }
  | { said: "busy" }
  | { said: "released" | "already-released" | "stale" }
  | { said: "renewed" | "lost" }
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
}

export const operationsMax = 100;

interface Model {
  fence: number;
  session: string | null;
}

/** Null, or why there is no such order. Leases are taken to be long: expiry is no part of the model. */
export function notLinearizable(history: readonly Operation[]): string | null {
  assert(
    history.length <= operationsMax,
    `a history has ${history.length} operations, more than are searched`,
  );
  const operations = [...history].sort((a, b) => a.began - b.began);
  const seen = new Set<string>();
  let deepest = 0;
  const search = (done: bigint, left: number, model: Model): boolean => {
    const open = operations.filter((one, index) => !has(done, index) && one.answer.said !== "nothing");
    if (open.length === 0) return true;
    const name = `${done} ${model.fence} ${model.session ?? ""}`;
    if (seen.has(name)) return false;
    seen.add(name);
    deepest = Math.max(deepest, operations.length - left);
    const firstEnd = Math.min(...open.map(({ ended }) => ended));
    return operations.some((one, index) => {
      if (has(done, index) || one.began > firstEnd) return false;
      return after(model, one).some((next) => search(done | (1n << BigInt(index)), left - 1, next));
    });
  };
  if (search(0n, operations.length, { fence: 0, session: null })) return null;
  return `no order of these ${operations.length} operations explains their answers; ${deepest} fit`;
}

const has = (done: bigint, index: number): boolean => (done & (1n << BigInt(index))) !== 0n;

/** The states a lock may be in after that operation gave that answer; none: it could not have given it. */
function after({ fence, session }: Model, { ask, answer }: Operation): Model[] {
  const silent = answer.said === "nothing";
  switch (ask.verb) {
    case "acquire": {
      const mine = session === ask.session;
      const next = session === null ? { fence: fence + 1, session: ask.session } : { fence, session };
      if (silent) return [next];
      if (answer.said === "acquired")
        return (session === null || mine) && answer.fence === next.fence ? [next] : [];
      return session !== null && !mine ? [{ fence, session }] : [];
    }
    case "release": {
      const match = fence === ask.fence && session === ask.session;
      const next = match ? { fence, session: null } : { fence, session };
      const said = match
        ? "released"
        : fence === ask.fence && session === null
          ? "already-released"
          : "stale";
      return silent || answer.said === said ? [next] : [];
    }
    case "renew": {
      const said = fence === ask.fence && session === ask.session ? "renewed" : "lost";
      return silent || answer.said === said ? [{ fence, session }] : [];
    }
    case "force": {
      const next = { fence: fence + 1, session: null };
      if (fence !== ask.fence) return silent || answer.said === "moved" ? [{ fence, session }] : [];
      return silent || (answer.said === "forced" && answer.fence === next.fence) ? [next] : [];
    }
  }
}
