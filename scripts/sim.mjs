/**
 * `npm run sim [-- --seeds 50000 --statements 5000 --from 1]`: both simulators at length. `--seed N` runs the boundary
 * simulator's seed N alone, `--statement N` the statement-level one's.
 */
import { buildDriver, wholeNumbers } from "./driver.mjs";

const options = wholeNumbers("sim", { seeds: 50_000, statements: 5_000, from: 1, seed: 0, statement: 0 });
const { runBoundary, runStatements } = await buildDriver("lib/testing/sim/sim-main.ts");
const { seed, statement, from } = options;
const alone = seed > 0 || statement > 0;
let failed = 0;
if (seed > 0) failed += await runBoundary({ from: seed, seeds: 1 });
if (statement > 0) failed += await runStatements({ from: statement, seeds: 1 });
if (!alone) {
  failed += await runBoundary({ from, seeds: options.seeds });
  failed += await runStatements({ from, seeds: options.statements });
}
process.exit(failed === 0 ? 0 : 1);
