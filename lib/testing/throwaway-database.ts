/**
 * Databases made for a moment and dropped after it.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";

export type Provider = "sqlite" | "postgresql";

export interface TestDatabase {
  /** As DATABASE_URL. */
  url: string;
  drop(): Promise<void>;
}

export async function makeSqlite(parent: string = tmpdir()): Promise<TestDatabase> {
  const folder = await mkdtemp(join(parent, "lockstep-sqlite-"));
  return {
    url: `file:${join(folder, "test.db")}`,
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A new database on the server that `serverUrl` names: a copy of `template`, which nobody may be connected to; else empty. */
export async function makePostgres(serverUrl: string, template?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await tamper(
    serverUrl,
    `CREATE DATABASE ${name} ${template === undefined ? "" : `TEMPLATE ${template} STRATEGY FILE_COPY`}`,
  );
  return { url: url.href, drop: () => tamper(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** Runs statements behind the store's back, as an administrator would. */
export async function tamper(url: string, statements: string): Promise<void> {
  if (!url.startsWith("file:")) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(statements);
    } finally {
      await client.end();
    }
    return;
  }
  // A transaction of this very process could not end while we wait for it here.
  await new Promise((resolve) => setImmediate(resolve));
  const database = new Database(url.slice("file:".length), { timeout: 10_000 });
  try {
    database.exec(statements);
  } finally {
    database.close();
  }
}

/** Moves the database's clock: the one way in which time passes in a test. */
export const advance = (url: string, ms: number): Promise<void> =>
  tamper(url, `UPDATE clock SET offset_ms = offset_ms + ${ms}`);
