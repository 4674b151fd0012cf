/**
 * `npm run soak [-- --minutes 10]`: mixed load on PostgreSQL (a server of its own, fsync on) with three worker processes that
 * are killed, stopped and restarted at random, none spared; at the end nothing is lost, nothing doubled, and memory is flat.
 */
import { randomInt } from "node:crypto";
import { buildDriver, wholeNumbers } from "./driver.mjs";
import { buildBin, generateClients, install } from "./steps.mjs";

const { minutes, seed } = wholeNumbers("soak", { minutes: 10, seed: randomInt(1, 2 ** 31) });
install();
generateClients();
buildBin();
const { soak } = await buildDriver("lib/testing/sim/soak-main.ts");
process.exit((await soak({ minutes, seed, program: "dist/worker.js" })) === 0 ? 0 : 1);
