/**
 * A process to be killed while schedules fire and a batch is carried out: store, runtime and workers, nothing else.
 */
import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error("usage: schedule-kill-process URL");
const store = await openSqlStore({ url, connections: 6 });
const runtime = createRuntime({ store, report: (error) => process.stderr.write(`${String(error)}\n`) });
runtime.startWorkers();
process.stdout.write("ready\n");
