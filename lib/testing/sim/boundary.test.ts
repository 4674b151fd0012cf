/** The boundary simulator in `npm test`; 50,000 seeds: `npm run sim`. */
import { expect, test } from "vitest";
import { tellSeed, withSimulator } from "./sim-main";

/** 0.1 to 0.3 s each, as the machine is. */
const seeds = 300;

test(
  "I1 to I7, I9: whatever fails or crashes between any two calls, nothing is lost and nothing is doubled",
  { timeout: 300_000 },
  async () => {
    await withSimulator(async (simulator) => {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const end = await simulator.run(seed);
        if (end.wrong.length > 0) expect.fail(`${tellSeed(end)}\n  again: npm run sim -- --seed ${seed}`);
      }
    });
  },
);

test("a seed is one history: run again, the same calls come in the same order", async () => {
  const trails = [];
  for (let run = 0; run < 2; run += 1) {
    trails.push(await withSimulator(async (simulator) => (await simulator.run(7)).trail));
  }
  expect(trails[0]).toEqual(trails[1]);
  expect(trails[0]?.length).toBeGreaterThan(100);
});
