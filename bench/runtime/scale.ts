/**
 * Whether an event costs more when there is more: a database with many instances, an instance with a long log. What is
 * there besides the measured instances is copied in by SQL: rows as the runtime writes them, under other ids.
 */
import pg from "pg";
import { systemActor } from "@/lib/access/actor";
import type { Runtime } from "@/lib/runtime/runtime";
import { median, startToys, timed, toyEventsPerSecond } from "./toy";

const loopChart = {
  lockstep: 1,
  id: "loop",
  initial: "a",
  states: { a: { on: { go: "b" } }, b: { on: { go: "a" } } },
};

/** Rounds that are not counted, while the process compiles what it runs. */
const warmUps = 10;

/** Events per second (64 callers) beside each number of instances. */
export async function besideInstances(
  runtime: Runtime,
  url: string,
  sizes: readonly number[],
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  await withClient(url, async (client) => {
    const [template] = await startToys(runtime, 1);
    let made = 0;
    for (let warmUp = 0; warmUp < warmUps; warmUp += 1) await toyEventsPerSecond(runtime, 500, 64);
    for (const size of sizes) {
      await copyRows(client, "instances", "id", template, made, size);
      await copyRows(client, "instance_states", "instance_id", template, made, size);
      made = size;
      await client.query("ANALYZE");
      const rounds: number[] = [];
      for (let round = 0; round < 5; round += 1) rounds.push(await toyEventsPerSecond(runtime, 500, 64));
      found.set(size, median(rounds));
    }
  });
  return found;
}

/** Events per second of one caller on one instance, behind each number of log entries. */
export async function behindLog(
  runtime: Runtime,
  url: string,
  sizes: readonly number[],
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  await runtime.createChart(systemActor, { id: "loop", text: JSON.stringify(loopChart) });
  await runtime.publishVersion(systemActor, { chartId: "loop", revision: 1 });
  await withClient(url, async (client) => {
    const { id: other } = await runtime.startInstance(systemActor, { chartId: "loop" });
    const warm = () => runtime.sendEvent(systemActor, { instanceId: other, type: "go" });
    await timed(Array(warmUps * 200), 1, warm);
    for (const size of sizes) {
      const { id } = await runtime.startInstance(systemActor, { chartId: "loop" });
      const go = () => runtime.sendEvent(systemActor, { instanceId: id, type: "go" });
      await go();
      const columns = await columnsOf(client, "event_log");
      const values = columns.map((name) => (name === "seq" ? "g" : `"${name}"`)).join(", ");
      await client.query(
        `INSERT INTO event_log (${columns.map((name) => `"${name}"`).join(", ")}) SELECT ${values} FROM event_log, generate_series(3, $2) AS g WHERE instance_id = $1 AND seq = 2`,
        [id, size],
      );
      await client.query("UPDATE instances SET seq = $2, snapshot_seq = $2 WHERE id = $1", [id, size]);
      const rounds: number[] = [];
      for (let round = 0; round < 5; round += 1) rounds.push(200_000 / (await timed(Array(200), 1, go)));
      found.set(size, median(rounds));
    }
  });
  return found;
}

async function copyRows(
  client: pg.Client,
  table: string,
  idColumn: string,
  template: string | undefined,
  from: number,
  to: number,
): Promise<void> {
  const columns = await columnsOf(client, table);
  const values = columns.map((name) => (name === idColumn ? "'copy-' || g" : `"${name}"`)).join(", ");
  await client.query(
    `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(", ")}) SELECT ${values} FROM ${table}, generate_series($2::int, $3::int) AS g WHERE ${idColumn} = $1`,
    [template, from + 1, to],
  );
}

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1 AND table_schema = 'public'",
    [table],
  );
  return rows.map(({ name }) => name);
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
