/** A span of time in the largest unit that tells it exactly, as options take it: `30d`, `12h`, `90s`. */
export const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function spanOf(ms: number): string {
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (ms % units[unit] === 0 && ms >= units[unit]) return `${ms / units[unit]}${unit}`;
  }
  return `${ms} ms`;
}
