/**
 * The connection to the database: reads through Prisma, transactions straight on the driver (README.md says why). The only
 * file, with sqlite-adapter.ts, postgres-pool.ts and statement.ts, that knows Prisma and its drivers.
 *
 * Holds: I9 a transaction commits as a whole or not at all; one that failed for reasons of concurrency alone is run again.
 * Does not: know a table (tables.ts and its readers do) or a rule of the product.
 */
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { LockstepError } from "@/lib/base/errors";
import type { PrismaClient as SqliteClient } from "../generated/sqlite/client";
import type { Hints } from "./connection-hints";
import { markInside, refuseInside } from "./inside-transaction";
import type { BeforeStatement, Handle, Prepared, Sql } from "./statement";
import { asStoreError, isConcurrencyFailure } from "./store-error";

export { migrations, type Migration } from "../generated/migrations";

export type Provider = "sqlite" | "postgresql";

/** Reads what is committed, through Prisma: statements and models. */
export interface Reader {
  /** Rows as plain objects; whole numbers as numbers. */
  query<Row>(statement: Sql): Promise<Row[]>;
  readonly models: Models;
}
/** Both clients come from one set of models; their types differ in name alone. */
export type Models = Pick<SqliteClient, "chart" | "chartVersion" | "instance">;

export interface DatabaseConnection extends Reader {
  readonly provider: Provider;
  /**
   * Runs `work` in one transaction, up to 5 times when others were in its way. `work` must have no effect but its
   * statements, and use the handle it is given. Calling this inside such a `work` is an assertion error.
   */
  transaction<T>(work: (handle: Handle) => Promise<T>): Promise<T>;
  /** PostgreSQL: one statement that commits by itself, straight on the driver. Null on SQLite. */
  readonly alone: (<Row>(this: void, statement: Prepared) => Promise<Row[]>) | null;
  /** How often a transaction was run again since the connection was made, because others were in its way (40P01, 40001). */
  repeated(): number;
  /** Null, or what keeps it from writing, in a sentence. */
  trouble(): string | null;
  /** Begins to hear of work that other processes leave; null where there is no way to tell. */
  listen(told: () => void): Promise<Hints | null>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** `file:PATH`, `file::memory:` (this process alone) or `postgresql://…`. */
  url: string;
  /** PostgreSQL: connections this process may hold. */
  connections: number;
  /** SQLite: instead of the machine's clock, ms since the epoch; never below what it has given. */
  clock?: () => number;
  /** PostgreSQL: false: neither sends nor hears hints of work, as where a pooler knows no LISTEN. */
  hints?: boolean;
  /** Tests only, on PostgreSQL: holds each statement of a transaction until it resolves. */
  beforeStatement?: BeforeStatement;
  /** Tests only, on SQLite: pages that the database file may have. */
  pagesMax?: number;
}

const attemptsMax = 5;

export async function connect(options: ConnectionOptions): Promise<DatabaseConnection> {
  const opened = options.url.startsWith("file:") ? await openSqlite(options) : await openPostgres(options);
  const { provider, client } = opened;
  let repeated = 0;
  try {
    await client.$connect();
  } catch (error) {
    await opened.end();
    throw asStoreError(error);
  }

  return {
    provider,
    models: client,
    alone: opened.alone,
    repeated: () => repeated,
    trouble: opened.trouble,
    async query<Row>(statement: Sql): Promise<Row[]> {
      try {
        const rows = await client.$queryRaw<Record<string, unknown>[]>(statement);
        for (const row of rows) {
          for (const name in row) if (typeof row[name] === "bigint") row[name] = Number(row[name]);
        }
        return rows as Row[];
      } catch (error) {
        throw asStoreError(error);
      }
    },
    async transaction(work) {
      refuseInside(() => "one inside another; pass the handle on");
      for (let tried = 1; ; tried += 1) {
        try {
          return await opened.transaction((handle) => markInside(() => work(handle)));
        } catch (error) {
          if (tried >= attemptsMax || !isConcurrencyFailure(error)) throw error;
          repeated += 1;
          await new Promise((done) => setTimeout(done, Math.random() * 10 * tried));
        }
      }
    },
    async listen(told) {
      if (provider === "sqlite" || options.hints === false) return null;
      return (await import("./connection-hints")).openHints(options.url, told);
    },
    async close() {
      await client.$disconnect();
      await opened.end();
    },
  };
}

interface Opened {
  provider: Provider;
  client: SqliteClient;
  transaction<T>(work: (handle: Handle) => Promise<T>): Promise<T>;
  alone: (<Row>(this: void, statement: Prepared) => Promise<Row[]>) | null;
  trouble: () => string | null;
  end: () => Promise<void>;
}

// Each driver is loaded only by who uses it: together they would double a process's start.

async function openSqlite({ url, pagesMax }: ConnectionOptions): Promise<Opened> {
  const { PrismaClient } = await import("../generated/sqlite/client");
  const { memoryPath, openSqliteAdapter } = await import("./sqlite-adapter");
  const name = url.slice("file:".length);
  const path = name === memoryPath ? name : resolve(/* turbopackIgnore: true */ name);
  const open = async () => {
    if (path !== memoryPath) mkdirSync(dirname(path), { recursive: true });
    const limits = { busyTimeoutMs: 10_000, ...(pagesMax === undefined ? {} : { pagesMax }) };
    return openSqliteAdapter({ path, ...limits });
  };
  const adapter = await open().catch((error: unknown) => {
    throw cantOpen(path, error);
  });
  return {
    provider: "sqlite",
    client: new PrismaClient({ adapter: adapter.factory }),
    transaction: (work) => adapter.transaction(work),
    alone: null,
    trouble: () => adapter.trouble(),
    end: () => Promise.resolve(),
  };
}

function cantOpen(path: string, cause: unknown): LockstepError {
  const told = asStoreError(cause);
  if (told instanceof LockstepError && told.code === "database-busy") return told;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new LockstepError(
    "database-unavailable",
    `The database file ${path} can't be opened: ${why}. It and its folder must be this user's to write; DATABASE_URL names another file.`,
    { cause },
  );
}

async function openPostgres({ url, connections, beforeStatement }: ConnectionOptions): Promise<Opened> {
  const { PrismaClient } = await import("../generated/postgresql/client");
  const { PrismaPg } = await import("@prisma/adapter-pg");
  const { loneStatements, openPool, postgresTransaction, statementName } = await import("./postgres-pool");
  const pool = openPool(url, connections);
  const lone = loneStatements(pool, beforeStatement);
  const adapter = new PrismaPg(pool, { statementNameGenerator: ({ sql }) => statementName(sql) });
  const client: unknown = new PrismaClient({ adapter });
  return {
    provider: "postgresql",
    client: client as SqliteClient,
    transaction: (work) => postgresTransaction(pool, work, beforeStatement),
    alone: lone.run,
    trouble: () => null,
    end() {
      lone.close();
      return pool.end();
    },
  };
}
