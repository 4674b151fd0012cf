/**
 * The store's reads without Prisma's client between: a third of a seed's time went into it. The statements are the store's
 * own, so a read sees what it sees in the product; what the client makes of rows is the contract suite's.
 */
import Database from "better-sqlite3";
import pg from "pg";
import type { ChartRow, VersionRow } from "@/lib/store/charts";
import type { Reader } from "@/lib/store/sql/connection";
import { planByKey, statementName, wholeNumbers } from "@/lib/store/sql/postgres-pool";
import { toColumn } from "@/lib/store/sql/sqlite-adapter";
import { sql, type Sql } from "@/lib/store/sql/statement";
import { storeReads } from "@/lib/store/sql/store-reads";
import { charts, chartVersions } from "@/lib/store/sql/tables";
import type { Store } from "@/lib/store/store";

/** Ends with `close()`. */
export async function withStraightReads(store: Store, url: string): Promise<Store> {
  const straight = url.startsWith("file:") ? onSqlite(url.slice("file:".length)) : await onPostgres(url);
  return {
    ...store,
    ...storeReads(straight as unknown as Reader, store.database),
    async findChart(id) {
      const [row] = await straight.query<ChartRow>(
        sql`SELECT ${charts.all} FROM ${charts.name} WHERE "id" = ${id}`,
      );
      return row ?? null;
    },
    async findVersion(id, version) {
      const [row] = await straight.query<VersionRow>(
        sql`SELECT ${chartVersions.all} FROM ${chartVersions.name} WHERE "chart_id" = ${id} AND "version" = ${version}`,
      );
      return row ?? null;
    },
    async close() {
      await straight.end();
      await store.close();
    },
  };
}

interface Straight extends Pick<Reader, "query"> {
  end(): Promise<void>;
}

function onSqlite(path: string): Straight {
  const database = new Database(path, { readonly: true, timeout: 10_000 });
  database.pragma("cache_size = -16000");
  const prepared = new Map<string, Database.Statement<unknown[]>>();
  return {
    query<Row>({ sql: text, values }: Sql) {
      let statement = prepared.get(text);
      if (!statement) prepared.set(text, (statement = database.prepare<unknown[]>(text)));
      return Promise.resolve(statement.all(...values.map(toColumn)) as Row[]);
    },
    end: () => Promise.resolve(void database.close()),
  };
}

/** One connection: a read waits for no lock. */
async function onPostgres(url: string): Promise<Straight> {
  const client = new pg.Client({
    connectionString: url,
    types: wholeNumbers,
    options: planByKey,
    pipeline: true,
  });
  await client.connect();
  return {
    async query<Row>({ text, values }: Sql) {
      const { rows } = await client.query({ name: statementName(text), text, values });
      return rows as Row[];
    },
    end: () => client.end(),
  };
}
