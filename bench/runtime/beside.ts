/**
 * The same toy on what people use today, on the same PostgreSQL: DBOS Transact (a workflow that receives two messages)
 * and pg-boss (two jobs fetched and completed, each an update of the instance's row).
 */
import { DBOS } from "@dbos-inc/dbos-sdk";
import PgBoss from "pg-boss";
import { median, timed } from "./toy";

/** After eight it gets no faster. */
const warmUps = 8;
const rounds = 5;

const toy = DBOS.registerWorkflow(
  async () => {
    const first = await DBOS.recv<string>("events", 600);
    const second = await DBOS.recv<string>("events", 600);
    return `${first} ${second}`;
  },
  { name: "toy" },
);

/** From the first send until every workflow has returned; the median of five rounds. Of each `url` once. */
export async function dbosEventsPerSecond(url: string, count: number, senders: number): Promise<number> {
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logLevel: "error", systemDatabasePoolSize: 20 });
  await DBOS.launch();
  const round = async (name: string): Promise<number> => {
    const handles = await Promise.all(
      Array.from({ length: count }, (_, n) => DBOS.startWorkflow(toy, { workflowID: `${name}-${n}` })()),
    );
    // Until every one of them waits for its first message.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const began = performance.now();
    for (const type of ["start", "finish"]) {
      await timed(handles, senders, ({ workflowID }) => DBOS.send(workflowID, type, "events"));
    }
    const results = await Promise.all(handles.map((handle) => handle.getResult()));
    if (results.some((result) => result !== "start finish")) throw new Error("DBOS: an event is lost");
    return (2 * count * 1000) / (performance.now() - began);
  };
  try {
    // As on our side, the first rounds warm the process up.
    for (let warmUp = 0; warmUp < warmUps; warmUp += 1) await round(`warm-${warmUp}`);
    const found: number[] = [];
    for (let n = 0; n < rounds; n += 1) found.push(await round(`round-${n}`));
    return median(found);
  } finally {
    await DBOS.shutdown();
  }
}

/** From the first job sent until the last is completed. A queue alone: no state, no log, no order per instance. */
export async function pgBossEventsPerSecond(url: string, count: number, senders: number): Promise<number> {
  const boss = new PgBoss({ connectionString: url, max: 20 });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  try {
    await boss.createQueue("toy");
    let done = 0;
    let finished: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (finished = resolve));
    await boss.work("toy", { batchSize: 64, pollingIntervalSeconds: 0.5 }, (jobs) => {
      done += jobs.length;
      if (done >= 2 * count) finished();
      return Promise.resolve();
    });
    const began = performance.now();
    const jobs = Array.from({ length: 2 * count }, (_, n) => ({ instance: n % count }));
    await timed(jobs, senders, (job) => boss.send("toy", job));
    await all;
    return (2 * count * 1000) / (performance.now() - began);
  } finally {
    await boss.stop({ graceful: false });
  }
}
