/**
 * The name that was probably meant.
 */

/** The nearest of `names` within a third of its length (at least one, at most three) edits; null when none is near. */
export function nearName(written: string, names: Iterable<string>): string | null {
  let best: string | null = null;
  const lower = written.toLowerCase();
  let bound = Math.min(3, Math.max(1, Math.floor(written.length / 3))) + 1;
  for (const name of names) {
    if (name === written || Math.abs(name.length - written.length) >= bound) continue;
    const distance = name.toLowerCase() === lower ? 0 : edits(lower, name.toLowerCase(), bound);
    if (distance < bound) {
      best = name;
      bound = distance;
      if (bound === 0) break;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`; `bound` or more: too many. */
function edits(a: string, b: string, bound: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (previous[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least >= bound) return bound;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? bound;
}
