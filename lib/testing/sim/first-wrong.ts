/** A run of seeds for a test: null, or what the first bad one says and how to have it again. */
import type { SeedEnd } from "./run-seed";
import { tellSeed } from "./sim-main";

export async function firstWrong(
  simulator: { run(seed: number): Promise<SeedEnd> },
  from: number,
  seeds: number,
  option: "--seed" | "--statement",
): Promise<string | null> {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const end = await simulator.run(seed);
    if (end.wrong.length > 0) return `${tellSeed(end)}\n  again: npm run sim -- ${option} ${seed}`;
  }
  return null;
}
