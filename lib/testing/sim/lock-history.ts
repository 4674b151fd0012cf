/**
 * Histories of racing clients on one lock, recorded under the simulator's faults, for the search of linearizable.ts.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import type { Runtime } from "@/lib/runtime/runtime";
import { Random } from "../random-chart";
import type { LockAsk, LockSaid, Operation } from "./linearizable";
import { simulatedStore } from "./simulated-store";
import { actor, isTransient, World } from "./world";

const clients = 16;
/** Each: together within what is searched. */
const operations = 6;
/** The clock takes leaps of a minute: of these some run out between two calls, some never. */
const ttlsMs = [1_000, 20_000, 300_000, 3_600_000];

export const historyKey = (seed: number): string => `h${seed}`;

export async function recordLockHistory(store: Store, seed: number): Promise<Operation[]> {
  const history: Operation[] = [];
  const key = historyKey(seed);
  let uninstall: () => void = () => undefined;
  let places = 0;
  const place = () => (places += 1);
  const world = new World({
    seed,
    store,
    storeOf: simulatedStore,
    processes: 3,
    faultRate: 0.05,
    busyRate: 0,
    clockMoves: "forward",
    onTime: (time) => (uninstall = time.install(new Random(seed))),
  });
  const client = async (number: number): Promise<void> => {
    const random = new Random(seed * 101 + number);
    const session = `s${number}`;
    let fence = 0;
    let lost: LockAsk | null = null;
    for (let n = 0; n < operations; n += 1) {
      await world.hold(null, session);
      // Who has no answer asks again, under the same key.
      const ask: LockAsk = lost ?? nextAsk(random, session, fence, `${session}-${n}`);
      const operation: Operation = {
        ask,
        answer: { said: "nothing" },
        began: place(),
        ended: Infinity,
        beganAt: world.nowMs,
        endedAt: Infinity,
      };
      history.push(operation);
      const process = world.process(random);
      const died = process.crashed.then((): LockSaid => ({ said: "nothing" }));
      operation.answer = await Promise.race([say(process.runtime, key, ask), died]);
      // Of the few that are granted more are lost than of the others, on their way.
      if (operation.answer.said === "acquired" && random.chance(0.25)) operation.answer = { said: "nothing" };
      lost = operation.answer.said === "nothing" && ask.verb === "acquire" ? ask : null;
      if (operation.answer.said === "nothing") continue;
      operation.ended = place();
      operation.endedAt = world.nowMs;
      if (operation.answer.said === "acquired" || operation.answer.said === "replayed")
        fence = operation.answer.fence;
    }
  };
  try {
    let over = false;
    void Promise.all(Array.from({ length: clients }, (_, number) => client(number))).then(() => {
      over = true;
      world.touch();
    });
    await world.drive(() => over);
  } finally {
    uninstall();
  }
  return history;
}

function nextAsk(random: Random, session: string, fence: number, key: string): LockAsk {
  const roll = random.below(10);
  const ttlMs = random.pick(ttlsMs);
  if (fence === 0 || roll < 4) return { verb: "acquire", session, ttlMs, key };
  if (roll < 7) return { verb: "release", session, fence };
  if (roll < 9) return { verb: "renew", session, fence, ttlMs };
  return { verb: "force", fence };
}

async function say(runtime: Runtime, key: string, ask: LockAsk): Promise<LockSaid> {
  try {
    switch (ask.verb) {
      case "acquire": {
        const { session, ttlMs, key: idempotencyKey } = ask;
        const call = { key, session, holder: session, ttlMs, idempotencyKey };
        const told = await runtime.acquireLock(actor, call);
        if (told.result !== "acquired") return { said: "busy" };
        const { fence, expiresAt, replayed, valid } = told;
        return replayed ? { said: "replayed", fence, valid } : { said: "acquired", fence, expiresAt };
      }
      case "release":
        return {
          said: (await runtime.releaseLock(actor, { key, session: ask.session, fence: ask.fence })).result,
        };
      case "renew": {
        const { session, fence, ttlMs } = ask;
        const { expiresAt } = await runtime.renewLock(actor, { key, session, fence, ttlMs });
        return { said: "renewed", expiresAt };
      }
      case "force": {
        const call = { key, expectedFence: ask.fence, reason: "simulated" };
        return { said: "forced", fence: (await runtime.forceReleaseLock(actor, call)).fence };
      }
    }
  } catch (error) {
    if (isTransient(error)) return { said: "nothing" };
    if (error instanceof LockstepError && error.code === "lock-lost") return { said: "lost" };
    if (error instanceof LockstepError && error.code === "fence-moved") return { said: "moved" };
    throw error;
  }
}
