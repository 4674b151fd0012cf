/**
 * `npm run kill [-- ROUNDS [sqlite|postgresql]]`: the kill test at length, 200 rounds per database by default.
 */
import { randomInt } from "node:crypto";
import { buildDriver } from "./driver.mjs";

const rounds = Number(process.argv[2] ?? 200);
const only = process.argv[3];
if (!Number.isInteger(rounds) || rounds < 1 || (only && !["sqlite", "postgresql"].includes(only))) {
  process.stderr.write("usage: npm run kill -- [ROUNDS] [sqlite|postgresql]\n");
  process.exit(2);
}
const { killAll } = await buildDriver("lib/testing/kill-main.ts");
await killAll({ rounds, providers: only ? [only] : ["sqlite", "postgresql"], seed: randomInt(2 ** 31) });
