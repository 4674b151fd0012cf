/**
 * A process to be killed: store, runtime and workers, nothing else. It takes calls as JSON lines on standard input and
 * answers each on standard output when it is committed.
 *
 *   in  {"id": 1, "verb": "sendEvent", "args": {…}}       out  {"id": 1, "result": {…}} | {"id": 1, "code": "…"}
 */
import { createInterface } from "node:readline";
import { localActor } from "@/lib/access/actor";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";

export interface KillCall {
  id: number;
  verb: "sendEvent" | "acquireLock" | "releaseLock";
  args: object;
}
export type KillAnswer = { id: number; result: unknown } | { id: number; code: string };

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error("usage: kill-process URL");
const store = await openSqlStore({ url, connections: 5 });
const runtime = createRuntime({ store, report: (error) => process.stderr.write(`${String(error)}\n`) });
runtime.startWorkers();
say({ ready: true });

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, verb, args } = JSON.parse(line) as KillCall;
  const call = runtime[verb] as (actor: typeof localActor, args: object) => ReturnType<Runtime["sendEvent"]>;
  call(localActor, args).then(
    (result) => say({ id, result }),
    (error: unknown) => say({ id, code: (error as { code?: string }).code ?? String(error) }),
  );
});
