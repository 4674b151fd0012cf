/**
 * The right to several names at once: all of them or none.
 *
 * Holds: places are taken in all queues in one transaction, so that who is before another in one is so in all; the grant is made
 *        in one as well, by the process whose call waits, when it is the first in each. Whatever ends the wait, it leaves all.
 */
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import { lockKeysMax } from "@/lib/base/limits";
import { acquireTogether, type AcquireArgs } from "./acquire-together";
import { stands } from "./lock-rules";
import type { AcquireLocksResult } from "./lock-views";
import { requireText } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface AcquireLocksArgs extends AcquireArgs {
  keys: readonly string[];
}

/** Throws as acquireLock does. */
export async function acquireLocks(
  context: RuntimeContext,
  actor: Actor,
  args: AcquireLocksArgs,
): Promise<AcquireLocksResult> {
  const keys = requireKeys(args.keys);
  return acquireTogether<AcquireLocksResult>(context, actor, args, {
    keys,
    verb: "acquire-several",
    args: { keys: [...keys] },
    tell: (answer) => (answer.result === "busy" ? answer : { ...answer, replayed: false, valid: true }),
    replay: (result, books) =>
      result.result === "busy"
        ? result
        : {
            ...result,
            replayed: true,
            valid: result.locks.every((lock, index) => stands(books[index], args.session, lock.fence)),
          },
  });
}

/** Sorted, none twice. */
function requireKeys(given: readonly string[]): readonly [string, ...string[]] {
  for (const key of given) requireText(key, "keys");
  const [first, ...more] = [...new Set(given)].sort();
  if (first !== undefined && more.length < lockKeysMax) return [first, ...more];
  throw new LockstepError("bad-request", `keys must be 1 to ${lockKeysMax} different ones.`, {
    details: { field: "keys" },
  });
}
