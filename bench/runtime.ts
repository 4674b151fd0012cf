/** first slice */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { startPostgres } from "@/lib/testing/postgres-server";
import { dbosEventsPerSecond, pgBossEventsPerSecond } from "./runtime/beside";
import { toyEventsPerSecond, startToys, timed } from "./runtime/toy";
import { systemActor } from "@/lib/access/actor";

async function withRuntime<T>(url: string, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const store = await openSqlStore({ url, connections: 10 });
  const runtime = createRuntime({ store, report: (error) => console.error(error) });
  runtime.startWorkers();
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}
const what = process.argv[2] ?? "all";
const server = await startPostgres({ durable: true });
const fresh = async (name: string) => {
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.url.replace(/\/postgres$/, `/${name}`);
};
try {
  if (what !== "ours") {
    console.log("dbos", await dbosEventsPerSecond(await fresh("dbos"), 500, 64));
    console.log("pgboss", await pgBossEventsPerSecond(await fresh("boss"), 500, 64));
  }
  await withRuntime(await fresh("ours"), async (runtime) => {
    for (let n = 0; n < 4; n++) console.log("pg 500x2", await toyEventsPerSecond(runtime, 500, 64));
    console.log("pg 5000x2", await toyEventsPerSecond(runtime, 5000, 64));
    const ids = await startToys(runtime, 300);
    const ms = await timed(ids, 1, (instanceId) =>
      runtime.sendEvent(systemActor, { instanceId, type: "start" }),
    );
    console.log("pg single", (300 * 1000) / ms);
  });
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query("create table floor (id int, v text)");
  const ms = await timed(Array.from({ length: 300 }), 1, () =>
    client.query({ name: "f", text: "insert into floor values ($1, $2)", values: [1, "x".repeat(300)] }),
  );
  console.log("floor", (300 * 1000) / ms);
  await client.end();
  await withRuntime(
    `file:${join(mkdtempSync(join(tmpdir(), "lockstep-bench-")), "a.db")}`,
    async (runtime) => {
      for (let n = 0; n < 4; n++) console.log("sqlite 500x2", await toyEventsPerSecond(runtime, 500, 64));
      const ids = await startToys(runtime, 300);
      const ms = await timed(ids, 1, (instanceId) =>
        runtime.sendEvent(systemActor, { instanceId, type: "start" }),
      );
      console.log("sqlite single", (300 * 1000) / ms);
    },
  );
} finally {
  await server.stop();
}
