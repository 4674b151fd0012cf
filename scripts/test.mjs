/**
 * `npm test`: everything, from a fresh clone: packages, clients, checks, unit / property / store tests (SQLite and a
 * throw-away PostgreSQL), the built product in a real Chromium. Prints each part's time and closes with the counts.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { browser, buildApp, buildBin, generateClients, install, root, say } from "./steps.mjs";

const reports = join(root, ".cache/reports");
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });

const times = [];
let passed = 0;
let failed = 0;
let broken = false;

function part(name, work) {
  say(`${name} …`);
  const began = Date.now();
  work();
  times.push(`${name} ${Math.round((Date.now() - began) / 1000)} s`);
}

function runSuite(args, env, count) {
  const done = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  const [ok, bad] = count();
  passed += ok;
  failed += bad;
  if (done.status !== 0) broken = true;
}

const report = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null);

part("install", install);
part("prepare", () => {
  generateClients();
  buildBin();
});
part("check", () => runSuite(["scripts/check.mjs"], {}, () => [0, 0]));
part("unit, property and store tests", () => {
  const file = join(reports, "vitest.json");
  runSuite(
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
part("build", buildApp);
const journeys = (name, args, env) =>
  part(name, () => {
    const chromium = browser();
    const file = join(reports, `${name.replaceAll(" ", "-")}.json`);
    runSuite(
      ["node_modules/@playwright/test/cli.js", "test", ...args],
      { PLAYWRIGHT_JSON_OUTPUT_FILE: file, ...(chromium ? { CHROMIUM_PATH: chromium } : {}), ...env },
      () => {
        const stats = report(file)?.stats;
        return stats ? [stats.expected + stats.flaky, stats.unexpected] : [0, 1];
      },
    );
  });
journeys("browser journeys", [], {});
// Not at the top: before the packages are installed there is no bundler.
const { buildDriver } = await import("./driver.mjs");
const { startPostgres } = await buildDriver("lib/testing/postgres-server.ts");
const database = await startPostgres();
journeys("first journey on PostgreSQL", ["e2e/first-journey.spec.ts"], {
  E2E_DATABASE_URL: database.url,
  E2E_PORT: "3401",
});
await database.stop();

say(`times: ${times.join(" · ")}`);
if (broken && failed === 0) failed = 1;
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(broken ? 1 : 0);
