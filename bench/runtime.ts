/**
 * The durable runtime's figures: the toy on PostgreSQL and SQLite, beside DBOS and pg-boss in the same run on the same
 * server, and what one caller, two workers, half load and HTTP get.
 *
 * The verb measured is `sendEvent`, the one that the HTTP handler calls: one event a call, default settings, traces stored,
 * fsync on. A round that is not checked by replay afterwards gives no figure. Run by scripts/bench.mjs: `npm run bench -- runtime`.
 * `BENCH_PRINT=json`: the last line is the figures as JSON. `BENCH_PRINT=eps`: only 500 x 2 events by 64 callers, on the
 * server that DATABASE_URL names; the last line is events per second. `-- runtime scale`: what many instances and long logs cost; `-- runtime fairness`: who waits for whom;
 * `-- runtime partitions`: hash-partitioned tables beside whole ones.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startPostgres } from "@/lib/testing/postgres-server";
import { dbosEventsPerSecond, pgBossEventsPerSecond } from "./runtime/beside";
import { besideWorkers, floodedWaits } from "./runtime/fairness";
import { latencyAtHalf, singleAgainstFloor } from "./runtime/latency";
import { httpEventsPerSecond, workersEventsPerSecond } from "./runtime/processes";
import { partitionTables } from "./runtime/partitions";
import { behindLog, besideInstances } from "./runtime/scale";
import { median, startToys, togetherEventsPerSecond, toyEventsPerSecond, withRuntime } from "./runtime/toy";

const callers = 64;
const rounds = 9;
const warmUps = 20;
const turnsOfAll = 3;
const print = process.env["BENCH_PRINT"];
const say = (text: string) => process.stdout.write(`${text}\n`);
const shown = (value: number) => value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 0 });

if (print === "eps") await onlyEps(process.env["DATABASE_URL"]);
else if (process.argv[2] === "scale") await onServer(measureScale);
else if (process.argv[2] === "fairness") await onServer(measureFairness);
else if (process.argv[2] === "partitions") await onServer(measurePartitions);
else await onServer(measureAll);

/** The first rounds, while the process still compiles what it runs, are not counted. */
async function toyRounds(url: string, count: number): Promise<number> {
  return withRuntime(url, async (runtime) => {
    for (let round = 0; round < warmUps; round += 1) await toyEventsPerSecond(runtime, count, callers);
    const found: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      found.push(await toyEventsPerSecond(runtime, count, callers));
    }
    return median(found);
  });
}

async function onlyEps(url: string | undefined): Promise<void> {
  if (!url) throw new Error("BENCH_PRINT=eps wants DATABASE_URL=postgresql://… or file:…");
  say((await toyRounds(url, 500)).toFixed(1));
}

async function onServer(work: (fresh: (name: string) => Promise<string>) => Promise<void>): Promise<void> {
  const server = await startPostgres({ durable: true });
  try {
    await work(async (name) => {
      const client = new pg.Client(server.url);
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return server.url.replace(/\/postgres$/, `/${name}`);
    });
  } finally {
    await server.stop();
  }
}

