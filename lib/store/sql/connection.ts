/**
 * The connection to the database: the only file (with sqlite-adapter.ts) that knows Prisma and its drivers.
 *
 * Holds: I9 a transaction commits as a whole or not at all; one that failed for reasons of concurrency alone is run again.
 *        On PostgreSQL a paused or unreachable process is cut off: every wait on the server has its bound.
 * Does not: know a table (tables.ts and its readers do) or a rule of the product.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { empty, join, raw, Sql, sqltag } from "@prisma/client/runtime/client";
import { assert } from "@/lib/base/assert";
import type { PrismaClient as SqliteClient } from "../generated/sqlite/client";
import { asStoreError, isConcurrencyFailure } from "./store-error";
import { insideTransaction } from "./inside-transaction";

export { migrations, type Migration } from "../generated/migrations";
export { empty, join, raw, Sql, sqltag as sql };

export type Provider = "sqlite" | "postgresql";

/** Statements and Prisma's models, inside a transaction or outside. */
export interface Handle {
  /** Rows as plain objects; whole numbers as numbers. */
  query<Row>(statement: Sql): Promise<Row[]>;
  /** How many rows it touched. */
  execute(statement: Sql): Promise<number>;
  readonly models: Models;
}
/** Both clients come from one set of models; their types differ in name alone. */
export type Models = Pick<SqliteClient, "chart" | "chartVersion" | "instance" | "auditEntry">;

export interface DatabaseConnection extends Handle {
  readonly provider: Provider;
  /**
   * Runs `work` in one transaction, up to 5 times when others were in its way. `work` must have no effect but its
   * statements, and use the handle it is given. Calling this inside such a `work` is an assertion error.
   */
  transaction<T>(work: (handle: Handle) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** `file:PATH` or `postgresql://…`. */
  url: string;
  /** PostgreSQL: connections this process may hold. */
  connections: number;
}

/** How long a transaction may last, waiting included. Above it something is wrong, not slow. */
const transactionTimeoutMs = 15_000;
const waitForConnectionMs = 10_000;
const attemptsMax = 5;

export async function connect(options: ConnectionOptions): Promise<DatabaseConnection> {
  const { provider, client, end } = options.url.startsWith("file:")
    ? await openSqlite(options.url)
    : await openPostgres(options);
  try {
    await client.$connect();
  } catch (error) {
    await end();
    throw asStoreError(error);
  }

  async function attempt<T>(work: (handle: Handle) => Promise<T>): Promise<T> {
    let worked = false;
    try {
      return await client.$transaction(
        async (tx) => {
          const result = await insideTransaction.run(true, () => work(handleOf(tx)));
          worked = true;
          return result;
        },
        { timeout: transactionTimeoutMs, maxWait: waitForConnectionMs },
      );
    } catch (error) {
      throw asStoreError(error, worked);
    }
  }

  return {
    provider,
    ...handleOf(client),
    async transaction(work) {
      assert(
        insideTransaction.getStore() !== true,
        "a transaction inside a transaction would wait for itself; pass the handle on",
      );
      for (let tried = 1; ; tried += 1) {
        try {
          return await attempt(work);
        } catch (error) {
          if (tried >= attemptsMax || !isConcurrencyFailure(error)) throw error;
          await new Promise((done) => setTimeout(done, Math.random() * 10 * tried));
        }
      }
    },
    async close() {
      await client.$disconnect();
      await end();
    },
  };
}

type Client = Pick<SqliteClient, "$queryRaw" | "$executeRaw"> & Models;

function handleOf(client: Client): Handle {
  return {
    models: client,
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
    async execute(statement: Sql): Promise<number> {
      try {
        return await client.$executeRaw(statement);
      } catch (error) {
        throw asStoreError(error);
      }
    },
  };
}

interface Opened {
  provider: Provider;
  client: SqliteClient;
  end: () => Promise<void>;
}

// Each driver is loaded only by who uses it: together they would double a process's start.

async function openSqlite(url: string): Promise<Opened> {
  const { PrismaClient } = await import("../generated/sqlite/client");
  const { SqliteAdapterFactory } = await import("./sqlite-adapter");
  const path = resolve(/* turbopackIgnore: true */ url.slice("file:".length));
  mkdirSync(dirname(path), { recursive: true });
  const client = new PrismaClient({ adapter: new SqliteAdapterFactory({ path, busyTimeoutMs: 10_000 }) });
  return { provider: "sqlite", client, end: () => Promise.resolve() };
}

/**
 * What the server itself enforces on our connections. A process stopped inside a step must not park its rows: after
 * 5 s idle in a transaction, or 15 s unreachable, the server ends it.
 */
const serverTimeouts = {
  idle_in_transaction_session_timeout: 5_000,
  lock_timeout: 5_000,
  statement_timeout: 30_000,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 15_000,
};

async function openPostgres({ url, connections }: ConnectionOptions): Promise<Opened> {
  const { PrismaClient } = await import("../generated/postgresql/client");
  const { PrismaPg } = await import("@prisma/adapter-pg");
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: waitForConnectionMs,
    keepAlive: true,
    application_name: "lockstep",
    options: Object.entries(serverTimeouts)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
  });
  // A connection that breaks while idle is replaced by the pool; its error must not end the process.
  pool.on("error", () => undefined);
  const adapter = new PrismaPg(pool, { statementNameGenerator: ({ sql }) => statementName(sql) });
  const client: unknown = new PrismaClient({ adapter });
  return { provider: "postgresql", client: client as SqliteClient, end: () => pool.end() };
}

/** The statements of this house are few and constant in text, so that the server can keep each one prepared. */
const statementNames = new Map<string, string>();
function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = `ls_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
    statementNames.set(text, name);
  }
  return name;
}
