import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { startPostgres } from "@/lib/testing/postgres-server";
import { startToys, timed } from "./runtime/toy";
import { systemActor } from "@/lib/access/actor";
import pg from "pg";
const server = await startPostgres({ durable: true });
const store = await openSqlStore({ url: server.url, connections: 4 });
const runtime = createRuntime({ store, report: console.error });
if (process.argv[2]) runtime.startWorkers();
let f = 0,
  w = 0,
  fails = 0;
const alone = store.alone!;
const of = alone.find,
  ow = alone.write;
alone.find = async (id) => {
  const t = performance.now();
  const r = await of(id);
  f += performance.now() - t;
  return r;
};
alone.write = async (s) => {
  const t = performance.now();
  const r = await ow(s);
  w += performance.now() - t;
  if (!r) fails++;
  return r;
};
const client = new pg.Client(server.url);
await client.connect();
await client.query("CREATE TABLE bench_floor (id INT, text TEXT)");
for (let k = 0; k < 6; k++) {
  const ids = await startToys(runtime, 500);
  f = w = fails = 0;
  const ms = await timed(ids, 1, (instanceId) =>
    runtime.sendEvent(systemActor, { instanceId, type: "start" }),
  );
  const ms2 = await timed(ids, 1, () =>
    client.query({
      name: "floor",
      text: "INSERT INTO bench_floor VALUES ($1, $2)",
      values: [1, "x".repeat(300)],
    }),
  );
  const ms3 = await timed(ids, 1, () => client.query({ name: "sel", text: "SELECT 1", values: [] }));
  console.log(
    "per send ms",
    (ms / 500).toFixed(3),
    "find",
    (f / 500).toFixed(3),
    "write",
    (w / 500).toFixed(3),
    "fails",
    fails,
    "floor",
    (ms2 / 500).toFixed(3),
    "select1",
    (ms3 / 500).toFixed(3),
  );
}
await client.end();
await runtime.close();
await server.stop();
