/**
 * Whether hash partitions of one PostgreSQL pay: the same work on the ordinary schema and on one whose hot per-instance tables
 * are partitioned by their instance's id, in turns on one server. The tables are made over in an empty throw-away database; the
 * product knows nothing of it.
 *
 * Not among them: tasks, whose token is unique over all, which a partitioned table can't promise; and instances, whose rows the
 * optimistic statement names by their place (ctid), which is unique in one partition alone: tried, it stepped strangers' rows.
 */
import pg from "pg";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";

const tables = ["instance_states", "event_log", "snapshots", "mailbox", "timers"];

/** Makes the tables of the database over: `count` partitions each. */
export async function partitionTables(url: string, count: number): Promise<void> {
  // Migrated, and still empty.
  await (await openSqlStore({ url, connections: 1, hints: false })).close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const table of tables) {
      await client.query(`ALTER TABLE "${table}" RENAME TO "${table}_whole"`);
      await client.query(
        `CREATE TABLE "${table}" (LIKE "${table}_whole" INCLUDING ALL) PARTITION BY HASH ("instance_id")`,
      );
      for (let part = 0; part < count; part += 1) {
        await client.query(
          `CREATE TABLE "${table}_${part}" PARTITION OF "${table}" FOR VALUES WITH (MODULUS ${count}, REMAINDER ${part})`,
        );
      }
      await client.query(`DROP TABLE "${table}_whole"`);
    }
  } finally {
    await client.end();
  }
}
