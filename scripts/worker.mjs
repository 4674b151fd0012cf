/** `npm run worker`: a process more that steps instances on DATABASE_URL; as many as one likes. */
import { buildBin, generateClients, install } from "./steps.mjs";

install();
generateClients();
buildBin();
process.env.NODE_ENV = "production";
// Examples are for a server's first start.
process.env.LOCKSTEP_SEEDS = "off";
await import("../dist/worker.js");
