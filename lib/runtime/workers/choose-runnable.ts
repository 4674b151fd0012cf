/**
 * In which order the waiting instances are stepped.
 *
 * Holds: a minute's wait counts as one priority, so low priority never starves; most claims serve the urgent first, the
 *        others go by who was served least recently, whatever its priority, so that no one instance takes all.
 */
import { rankPerTierMs, type Runnable } from "@/lib/store/instances";

/** How claims are divided, of instances to step and of tasks alike. */
export interface Fairness {
  /** With this probability a claim takes the urgent first. */
  readonly highRatio: number;
  /** From this priority on, waiting included, an instance is urgent. */
  readonly priorityThreshold: number;
}
export const fairnessDefault: Fairness = { highRatio: 0.8, priorityThreshold: 2 };

/** Whoever waits with a rank up to this is urgent. */
export const urgentRank = (now: number, { priorityThreshold }: Fairness): number =>
  now - priorityThreshold * rankPerTierMs;

/** Their ids. `roll`: a random number below 1. */
export function chooseRunnable(
  found: readonly Runnable[],
  now: number,
  roll: number,
  fairness: Fairness,
): string[] {
  const urgentFrom = urgentRank(now, fairness);
  const byRank = (a: Runnable, b: Runnable) => a.rank - b.rank || (a.id < b.id ? -1 : 1);
  const byServed = (a: Runnable, b: Runnable) => a.servedAt - b.servedAt || (a.id < b.id ? -1 : 1);
  const order =
    roll >= fairness.highRatio
      ? [...found].sort(byServed)
      : [
          ...found.filter(({ rank }) => rank <= urgentFrom).sort(byRank),
          ...found.filter(({ rank }) => rank > urgentFrom).sort(byServed),
        ];
  return order.map(({ id }) => id);
}
