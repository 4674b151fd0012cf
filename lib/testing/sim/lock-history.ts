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

export async function recordLockHistory(store: Store, seed: number): Promise<Operation[]> {
  const history: Operation[] = [];
  const key = `h${seed}`;
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
    // Expiry is no part of the model: only crashes and lost answers, no jumps of the clock.
    clockMoves: false,
    onTime: (time) => (uninstall = time.install(new Random(seed))),
  });
  const client = async (number: number): Promise<void> => {
    const random = new Random(seed * 101 + number);
    const session = `s${number}`;
    let fence = 0;
    for (let n = 0; n < operations; n += 1) {
      await world.hold(null, session);
      const ask = nextAsk(random, session, fence);
      const operation: Operation = { ask, answer: { said: "nothing" }, began: place(), ended: Infinity };
      history.push(operation);
      const process = world.process(random);
      const died = process.crashed.then((): LockSaid => ({ said: "nothing" }));
      operation.answer = await Promise.race([say(process.runtime, key, ask), died]);
      if (operation.answer.said === "nothing") continue;
      operation.ended = place();
      if (operation.answer.said === "acquired") fence = operation.answer.fence;
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

function nextAsk(random: Random, session: string, fence: number): LockAsk {
  const roll = random.below(10);
  if (fence === 0 || roll < 4) return { verb: "acquire", session };
  if (roll < 7) return { verb: "release", session, fence };
  if (roll < 9) return { verb: "renew", session, fence };
  return { verb: "force", fence };
}

async function say(runtime: Runtime, key: string, ask: LockAsk): Promise<LockSaid> {
  try {
    switch (ask.verb) {
      case "acquire": {
        const { session } = ask;
        const told = await runtime.acquireLock(actor, { key, session, holder: session, ttlMs: 3_600_000 });
        return told.result === "acquired" ? { said: "acquired", fence: told.fence } : { said: "busy" };
      }
      case "release":
        return {
          said: (await runtime.releaseLock(actor, { key, session: ask.session, fence: ask.fence })).result,
        };
      case "renew":
        await runtime.renewLock(actor, { key, session: ask.session, fence: ask.fence });
        return { said: "renewed" };
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
