/**
 * A database between two seeds: everything but its charts as migrations left it, so that a seed alone and a seed after
 * others are one history.
 */
import Database from "better-sqlite3";
import pg from "pg";

export interface Emptier {
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** Its charts stay, and its migrations. */
const kept = ["charts", "chart_versions", "_prisma_migrations"];
const copyOf = (table: string): string => `seeds_begin_with_${table}`;

/** Call it before the database is used. */
export async function openEmptier(url: string): Promise<Emptier> {
  const at = url.startsWith("file:") ? onSqlite(url.slice("file:".length)) : await onPostgres(url);
  const tables = (await at.list()).filter((table) => !kept.includes(table));
  await at.run(
    tables.map((table) => `CREATE TABLE "${copyOf(table)}" AS SELECT * FROM "${table}"`).join("; "),
  );
  const statements = tables.map(
    (table) => `DELETE FROM "${table}"; INSERT INTO "${table}" SELECT * FROM "${copyOf(table)}"`,
  );
  // The charts' own changes would be news again.
  const text = [...statements, `UPDATE "charts" SET "change_tx" = 0`].join("; ");
  return { empty: () => at.run(`BEGIN; ${text}; COMMIT`), close: () => at.end() };
}

interface Administrator {
  run(statements: string): Promise<void>;
  list(): Promise<string[]>;
  end(): Promise<void>;
}

function onSqlite(path: string): Administrator {
  const database = new Database(path, { timeout: 10_000 });
  const names = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck();
  return {
    run: (statements) => Promise.resolve(void database.exec(statements)),
    list: () => Promise.resolve(names.all() as string[]),
    end: () => Promise.resolve(void database.close()),
  };
}

async function onPostgres(url: string): Promise<Administrator> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    run: async (statements) => void (await client.query(statements)),
    async list() {
      const { rows } = await client.query<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
      );
      return rows.map(({ name }) => name);
    },
    end: () => client.end(),
  };
}
