/**
 * `npm run fuzz [-- --count 1000000 --seed 1 --threads 2]`: hostile inputs for every reader and the engine, at length.
 */
import { availableParallelism } from "node:os";
import { buildDriver, bundleDriver, wholeNumbers } from "./driver.mjs";

const options = wholeNumbers("fuzz", {
  count: 1_000_000,
  seed: 1,
  threads: Math.min(4, availableParallelism()),
});
const worker = await bundleDriver("lib/testing/fuzz/fuzz-worker.ts");
const { runFuzz } = await buildDriver("lib/testing/fuzz/fuzz-main.ts");
process.exit((await runFuzz({ ...options, worker })) === 0 ? 0 : 1);
