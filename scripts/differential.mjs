/**
 * `npm run differential [-- --count 10000 --events 30 --seed 1]`: random charts beside XState 5, at length.
 */
import { buildDriver, wholeNumbers } from "./driver.mjs";

const options = wholeNumbers("differential", { count: 10_000, events: 30, seed: 1 });
const { runDifferential } = await buildDriver("lib/testing/differential-main.ts");
const agrees = await runDifferential({ charts: options.count, events: options.events, seed: options.seed });
process.exit(agrees ? 0 : 1);
