/**
 * `npm run sim [-- --seeds 50000 --statements 5000 --histories 300 --from 1]`: both simulators and the histories of locks at
 * length, a process for each core. `--seed N` runs the boundary simulator's seed N alone, `--statement N` the statement-level
 * one's.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { bundleDriver, wholeNumbers } from "./driver.mjs";

const options = wholeNumbers("sim", {
  seeds: 50_000,
  statements: 5_000,
  histories: 300,
  from: 1,
  seed: 0,
  statement: 0,
});
const driver = pathToFileURL(await bundleDriver("lib/testing/sim/sim-main.ts")).href;

/** Runs `verb` of the bundle in a process of its own; how many seeds failed. */
function lane(verb, range) {
  const text = `const m = await import(${JSON.stringify(driver)}); process.exit(Math.min(await m.${verb}(${JSON.stringify(range)}), 100));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], { stdio: "inherit" });
  return new Promise((resolve) => {
    child.on("exit", (code, signal) => {
      if (signal !== null) process.stderr.write(`sim: a process was ended by ${signal}\n`);
      resolve(signal === null ? (code ?? 1) : 1);
    });
  });
}

async function lanes(verb, from, seeds) {
  const each = Math.ceil(seeds / availableParallelism());
  const ranges = [];
  for (let at = 0; at < seeds; at += each)
    ranges.push({ from: from + at, seeds: Math.min(each, seeds - at) });
  const failed = await Promise.all(ranges.map((range) => lane(verb, range)));
  return failed.reduce((sum, one) => sum + one, 0);
}

const { seed, statement, from } = options;
let failed = 0;
if (seed > 0) failed += await lane("runBoundary", { from: seed, seeds: 1 });
if (statement > 0) failed += await lane("runStatements", { from: statement, seeds: 1 });
if (seed === 0 && statement === 0) {
  failed += await lanes("runBoundary", from, options.seeds);
  failed += await lanes("runStatements", from, options.statements);
  failed += await lanes("runHistories", from, options.histories);
}
process.exit(failed === 0 ? 0 : 1);
