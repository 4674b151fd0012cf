/**
 * A process to be killed while tasks begin, are claimed, fail and are completed: store, runtime, workers and a few task
 * workers of its own.
 */
import { localActor } from "@/lib/access/actor";
import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";

const [url, round] = process.argv.slice(2);
if (url === undefined || round === undefined) throw new Error("usage: task-kill-process URL ROUND");
const store = await openSqlStore({ url, connections: 6 });
const runtime = createRuntime({ store, report: (error) => process.stderr.write(`${String(error)}\n`) });
runtime.startWorkers();
process.stdout.write("ready\n");

async function work(name: number): Promise<void> {
  for (;;) {
    const args = { types: ["count"], workerId: `${process.pid}-${name}`, max: 2, waitMs: 1_000 };
    const { tasks } = await runtime.claimTasks(localActor, args);
    for (const { token, attempt, idempotencyKey } of tasks) {
      if (attempt === 1 && Math.random() < 0.2) {
        await runtime.failTask(localActor, { token, error: { code: "chance", message: "" } });
      } else {
        await runtime.completeTask(localActor, { token, output: idempotencyKey });
        process.stdout.write("completed\n");
      }
    }
  }
}
async function start(): Promise<void> {
  for (let n = 0; n < 40; n += 1) {
    const id = `r${round}-${n}`;
    await runtime.startInstance(localActor, { chartId: "kill", id, input: n % 4, idempotencyKey: id });
  }
}
await Promise.all([start(), work(1), work(2), work(3)]);
