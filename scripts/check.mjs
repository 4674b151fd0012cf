/**
 * `npm run check`: format, types, lint, dependency rules, dead code. Runs all of them and tells every failure.
 */
import { spawnSync } from "node:child_process";
import { buildBin, generateClients, install, root, say } from "./steps.mjs";

install();
generateClients();
buildBin();

const checks = [
  [
    "format",
    [
      "node_modules/prettier/bin/prettier.cjs",
      "--check",
      "--log-level=warn",
      "--cache",
      "--cache-location=.cache/prettier",
      ".",
    ],
  ],
  ["routes", ["node_modules/next/dist/bin/next", "typegen"]],
  ["types", ["node_modules/typescript/bin/tsc", "--noEmit"]],
  [
    "lint",
    [
      "node_modules/eslint/bin/eslint.js",
      "--cache",
      "--cache-location",
      ".cache/eslint/",
      "--max-warnings=0",
      ".",
    ],
  ],
  [
    "dependency rules",
    [
      "node_modules/dependency-cruiser/bin/dependency-cruise.mjs",
      "--config",
      ".dependency-cruiser.cjs",
      "app",
      "components",
      "lib",
      "e2e",
      "instrumentation.ts",
    ],
  ],
  ["dead code", ["node_modules/knip/bin/knip.js", "--no-progress"]],
];

let failed = 0;
for (const [name, args] of checks) {
  const began = Date.now();
  const done = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: process.env,
  });
  if (done.status !== 0) failed += 1;
  say(`${done.status === 0 ? "ok  " : "FAIL"} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}
process.exit(failed ? 1 : 0);
