/**
 * The process behind `npm run worker`: steps instances, fires timers and settles locks on the database that DATABASE_URL
 * names, beside any number of others and of servers. It listens on nothing.
 *
 * Holds: told to stop (SIGTERM, SIGINT), it takes nothing new, finishes the batch under way and ends within the grace time.
 */
import { runShutdown } from "./base/shutdown";
import { getRuntimeOrExit } from "./compose";
import { readConfig } from "./config";
import { logError } from "./observe/log";

const graceMs = 10_000;

let stopping = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), graceMs).unref();
    void runShutdown((error) => logError("stopping", error)).then(() => process.exit(0));
  });
}
await getRuntimeOrExit();
process.stdout.write(`A worker steps instances on ${readConfig().databaseName}\n`);
