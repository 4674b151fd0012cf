/**
 * `npm test`: everything, from a fresh clone: packages, clients, unit / property / store tests (SQLite and a throw-away
 * PostgreSQL), the checks and the build beside them, the built product in a real Chromium. Prints each part's time and
 * closes with the counts.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { browser, buildBin, generateClients, install, root, say } from "./steps.mjs";

const reports = join(root, ".cache/reports");
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });

const times = [];
let passed = 0;
let failed = 0;
let broken = false;

async function part(name, work) {
  say(`${name} …`);
  const began = Date.now();
  await work();
  times.push(`${name} ${Math.round((Date.now() - began) / 1000)} s`);
}

/** Runs it in Node; its exit code. */
function node(args, { env = {}, output = "inherit" } = {}) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", output, output],
    env: { ...process.env, ...env },
  });
  return { child, ended: new Promise((done) => child.once("close", done)) };
}

async function runSuite(args, env, count) {
  const code = await node(args, { env }).ended;
  const [ok, bad] = count();
  passed += ok;
  failed += bad;
  if (code !== 0 || bad > 0) broken = true;
}

const report = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null);

await part("install", install);
await part("prepare", () => {
  generateClients();
  buildBin();
});

// Told when it is over: its lines would stand among the tests'.
const beside = node(["scripts/beside-tests.mjs"], { output: "pipe" });
const besideSaid = [];
beside.child.stdout.on("data", (text) => besideSaid.push(text));
beside.child.stderr.on("data", (text) => besideSaid.push(text));
await part("unit, property and store tests", () => {
  const file = join(reports, "vitest.json");
  return runSuite(
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
    ],
    {},
    () => {
      const told = report(file);
      return told ? [told.numPassedTests, told.numFailedTests + told.numFailedTestSuites] : [0, 1];
    },
  );
});
await part("what is left of check and build", async () => {
  const code = await beside.ended;
  process.stderr.write(Buffer.concat(besideSaid));
  if (code !== 0) broken = true;
  if (code !== 0 && code !== 1) finish();
});

const journeys = (name, args, env) =>
  part(name, () => {
    const chromium = browser();
    const file = join(reports, `${name.replaceAll(" ", "-")}.json`);
    return runSuite(
      ["node_modules/@playwright/test/cli.js", "test", ...args],
      { PLAYWRIGHT_JSON_OUTPUT_FILE: file, ...(chromium ? { CHROMIUM_PATH: chromium } : {}), ...env },
      () => {
        const stats = report(file)?.stats;
        return stats ? [stats.expected + stats.flaky, stats.unexpected] : [0, 1];
      },
    );
  });
await journeys("browser journeys", [], {});
// Not at the top: before the packages are installed there is no bundler.
const { buildDriver } = await import("./driver.mjs");
const { startPostgres } = await buildDriver("lib/testing/postgres-server.ts");
const database = await startPostgres();
await journeys("first journey on PostgreSQL", ["e2e/first-journey.spec.ts"], {
  E2E_DATABASE_URL: database.url,
  E2E_PORT: "3401",
});
await database.stop();
finish();

function finish() {
  say(`times: ${times.join(" · ")}`);
  if (broken && failed === 0) failed = 1;
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exit(broken ? 1 : 0);
}
