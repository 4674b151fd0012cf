/**
 * Whether memory is flat: the straight line through the last half of its samples (least squares), when caches are filled.
 */
export interface Sample {
  /** Ms. */
  at: number;
  mib: number;
}

/** Over the last half it may rise by a tenth of what it is, or by this much where that is more: the collector's comings and goings. */
const riseMaxMib = 16;
const riseMaxShare = 0.1;

export function growthOf(samples: readonly Sample[]): { flat: boolean; slope: number; text: string } {
  const half = samples.slice(Math.floor(samples.length / 2));
  const mean = half.reduce((sum, { mib }) => sum + mib, 0) / half.length;
  const middle = half.reduce((sum, { at }) => sum + at, 0) / half.length;
  let [above, below] = [0, 0];
  for (const { at, mib } of half) {
    above += (at - middle) * (mib - mean);
    below += (at - middle) ** 2;
  }
  const slope = below === 0 ? 0 : (above / below) * 60_000;
  const minutes = ((half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0)) / 60_000;
  const slopeMax = Math.max(riseMaxMib, mean * riseMaxShare) / minutes;
  return {
    flat: half.length > 1 && slope <= slopeMax,
    slope,
    text: `${Math.round(mean)} MiB, ${slope.toFixed(1)} MiB a minute over the last ${minutes.toFixed(1)} minutes (flat: at most ${slopeMax.toFixed(1)})`,
  };
}
