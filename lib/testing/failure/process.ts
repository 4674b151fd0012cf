/**
 * A process to be hurt: store, runtime and workers. It takes calls as JSON lines on standard input and answers each on
 * standard output when it is committed. Told to stop (SIGTERM), it ends as the product does.
 *
 *   in  {"id": 1, "verb": "sendEvent", "args": {…}}   out  {"id": 1, "result": {…}} | {"id": 1, "code": "…", "message": "…"}
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { localActor } from "@/lib/access/actor";
import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { runTasks, type TaskModule } from "./run-tasks";
import { passTime, shiftClock, wounded, type Wounds } from "./wounds";

export interface ProcessOptions extends Wounds {
  url: string;
  /** False: it answers calls and steps nothing else. */
  workers?: boolean;
  /** A module whose functions carry out tasks in this process, killed with it. */
  tasks?: string;
  /** SQLite: pages that its database may have. */
  pagesMax?: number;
  /** False: it hears no hint, and gives none. */
  hints?: boolean;
  /** What chance comes to, always. */
  chance?: number;
}

const say = (line: object) => void writeSync(1, `${JSON.stringify(line)}\n`);

const options = JSON.parse(process.argv[2] ?? "{}") as ProcessOptions;
const { url, pagesMax, clockMs, hints, chance } = options;
if (chance !== undefined) Math.random = () => chance;
if (clockMs !== undefined) shiftClock(clockMs);
const real = await openSqlStore({
  url,
  connections: 6,
  ...(pagesMax === undefined ? {} : { pagesMax }),
  ...(hints === undefined ? {} : { hints }),
});
const hurts = ["killAt", "stopAt", "killIn", "loseAnswerOf"] as const;
const store = hurts.some((name) => options[name] !== undefined) ? wounded(real, options) : real;
const runtime = createRuntime({ store, report: (error) => say({ reported: String(error) }) });
if (options.workers !== false) runtime.startWorkers();
process.on("SIGTERM", () => void runtime.close().then(() => process.exit(0)));
say({ ready: true });
if (options.tasks !== undefined) void runTasks(runtime, (await import(options.tasks)) as TaskModule);

const lines = createInterface({ input: process.stdin });
// Whoever started it is gone.
lines.on("close", () => process.exit(1));
lines.on("line", (line) => {
  const { id, verb, args } = JSON.parse(line) as { id: number; verb: string; args: object };
  const verbs = runtime as unknown as Record<
    string,
    (actor: typeof localActor, args: object) => Promise<unknown>
  >;
  if (verb === "passTime") {
    passTime((args as { ms: number }).ms);
    return say({ id, result: null });
  }
  const call = verbs[verb] ?? (() => Promise.reject(new Error(`there is no verb ${verb}`)));
  call(localActor, args).then(
    (result) => say({ id, result }),
    (error: unknown) => {
      const { code, message, details, retry } = error as Record<string, unknown>;
      say({ id, code: code ?? String(error), message, details, retry });
    },
  );
});
