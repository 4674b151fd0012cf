/**
 * Which ticks of a schedule are due, and what becomes of those that nobody was there for. Pure.
 *
 * Holds: each tick from `nextAt` on is fired, stood for by another, skipped, or still to come, and one of these alone. A tick
 *        is missed when it is more than `graceMs` late; others are fired whatever the policy. What is looked at is bounded,
 *        however long nobody was there.
 */
import type { Cron } from "@/lib/base/cron";

export type Misfire = "skip" | "once" | "all";

/** A worker that was busy or restarting for this long still runs a tick as if in time. */
export const graceMs = 30_000;
/** Due ticks looked at one by one, the newest ones; of `all`, more than this many are never made up. */
export const ticksDueMax = 100;
/** In one transaction: each may start an instance. */
export const firedAtOnceMax = 20;

export interface Decision {
  /** Oldest first. */
  fire: number[];
  /** How many others the one of `once` stands for; counted among the newest `ticksDueMax`. */
  standsFor: number;
  /** The newest one skipped, and how many before it, counted likewise; null: none. */
  skipped: { at: number; before: number } | null;
  /** The earliest tick not decided here; null: none comes any more. */
  nextAt: number | null;
}

export interface Rule {
  /** The earliest tick not decided yet. */
  nextAt: number;
  misfire: Misfire;
  misfireMax: number;
}

export function decideTicks(cron: Cron, { nextAt, misfire, misfireMax }: Rule, now: number): Decision {
  const { due, older, next } = dueTicks(cron, nextAt, now);
  const missed = due.filter((tick) => tick < now - graceMs);
  const inTime = due.slice(missed.length);
  if (missed.length === 0) return portion(inTime, null, next);
  switch (misfire) {
    case "skip":
      return portion(inTime, skippedOf(missed), next);
    case "once":
      return { fire: due.slice(-1), standsFor: due.length - 1, skipped: null, nextAt: next };
    case "all": {
      const tooMany = missed.slice(0, Math.max(0, missed.length - misfireMax));
      if (tooMany.length === 0 && older !== null) tooMany.push(older);
      return portion(due.slice(-Math.min(due.length, misfireMax + inTime.length)), skippedOf(tooMany), next);
    }
  }
}

/** The due ticks, the newest `ticksDueMax` of them, oldest first; the one before those, when there are more. */
function dueTicks(
  cron: Cron,
  nextAt: number,
  now: number,
): { due: number[]; older: number | null; next: number | null } {
  const due: number[] = [];
  let next: number | null = nextAt;
  while (next !== null && next <= now && due.length <= ticksDueMax) {
    due.push(next);
    next = cron.next(next);
  }
  if (due.length <= ticksDueMax) return { due, older: null, next };
  const newest = cron.before(now + 1, ticksDueMax + 1).reverse();
  return { due: newest.slice(1), older: newest[0] ?? null, next: cron.next(now) };
}

const skippedOf = (ticks: readonly number[]): Decision["skipped"] => {
  const at = ticks.at(-1);
  return at === undefined ? null : { at, before: ticks.length - 1 };
};

/** What is not fired now is due at once again. */
const portion = (fire: number[], skipped: Decision["skipped"], next: number | null): Decision => ({
  fire: fire.slice(0, firedAtOnceMax),
  standsFor: 0,
  skipped,
  nextAt: fire[firedAtOnceMax] ?? next,
});
