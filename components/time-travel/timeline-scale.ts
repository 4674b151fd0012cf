/**
 * Where events lie on the scrubber: by time, with idle gaps collapsed, so that a burst is not one pixel and a night not
 * the whole width.
 *
 * Holds: the order of events is kept; every two neighbours are at least `stepMin` of the mean step apart.
 */
export interface TimelineScale {
  /** Place of each event, 0 to 1. */
  at: number[];
  /** Gaps drawn shorter than they were: after the event with this index. */
  gaps: { after: number; ms: number }[];
}

/** In units of the mean step. */
const stepMin = 0.4;
const stepMax = 3;
/** A pause is called idle when it is this many times the usual one, and long for a person. */
const idleTimes = 12;
const idleMs = 30_000;

/** `times` in ms, ascending. */
export function timelineScale(times: readonly number[]): TimelineScale {
  const steps: number[] = [];
  for (let index = 1; index < times.length; index++) {
    steps.push(Math.max(0, (times[index] ?? 0) - (times[index - 1] ?? 0)));
  }
  const usual = median(steps.filter((step) => step > 0)) || 1;
  const widths = steps.map((step) => Math.min(stepMax, Math.max(stepMin, step / usual)));
  const total = widths.reduce((sum, width) => sum + width, 0) || 1;
  const at = [times.length > 1 ? 0 : 0.5];
  let reached = 0;
  for (const width of widths) {
    reached += width;
    at.push(reached / total);
  }
  const gaps = steps.flatMap((ms, after) => (ms > idleMs && ms > usual * idleTimes ? [{ after, ms }] : []));
  return { at: at.slice(0, times.length), gaps };
}

/** The index of the event nearest to `place` (0 to 1). */
export function nearestIndex(at: readonly number[], place: number): number {
  let low = 0;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  const before = at[low - 1];
  return before !== undefined && place - before < (at[low] ?? 1) - place ? low - 1 : low;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
