/**
 * What is done to a process under test from within, as its store sees it: it is killed or stopped at a chosen place of its
 * work. The product knows nothing of this.
 */
import { writeSync } from "node:fs";
import { LockstepError } from "@/lib/base/errors";
import type { OptimisticSteps } from "@/lib/store/steps";
import type { Store, StoreTransaction } from "@/lib/store/store";

export interface Wounds {
  /** The process is killed when it has stepped an event, or a timer, of this type, before the step is written. */
  killAt?: string;
  /** As killAt, once: it is stopped, and goes on when somebody lets it. */
  stopAt?: string;
  /** Killed at the n-th writing transaction: within, before its COMMIT, or after it. */
  killIn?: { place: "within" | "before-commit" | "after-commit"; n: number };
  /** The answer of the commit that writes this type of event is lost, once. */
  loseAnswerOf?: string;
  /** This process's own clock is wrong by so much. */
  clockMs?: number;
}

const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
};

/** Says which boundary it was on the way out: the line is written before the process goes on. */
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);

const writing: ReadonlySet<string | symbol> = new Set([
  "writeSteps",
  "writeTasks",
  "writeLock",
  "putSuspects",
]);

/** Optimistic steps are transactions of their own; here all are overtaken and go the long way. */
const shortWay: keyof Store = "optimistic";
const overtaken: OptimisticSteps = { find: null, write: () => Promise.resolve({ now: 0, written: [] }) };

export function wounded(real: Store, wounds: Wounds): Store {
  const { killIn } = wounds;
  let count = 0;
  let stopped = false;
  let lost = false;
  return new Proxy(real, {
    get(target, name) {
      if (name === shortWay) return overtaken;
      if (name !== "transaction") return Reflect.get(target, name) as unknown;
      return async <T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> => {
        let writes = false;
        let losing = false;
        let mine = 0;
        const result = await target.transaction(async (tx) => {
          const hurt = new Proxy(tx, {
            get(inner, verb) {
              const value: unknown = Reflect.get(inner, verb);
              if (typeof value !== "function" || !writing.has(verb)) return value;
              return async (...args: unknown[]) => {
                if (!writes) mine = count += 1;
                writes = true;
                if (killIn?.place === "within" && killIn.n === mine) await die();
                if (verb === "writeSteps") {
                  const types = (args[0] as { log: { type: string }[] }).log.map(({ type }) => type);
                  if (wounds.killAt !== undefined && types.includes(wounds.killAt)) await die();
                  if (wounds.stopAt !== undefined && types.includes(wounds.stopAt) && !stopped) {
                    stopped = true;
                    say({ stopping: true });
                    process.kill(process.pid, "SIGSTOP");
                  }
                  losing ||= wounds.loseAnswerOf !== undefined && types.includes(wounds.loseAnswerOf);
                }
                return (value as (...given: unknown[]) => unknown).apply(inner, args);
              };
            },
          });
          const done = await work(hurt);
          if (writes && killIn?.place === "before-commit" && killIn.n === mine) await die();
          return done;
        });
        if (writes && killIn?.place === "after-commit" && killIn.n === mine) await die();
        if (losing && !lost) {
          lost = true;
          throw new LockstepError("outcome-unknown", "The answer was lost.", { retry: "later" });
        }
        return result;
      };
    },
  });
}

/** By the clock with which this process measures how long things take. */
export function passTime(ms: number): void {
  const now = performance.now.bind(performance);
  performance.now = () => now() + ms;
}

/** Date as this process sees it. */
export function shiftClock(ms: number): void {
  const Real = Date;
  const shifted = class extends Real {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(Real.now() + ms);
      else super(...(args as [number]));
    }
    static override now = () => Real.now() + ms;
  };
  globalThis.Date = shifted as DateConstructor;
}
