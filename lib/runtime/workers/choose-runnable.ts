/**
 * Which of the waiting instances are stepped next.
 *
 * Holds: a minute's wait counts as one priority, so low priority never starves; most claims serve the urgent first, the
 *        others go by who was served least recently, whatever its priority, so that no one instance takes all.
 */
import { rankPerTierMs, type Runnable } from "@/lib/store/instances";

/** With this probability a claim takes the urgent first. */
export const highRatio = 0.8;
/** From this priority on, waiting included, an instance is urgent. */
export const priorityThreshold = 2;

/** At most `limit` ids. `roll`: a random number below 1. */
export function chooseRunnable(
  found: readonly Runnable[],
  now: number,
  limit: number,
  roll: number,
): string[] {
  const urgentFrom = now - priorityThreshold * rankPerTierMs;
  const byRank = (a: Runnable, b: Runnable) => a.rank - b.rank || (a.id < b.id ? -1 : 1);
  const byServed = (a: Runnable, b: Runnable) => a.servedAt - b.servedAt || (a.id < b.id ? -1 : 1);
  const order =
    roll >= highRatio
      ? [...found].sort(byServed)
      : [
          ...found.filter(({ rank }) => rank <= urgentFrom).sort(byRank),
          ...found.filter(({ rank }) => rank > urgentFrom).sort(byServed),
        ];
  return order.slice(0, limit).map(({ id }) => id);
}