async function measureAll(fresh: (name: string) => Promise<string>): Promise<void> {
  say(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "?"}, load ${shown(loadavg()[0] ?? 0)}`,
  );
  // On a database as new as the floor's table is; what many instances cost is `scale`'s to tell.
  const alone = await fresh("alone");
  const { single, floor } = await withRuntime(alone, (runtime) => singleAgainstFloor(runtime, alone));
  say(`one caller: ${shown(single)} sends/s; one INSERT of the bare driver: ${shown(floor)}/s`);
  const ours = await fresh("ours");
  // In turns: a machine changes its speed from minute to minute, and what counts is who is how much faster.
  const turns: { pg: number; dbos: number; sqlite: number }[] = [];
  for (let turn = 1; turn <= turnsOfAll; turn += 1) {
    const pgEps = await toyRounds(ours, 500);
    const dbosEps = await dbosEventsPerSecond(await fresh(`dbos${turn}`), 500, callers);
    const sqliteEps = await withSqliteFile((url) => toyRounds(url, 500));
    turns.push({ pg: pgEps, dbos: dbosEps, sqlite: sqliteEps });
    say(
      `500 x 2, ${callers} callers, turn ${turn}: PostgreSQL ${shown(pgEps)} events/s, DBOS ${shown(dbosEps)}, SQLite ${shown(sqliteEps)}`,
    );
  }
  const over = (figure: (turn: (typeof turns)[number]) => number) => median(turns.map(figure));
  const pgEps = over(({ pg }) => pg);
  const ratio = over(({ pg, dbos }) => pg / dbos);
  const sqliteRatio = over(({ sqlite, dbos }) => sqlite / dbos);
  say(`medians: PostgreSQL ${shown(ratio)} x DBOS, SQLite ${shown(sqliteRatio)} x DBOS`);
  say(
    `pg-boss, the same jobs: ${shown(await pgBossEventsPerSecond(await fresh("boss"), 500, callers))} events/s`,
  );
  const many = await withRuntime(ours, (runtime) => toyEventsPerSecond(runtime, 5_000, callers));
  say(`PostgreSQL, 5,000 x 2: ${shown(many)} events/s`);
  const together = await withRuntime(ours, (runtime) => togetherEventsPerSecond(runtime, 2_000, callers));
  say(`PostgreSQL, 2,000 x 2, both events in one call: ${shown(together)} events/s`);

  const { perSecond, p50, p99 } = await withRuntime(ours, (runtime) =>
    latencyAtHalf(runtime, ours, callers, 4),
  );
  say(`at ${shown(perSecond)} events/s: p50 ${shown(p50)} ms, p99 ${shown(p99)} ms`);

  const one = await workersEventsPerSecond(await fresh("one"), 5_000, 1);
  const two = await workersEventsPerSecond(await fresh("two"), 5_000, 2);
  say(`worker processes on full mailboxes: one ${shown(one)}, two ${shown(two)} events/s`);
  const ids = await withRuntime(ours, (runtime) => startToys(runtime, 2_000));
  const httpEps = await httpEventsPerSecond(ours, ids, callers);
  say(`HTTP, ${callers} keep-alive clients: ${shown(httpEps)} events/s`);

  if (print === "json") {
    const figures = {
      pgEps,
      dbosEps: over(({ dbos }) => dbos),
      ratio,
      sqliteEps: over(({ sqlite }) => sqlite),
      singleVsFloor: single / floor,
      twoWorkers: two / one,
      httpEps,
      p50Ms: p50,
      p99Ms: p99,
    };
    say(
      JSON.stringify(figures, (_, value: unknown) =>
        typeof value === "number" ? Number(value.toFixed(3)) : value,
      ),
    );
  }
}

async function measureFairness(fresh: (name: string) => Promise<string>): Promise<void> {
  await withSqliteFile(async (sqlite) => {
    for (const url of [sqlite, await fresh("fairness")]) {
      const { alone, flooded } = await floodedWaits(url);
      const name = url.startsWith("file:") ? "SQLite" : "PostgreSQL";
      say(`${name}: idle instances wait p99 ${shown(alone)} ms, beside 10,000 of one ${shown(flooded)} ms`);
    }
  });
  await withSqliteFile(async (url) => {
    const { p50, p99, calls } = await besideWorkers(url);
    say(
      `SQLite, one sender beside two workers: p50 ${shown(p50)} ms, p99 ${shown(p99)} ms of ${calls} calls`,
    );
  });
}

async function withSqliteFile<T>(work: (url: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "lockstep-bench-"));
  try {
    return await work(`file:${join(folder, "bench.db")}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureScale(fresh: (name: string) => Promise<string>): Promise<void> {
  const url = await fresh("scale");
  await withRuntime(url, async (runtime) => {
    for (const [size, eps] of await behindLog(runtime, url, [10, 1_000, 100_000])) {
      say(`one caller behind ${shown(size)} log entries: ${shown(eps)} events/s`);
    }
    for (const [size, eps] of await besideInstances(runtime, url, [1_000, 10_000, 100_000, 1_000_000])) {
      say(`${callers} callers beside ${shown(size)} instances: ${shown(eps)} events/s`);
    }
  });
}

async function measurePartitions(fresh: (name: string) => Promise<string>): Promise<void> {
  const parts = 16;
  const whole = await fresh("whole");
  const parted = await fresh("parted");
  await partitionTables(parted, parts);
  say(`load ${shown(loadavg()[0] ?? 0)}; ${parts} partitions beside whole tables`);
  // The same callers and rounds for both, in turns; the first turn of each warms it up.
  const sends = await inTurns(5, [whole, parted], (url) =>
    withRuntime(url, async (runtime) => {
      const found: number[] = [];
      for (let round = 0; round < 5; round += 1) found.push(await toyEventsPerSecond(runtime, 500, callers));
      return median(found.slice(2));
    }),
  );
  say(`500 x 2, ${callers} callers: ${asRatio(sends)}`);
  const emptied = await inTurns(3, [whole, parted], (url) => workersEventsPerSecond(url, 5_000, 1));
  say(`a worker process on full mailboxes: ${asRatio(emptied)}`);
  say(`load ${shown(loadavg()[0] ?? 0)}`);
}

/** What `work` finds for each of `urls`, by turn. */
async function inTurns(
  turns: number,
  urls: readonly string[],
  work: (url: string) => Promise<number>,
): Promise<number[][]> {
  const found: number[][] = [];
  for (let turn = 0; turn <= turns; turn += 1) {
    const figures: number[] = [];
    // Who is first takes turns too.
    const order = turn % 2 === 0 ? urls : urls.toReversed();
    for (const url of order) figures[urls.indexOf(url)] = await work(url);
    if (turn > 0) found.push(figures);
  }
  return found;
}

function asRatio(turns: readonly number[][]): string {
  const of = (place: number) => median(turns.map((figures) => figures[place] ?? Number.NaN));
  const ratios = turns.map(([whole = Number.NaN, parted = Number.NaN]) => parted / whole);
  return `whole ${shown(of(0))}/s, parted ${shown(of(1))}/s, ${shown(median(ratios))} x (${ratios.map(shown).join(", ")})`;
}
