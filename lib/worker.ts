/**
 * The process behind `npm run worker`: steps instances, fires timers and settles locks on the database that DATABASE_URL
 * names, beside any number of others and of servers. It listens on nothing.
 *
 * Holds: told to stop (SIGTERM, SIGINT), it takes nothing new, finishes the batch under way and ends within the grace time.
 */
import { parseArgs } from "node:util";
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
const partitions = readPartitions();
await getRuntimeOrExit(partitions ? { partitions } : {});
const share = partitions ? ` of partitions ${partitions.from}-${partitions.to}` : "";
process.stdout.write(`A worker steps instances${share} on ${readConfig().databaseName}\n`);

/** `--partitions 0-31`: those whose instances it steps; others must step the rest. */
function readPartitions(): { from: number; to: number } | null {
  try {
    const { values } = parseArgs({ options: { partitions: { type: "string" } } });
    if (values.partitions === undefined) return null;
    const found = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(values.partitions);
    const from = Number(found?.[1]);
    const to = Number(found?.[2] ?? found?.[1]);
    if (from <= to && to <= 63) return { from, to };
    process.stderr.write(
      `worker: --partitions takes two numbers from 0 to 63, as 0-31, not ${values.partitions}.\n`,
    );
  } catch (error) {
    process.stderr.write(`worker: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  process.exit(2);
}
