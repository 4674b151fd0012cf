/** Both simulators at length, for scripts/sim.mjs: print each seed that fails with what is wrong; returns how many. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { startPostgres } from "../postgres-server";
import { makePostgres, makeSqlite } from "../throwaway-database";
import { openEmptier } from "./empty-database";
import { notLinearizable } from "./linearizable";
import { recordLockHistory } from "./lock-history";
import { openRemovedRows } from "./removed-rows";
import { Simulator, type SeedEnd } from "./run-seed";
import { openStatementSimulator } from "./statements";
import { withStraightReads } from "./straight-reads";
import { epochMs } from "./virtual-time";

/** Where a file costs no disk. */
const quickFolder = (): string => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

export async function withSimulator<T>(work: (simulator: Simulator) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(quickFolder(), "lockstep-sim-"));
  const path = join(folder, "sim.db");
  const url = `file:${path}`;
  // The machine's clock decides nothing in a seed, and asking for it costs.
  const store = await withStraightReads(
    await openSqlStore({ url, connections: 1, clock: () => epochMs }),
    url,
  );
  const emptier = await openEmptier(url);
  const removed = openRemovedRows(path);
  try {
    return await work(new Simulator(store, emptier, removed));
  } finally {
    removed.close();
    await emptier.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

export const tellSeed = ({ seed, wrong, trail, crashes }: SeedEnd): string =>
  [`seed ${seed} (${crashes} crashes):`, ...wrong.slice(0, 5), `last: ${trail.slice(-12).join("; ")}`].join(
    "\n  ",
  );

function progress(level: string, seed: number, failed: number, began: number): void {
  const seconds = Math.round((Date.now() - began) / 1000);
  process.stdout.write(`${level}: up to seed ${seed}: ${failed} failed, ${seconds} s\n`);
}

export async function runBoundary(options: { seeds: number; from: number }): Promise<number> {
  const began = Date.now();
  let failed = 0;
  let events = 0;
  let crashes = 0;
  const { from, seeds } = options;
  // Now and then a new one, for what a file and a process gather.
  for (let base = from; base < from + seeds; base += 500) {
    await withSimulator(async (simulator) => {
      for (let seed = base; seed < Math.min(base + 500, from + seeds); seed += 1) {
        const end = await simulator.run(seed);
        events += end.events;
        crashes += end.crashes;
        if (end.wrong.length === 0) continue;
        failed += 1;
        process.stdout.write(`${tellSeed(end)}\n`);
      }
    });
    progress("boundary", Math.min(base + 499, from + seeds - 1), failed, began);
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stdout.write(
    `boundary: seeds ${from} to ${from + seeds - 1}: ${events} sends, ${crashes} crashes, ${failed} failed, ${seconds} s\n`,
  );
  return failed;
}

export async function runStatements({ seeds, from }: { seeds: number; from: number }): Promise<number> {
  const began = Date.now();
  const server = await startPostgres();
  let failed = 0;
  let crashes = 0;
  try {
    for (let base = from; base < from + seeds; base += 500) {
      const database = await makePostgres(server.url);
      const simulator = await openStatementSimulator(database.url);
      for (let seed = base; seed < Math.min(base + 500, from + seeds); seed += 1) {
        const end = await simulator.run(seed);
        crashes += end.crashes;
        if (end.wrong.length === 0) continue;
        failed += 1;
        process.stdout.write(`statement ${tellSeed(end)}\n`);
      }
      await simulator.end();
      await database.drop();
      progress("statements", Math.min(base + 499, from + seeds - 1), failed, began);
    }
  } finally {
    await server.stop();
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stdout.write(
    `statements: seeds ${from} to ${from + seeds - 1}: ${crashes} crashes, ${failed} failed, ${seconds} s\n`,
  );
  return failed;
}

/** On both databases: histories of racing clients on one lock. */
export async function runHistories({ seeds, from }: { seeds: number; from: number }): Promise<number> {
  const began = Date.now();
  const server = await startPostgres();
  let failed = 0;
  try {
    for (const database of [await makeSqlite(quickFolder()), await makePostgres(server.url)]) {
      const store = await openSqlStore({ url: database.url, connections: 12 });
      for (let seed = from; seed < from + seeds; seed += 1) {
        const wrong = notLinearizable(await recordLockHistory(store, seed));
        if (wrong === null) continue;
        failed += 1;
        process.stdout.write(`history ${seed} on ${database.url.split(":", 1)[0] ?? ""}: ${wrong}\n`);
      }
      await store.close();
      await database.drop();
    }
  } finally {
    await server.stop();
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stdout.write(
    `histories: seeds ${from} to ${from + seeds - 1}, on each database: ${failed} failed, ${seconds} s\n`,
  );
  return failed;
}
