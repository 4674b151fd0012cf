/**
 * The time and the chance of a simulated process: timers fire when the schedule says so, `performance.now()`,
 * `Date.now()`, `Math.random()` and the random bytes of ids come from it too. The database has a clock of its own (world.ts).
 *
 * Holds: between install() and what it returns, nothing of this thread depends on real time.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { newTaskToken } from "@/lib/runtime/new-id";
import type { Random } from "../random-chart";

interface Timer {
  at: number;
  n: number;
  run: () => void;
  everyMs: number | null;
}

/** So long wait only the database driver's own timers (idle connections): in a seed's time they have no business to end. */
const driverMs = 10_000;

const realImmediate = setImmediate;
export const realTimeout = setTimeout;
export const realNow = performance.now.bind(performance);

/** What clocks say when a seed begins: the database's, and a process's. */
export const epochMs = 1_800_000_000_000;

/** One turn of the event loop, as it really is. */
export const turnOfLoop = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

/** No clock that code has read may go back, neither when virtual time begins nor when it ends. */
const pauseMs = 10_000;

export class VirtualTime {
  nowMs = performance.now() + pauseMs;
  /** Counts what was set: a change says that somebody did something. */
  set = 0;
  private readonly timers = new Map<object, Timer>();

  get waiting(): number {
    return this.timers.size;
  }

  install(random: Random): () => void {
    const before = {
      setTimeout: globalThis.setTimeout,
      clearTimeout: globalThis.clearTimeout,
      setInterval: globalThis.setInterval,
      clearInterval: globalThis.clearInterval,
    };
    const { random: chance } = Math;
    const { now: dateNow } = Date;
    const beganMs = this.nowMs;
    const make = (run: (...args: unknown[]) => void, ms = 0, everyMs: number | null, args: unknown[]) => {
      const handle = new Handle();
      if (ms >= driverMs) return handle;
      this.set += 1;
      this.timers.set(handle, {
        at: this.nowMs + Math.max(0, ms),
        n: this.set,
        run: () => run(...args),
        everyMs,
      });
      return handle;
    };
    const clear = (handle: unknown) => {
      // Set before, in real time: the driver's.
      if (!(handle instanceof Handle)) before.clearTimeout(handle as NodeJS.Timeout);
      else this.timers.delete(handle);
    };
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms?: number, ...args: unknown[]) => make(run, ms, null, args),
      setInterval: (run: () => void, ms?: number, ...args: unknown[]) => make(run, ms, ms ?? 1, args),
      clearTimeout: clear,
      clearInterval: clear,
    });
    Math.random = () => random.below(1_000_000) / 1_000_000;
    performance.now = () => this.nowMs;
    // Ids grow with it.
    Date.now = () => epochMs + Math.floor(this.nowMs - beganMs);
    const { randomFillSync } = crypto;
    let filled = false;
    setRandomBytes((bytes: Uint8Array) => {
      filled = true;
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.below(256);
      return bytes;
    });
    // Ids come from bytes fetched before: what is left of them is used up.
    for (let made = 0; !filled && made < idsMax; made += 1) newTaskToken();
    return () => {
      setRandomBytes(randomFillSync);
      Object.assign(globalThis, before);
      Math.random = chance;
      Date.now = dateNow;
      const aheadMs = this.nowMs - realNow() + pauseMs;
      performance.now = () => realNow() + aheadMs;
      this.timers.clear();
    };
  }

  /** Lets time pass up to the next timer. False when there is none. */
  fireNext(): boolean {
    let next: [object, Timer] | null = null;
    for (const entry of this.timers) {
      if (!next || entry[1].at < next[1].at || (entry[1].at === next[1].at && entry[1].n < next[1].n))
        next = entry;
    }
    if (!next) return false;
    const [handle, timer] = next;
    this.nowMs = Math.max(this.nowMs, timer.at);
    if (timer.everyMs === null) this.timers.delete(handle);
    else timer.at = this.nowMs + Math.max(1, timer.everyMs);
    this.set += 1;
    timer.run();
    return true;
  }
}

/** More than are made of one fetch. */
const idsMax = 1_000;

/** As modules that import it by name see it, too. */
function setRandomBytes(fill: unknown): void {
  Object.assign(crypto, { randomFillSync: fill });
  syncBuiltinESMExports();
}

/** As much of a Node timer as its users touch. */
class Handle {
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}
