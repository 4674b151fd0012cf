/**
 * `npm run failures [-- --children 10000]`: the failure table at length: every boundary of the saga on both databases, the
 * floods at full size with their figures, and the fan-out with workers killed on the way.
 */
import { spawnSync } from "node:child_process";
import { buildDriver, wholeNumbers } from "./driver.mjs";
import { buildBin, generateClients, install } from "./steps.mjs";

const { children, cap, kills } = wholeNumbers("failures", { children: 10_000, cap: 100, kills: 5 });
install();
generateClients();
buildBin();
const { fanOutAtLength } = await buildDriver("lib/testing/failure/failures-main.ts");
await fanOutAtLength({ count: children, cap, kills });
// One file at a time: they measure.
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--maxWorkers=1", "lib/testing/failure"];
const tests = spawnSync(process.execPath, vitest, {
  stdio: "inherit",
  env: { ...process.env, LOCKSTEP_FAILURES: "long" },
});
process.exit(tests.status ?? 1);
