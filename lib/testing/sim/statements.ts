/**
 * The statement-level simulator: on PostgreSQL each connection is held before every statement of its transactions and let
 * go in the seed's order; one that waits for a lock is recognised in pg_stat_activity and left waiting.
 *
 * Holds: a process that crashes between two statements is cut off there: its transaction is rolled back.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync } from "node:fs";
import pg from "pg";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { Store } from "@/lib/store/store";
import { openEmptier } from "./empty-database";
import { Simulator, type SeedEnd, type SeedOptions } from "./run-seed";
import { Death } from "./simulated-store";
import { withStraightReads } from "./straight-reads";
import type { CallUnderWay, SimProcess, Watch, World } from "./world";

const current = new AsyncLocalStorage<{ call: CallUnderWay; world: World; process: SimProcess }>();

const watch: Watch = (call, world, process, work) => current.run({ call, world, process }, work);

/** Each statement's turn comes when the schedule says so. */
async function beforeStatement(pid: number, text: string): Promise<string> {
  const at = current.getStore();
  if (!at) return text;
  const { call, world, process } = at;
  call.pid = pid;
  call.rolledBack = text === "ROLLBACK";
  if (!process.dead) {
    call.rests = "held";
    await world.hold(null, `${process.name} ${text.slice(0, 60)}`);
    call.rests = "no";
  }
  // What was to follow is not sent either, COMMIT least of all.
  if ((process.dead || world.abandoned) && text !== "ROLLBACK") throw new Death();
  return world.options.rewrite?.(text) ?? text;
}

/** No machine is lost here, and a deadlock is found at once. */
const hurried = `DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
  EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 20', current_database());
END $$`;

export interface StatementSimulator {
  store: Store;
  /** PostgreSQL's own count of deadlocks in this database. */
  deadlocks(): Promise<number>;
  run(seed: number, options?: SeedOptions): Promise<SeedEnd>;
  end(): Promise<void>;
}

/** The same server by its socket file, where it has one: a statement's way there and back is a third shorter. */
function bySocket(url: string): string {
  const at = new URL(url);
  if (!existsSync(`/tmp/.s.PGSQL.${at.port}`)) return url;
  at.searchParams.set("host", "/tmp");
  return at.href;
}

export async function openStatementSimulator(serverUrl: string): Promise<StatementSimulator> {
  const url = bySocket(serverUrl);
  const monitor = new pg.Client({ connectionString: url });
  await monitor.connect();
  await monitor.query(hurried);
  const store = await withStraightReads(await openSqlStore({ url, connections: 12, beforeStatement }), url);
  const emptier = await openEmptier(url);
  const simulator = new Simulator(store, emptier);
  const blocked = async (pids: readonly number[]): Promise<ReadonlySet<number>> => {
    const { rows } = await monitor.query<{ pid: number }>({
      name: "blocked",
      text: "SELECT pid FROM pg_locks WHERE NOT granted AND pid = ANY($1)",
      values: [pids],
    });
    return new Set(rows.map(({ pid }) => pid));
  };
  const deadlocks = async (): Promise<number> => {
    const { rows } = await monitor.query<{ deadlocks: string }>(
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    return Number(rows[0]?.deadlocks ?? 0);
  };
  return {
    store,
    deadlocks,
    run: (seed, options = {}) =>
      simulator.run(seed, {
        clients: 3,
        operations: 6,
        instances: 2,
        busyRate: 0,
        ...options,
        watch,
        blocked,
      }),
    async end() {
      await emptier.close();
      await monitor.end();
      await store.close();
    },
  };
}
