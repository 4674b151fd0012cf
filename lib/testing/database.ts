/**
 * A database of its own for each test that wants one, empty, on either provider.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { inject } from "vitest";

export const providers = ["sqlite", "postgresql"] as const;
export type Provider = (typeof providers)[number];

export interface TestDatabase {
  /** As DATABASE_URL. */
  url: string;
  drop(): Promise<void>;
}

export async function freshDatabase(provider: Provider): Promise<TestDatabase> {
  return provider === "sqlite" ? freshSqlite() : freshPostgres(await sharedPostgres());
}

export async function freshSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "lockstep-sqlite-"));
  return {
    url: `file:${join(folder, "test.db")}`,
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A new database on the server that `serverUrl` names. */
export async function freshPostgres(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await command(serverUrl, `CREATE DATABASE ${name}`);
  return { url: url.href, drop: () => command(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** Runs one statement behind the store's back, as an administrator would. */
export async function tamper(url: string, statement: string): Promise<void> {
  if (!url.startsWith("file:")) return command(url, statement);
  const database = new Database(url.slice("file:".length), { timeout: 10_000 });
  try {
    database.exec(statement);
  } finally {
    database.close();
  }
}

/** Moves the database's clock: the one way in which time passes in a test. */
export const advance = (url: string, ms: number): Promise<void> =>
  tamper(url, `UPDATE clock SET offset_ms = offset_ms + ${ms}`);

async function sharedPostgres(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${inject("postgresBroker")}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

async function command(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
