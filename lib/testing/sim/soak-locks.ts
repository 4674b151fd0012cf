/**
 * The soak's lock clients, which contend for few locks, and what their history must be: no two had one at once.
 *
 * A client holds a lock from the answer that gave it until it asks to release it or its lease is over; the lease's end is the
 * database's time, whose clock is this machine's.
 */
import { randomUUID } from "node:crypto";
import { localActor as actor } from "@/lib/access/actor";
import { canonicalJson } from "@/lib/base/canonical";
import { isPassing, LockstepError } from "@/lib/base/errors";
import { foldLockLog } from "@/lib/runtime/locks/lock-rules";
import type { Runtime } from "@/lib/runtime/runtime";
import type { Store } from "@/lib/store/store";
import type { Random } from "../random-chart";

/** One holder's time with a lock, ms since the epoch. */
export interface Hold {
  key: string;
  session: string;
  fence: number;
  from: number;
  until: number;
}

const locksCount = 4;
const ttlMs = 2_000;
const lockName = (n: number) => `zone-${n}`;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Half the time all want the first one. */
export async function lockAll(
  runtime: Runtime,
  random: Random,
  holds: Hold[],
  over: () => boolean,
): Promise<void> {
  while (!over()) {
    const key = lockName(random.chance(0.5) ? 0 : random.below(locksCount));
    const session = randomUUID();
    const told = await runtime.acquireLock(actor, { key, session, holder: "soak", ttlMs, waitMs: 3_000 });
    if (told.result === "acquired") {
      const { fence } = told;
      const hold: Hold = { key, session, fence, from: Date.now(), until: told.expiresAt };
      // An answer that came after its lease's end gave nothing.
      if (hold.from < hold.until) holds.push(hold);
      await sleep(random.below(40));
      if (random.chance(0.3)) await renew(runtime, hold);
      // Now and then it is left to run out.
      if (random.chance(0.9)) {
        hold.until = Math.min(hold.until, Date.now());
        await runtime.releaseLock(actor, { key, session, fence });
      }
    }
    await sleep(random.below(60));
  }
}

/** A renewal whose answer is lost lengthened it or not: what is known is the old end. */
async function renew(runtime: Runtime, hold: Hold): Promise<void> {
  const { key, session, fence } = hold;
  try {
    hold.until = (await runtime.renewLock(actor, { key, session, fence, ttlMs })).expiresAt;
  } catch (error) {
    if (!isPassing(error) && !(error instanceof LockstepError && error.code === "lock-lost")) throw error;
  }
}

export async function checkLocks(store: Store, holds: readonly Hold[]): Promise<string[]> {
  const wrong = overlaps(holds);
  for (let n = 0; n < locksCount; n += 1) {
    const key = lockName(n);
    const log = (await store.listLockLog(key, null, 10_000_000)).reverse();
    const [row] = await store.findLocks([key]);
    if (row && canonicalJson({ ...foldLockLog(key, log) }) !== canonicalJson({ ...row }))
      wrong.push(`I7: the row of ${key} is not the fold of its log`);
  }
  return wrong;
}

/** Of each key, by time: who comes later begins when the one before has ended, under a higher fence. */
export function overlaps(holds: readonly Hold[]): string[] {
  const wrong: string[] = [];
  const last = new Map<string, Hold>();
  for (const hold of [...holds].sort((a, b) => a.from - b.from)) {
    const before = last.get(hold.key);
    last.set(hold.key, hold);
    if (!before) continue;
    const { key, session, fence, from } = hold;
    if (from < before.until)
      wrong.push(
        `I3: ${session} had ${key} (fence ${fence}) ${before.until - from} ms before ${before.session} (fence ${before.fence}) had ended`,
      );
    if (fence <= before.fence) wrong.push(`I7: ${key} was given with fence ${fence} after ${before.fence}`);
  }
  return wrong;
}
