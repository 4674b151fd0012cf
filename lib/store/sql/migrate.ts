/**
 * Brings a database up to this version's schema at start, in Prisma's own books (_prisma_migrations), so that its command
 * line finds them in order.
 *
 * Holds: several processes starting at once apply each migration once; a migration is applied as a whole or not at all;
 *        a database that was changed by hand or by a newer version is refused, never guessed at.
 */
import { randomUUID } from "node:crypto";
import { LockstepError } from "@/lib/base/errors";
import { migrations, type DatabaseConnection, type Migration } from "./connection";
import { raw, sql, type Handle } from "./statement";

const books = {
  sqlite: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL, "finished_at" DATETIME, "migration_name" TEXT NOT NULL, "logs" TEXT, "rolled_back_at" DATETIME, "started_at" DATETIME NOT NULL DEFAULT current_timestamp, "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0)`,
  postgresql: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ, "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ, "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`,
};
/** The number Prisma's own `migrate deploy` takes, so that it and we exclude each other. */
const prismaAdvisoryLock = 72_707_369;

interface Applied {
  name: string;
  checksum: string;
  finished: number;
}

/** Throws `database-unavailable` with the way out when the database isn't one this version can serve. */
export async function migrate(connection: DatabaseConnection): Promise<void> {
  const { provider } = connection;
  await connection.transaction(async (handle) => {
    // SQLite: the write lock excludes the others. PostgreSQL: this one, given back at the transaction's end.
    if (provider === "postgresql") {
      await handle.execute(sql`SET LOCAL lock_timeout = '60s'`);
      await handle.query(sql`SELECT pg_advisory_xact_lock(${raw(String(prismaAdvisoryLock))})`);
    }
    await handle.execute(raw(books[provider]));
    const applied = await handle.query<Applied>(
      sql`SELECT "migration_name" AS "name", "checksum", CASE WHEN "finished_at" IS NULL THEN 0 ELSE 1 END AS "finished" FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL ORDER BY "migration_name"`,
    );
    const known = migrations[provider];
    refuseStrange(applied, known);
    const done = new Set(applied.map((each) => each.name));
    for (const migration of known) {
      if (!done.has(migration.name)) await apply(handle, provider, migration);
    }
    if (provider === "postgresql") await raiseTransactionBase(handle);
  });
}

function refuseStrange(applied: Applied[], known: Migration[]): void {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, checksum, finished } of applied) {
    const mine = byName.get(name);
    if (!mine) {
      throw refusal(
        `The database has the migration ${name}, which this version of Lockstep does not know: it was written by a newer one. Start that version, or another database.`,
        name,
      );
    }
    if (mine.checksum !== checksum) {
      throw refusal(
        `The migration ${name} in the database is not the one of this version (checksum ${checksum.slice(0, 12)}…, expected ${mine.checksum.slice(0, 12)}…). Restore the migration's file, or start with another database.`,
        name,
      );
    }
    if (!finished) {
      throw refusal(
        `The migration ${name} was begun with Prisma and not finished. Mend the database, then say so with \`npx prisma migrate resolve\`.`,
        name,
      );
    }
  }
}

const refusal = (message: string, migration: string): LockstepError =>
  new LockstepError("database-unavailable", message, { details: { migration } });

async function apply(handle: Handle, provider: "sqlite" | "postgresql", migration: Migration): Promise<void> {
  for (const statement of statementsOf(migration.sql)) await handle.execute(raw(statement));
  // Prisma keeps integer milliseconds on SQLite, timestamps on PostgreSQL.
  const at = provider === "sqlite" ? raw(String(Date.now())) : sql`now()`;
  await handle.execute(
    sql`INSERT INTO "_prisma_migrations" ("id", "checksum", "finished_at", "migration_name", "started_at", "applied_steps_count") VALUES (${randomUUID()}, ${migration.checksum}, ${at}, ${migration.name}, ${at}, 1)`,
  );
}

/** Migrations here are plain statements, each ending with `;` at a line's end. */
const statementsOf = (text: string): string[] =>
  text
    .replace(/^\s*--.*$/gm, "")
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");

/**
 * A dump restored into a new server counts its transactions from the start again. The base keeps our numbers growing, so
 * that feeds and mailboxes keep their order.
 */
async function raiseTransactionBase(handle: Handle): Promise<void> {
  const highest = ["event_log", "lock_log", "charts"].map(
    (name) => `SELECT max("change_tx") AS m FROM "${name}"`,
  );
  await handle.execute(
    sql`UPDATE "clock" SET "tx_base" = s.m - pg_current_xact_id()::text::bigint + 1 FROM (SELECT max(m) AS m FROM (${raw([...highest, `SELECT max("enqueued_tx") FROM "mailbox"`].join(" UNION ALL "))}) AS t) AS s WHERE s.m >= pg_current_xact_id()::text::bigint + "tx_base"`,
  );
}
