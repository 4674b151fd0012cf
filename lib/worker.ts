/**
 * The process behind `npm run worker`: steps instances, fires timers and settles locks on the database that DATABASE_URL
 * names, beside any number of others and of servers. It listens on nothing.
 *
 * Holds: told to stop (SIGTERM, SIGINT), it takes nothing new, finishes the batch under way and ends within the grace time.
 */
import { runShutdown } from "./base/shutdown";
import { getRuntimeOrExit, type WorkerOptions } from "./compose";
import { readConfig } from "./config";
import { logError } from "./observe/log";
import { readWorkerOptions } from "./worker-options";

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
let options: WorkerOptions;
try {
  options = readWorkerOptions(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`worker: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
await getRuntimeOrExit(options);
const { partitions } = options;
const share = partitions ? ` of partitions ${partitions.from}-${partitions.to}` : "";
process.stdout.write(`A worker steps instances${share} on ${readConfig().databaseName}\n`);
