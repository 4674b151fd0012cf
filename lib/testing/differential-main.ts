/**
 * `npm run differential` at length: progress, seed, counts; exit 1 with both sides of the first difference.
 */
import { playDifferential, type Seen } from "./differential";

const shown = (seen: Seen): string =>
  Object.entries(seen)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");

/** True: no difference. */
export async function runDifferential(options: {
  charts: number;
  events: number;
  seed: number;
}): Promise<boolean> {
  const { charts, events, seed } = options;
  process.stdout.write(`${charts} random charts × ${events} inputs beside XState 5, seeds from ${seed}\n`);
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(0)} s`;
  let toldAt = began;
  const { seen, found } = await playDifferential({
    charts,
    events,
    firstSeed: seed,
    onChart: (played, sofar) => {
      if (performance.now() - toldAt < 10_000) return;
      toldAt = performance.now();
      process.stdout.write(`${seconds()}: ${played} of ${charts} charts; ${shown(sofar)}\n`);
    },
  });
  process.stdout.write(`${seconds()}: ${shown(seen)}\n`);
  if (found === null) {
    process.stdout.write("no difference\n");
    return true;
  }
  const { input, step, ours, theirs } = found;
  process.stdout.write(
    `seed ${found.seed} differs after input ${step} (${input}):\n  ours   ${JSON.stringify(ours)}\n  XState ${JSON.stringify(theirs)}\nAgain: npm run differential -- --count 1 --seed ${found.seed} --events ${events}\n`,
  );
  return false;
}
