/**
 * A database of its own for each vitest test that wants one, on either provider.
 */
import { rmSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname } from "node:path";
import { inject } from "vitest";
import { watchNesting } from "@/lib/store/sql/inside-transaction";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { quickFolder } from "./quick-folder";
import { makePostgres, makeSqlite, type Provider, type TestDatabase } from "./throwaway-database";

export { advance, tamper, type Provider, type TestDatabase } from "./throwaway-database";

watchNesting();

export const providers = ["sqlite", "postgresql"] as const;

/** With this version's tables, and nothing in them: a copy, because a copy is made sooner than all migrations are applied. */
export async function freshDatabase(provider: Provider): Promise<TestDatabase> {
  if (provider === "postgresql") {
    const { url, template } = await sharedPostgres();
    return makePostgres(url, template);
  }
  const [database, template] = await Promise.all([makeSqlite(quickFolder()), sqliteTemplate()]);
  await copyFile(pathOf(template), pathOf(database));
  return database;
}

/** Without a table. */
export async function emptyDatabase(provider: Provider): Promise<TestDatabase> {
  return provider === "sqlite" ? makeSqlite(quickFolder()) : makePostgres((await sharedPostgres()).url);
}

async function sharedPostgres(): Promise<{ url: string; template: string }> {
  const answer = await fetch(`http://127.0.0.1:${inject("postgresBroker")}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text) as { url: string; template: string };
}

let migrated: Promise<TestDatabase> | null = null;
const sqliteTemplate = (): Promise<TestDatabase> => (migrated ??= migratedSqlite());

async function migratedSqlite(): Promise<TestDatabase> {
  const database = await makeSqlite(quickFolder());
  process.once("exit", () => rmSync(dirname(pathOf(database)), { recursive: true, force: true }));
  await (await openSqlStore({ url: database.url, connections: 1 })).close();
  return database;
}

const pathOf = ({ url }: TestDatabase): string => url.slice("file:".length);
