/**
 * `npm start`: from a fresh clone to http://127.0.0.1:3000, everything skipped that is up to date. Then serves from this
 * very process, so that one signal stops it.
 */
import { buildApp, buildBin, generateClients, install } from "./steps.mjs";

install();
generateClients();
buildBin();
buildApp();
process.env.NODE_ENV = "production";
await import("../dist/serve.js");
