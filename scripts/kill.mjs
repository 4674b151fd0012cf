/**
 * `npm run kill [-- ROUNDS [sqlite|postgresql]]`: the kill test at length, 200 rounds per database by default.
 */
import { randomInt } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const rounds = Number(process.argv[2] ?? 200);
const only = process.argv[3];
if (!Number.isInteger(rounds) || rounds < 1 || (only && !["sqlite", "postgresql"].includes(only))) {
  process.stderr.write("usage: npm run kill -- [ROUNDS] [sqlite|postgresql]\n");
  process.exit(2);
}
mkdirSync(".cache", { recursive: true });
const driver = join(root, ".cache/kill-main.mjs");
await build({
  entryPoints: ["lib/testing/kill-main.ts"],
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  outfile: driver,
  logLevel: "error",
});
const { killAll } = await import(pathToFileURL(driver).href);
await killAll({ rounds, providers: only ? [only] : ["sqlite", "postgresql"], seed: randomInt(2 ** 31) });
