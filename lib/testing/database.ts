/**
 * A database of its own for each vitest test that wants one, on either provider.
 */
import { copyFile } from "node:fs/promises";
import { inject } from "vitest";
import { watchNesting } from "@/lib/store/sql/inside-transaction";
import { quickFolder } from "./quick-folder";
import { makePostgres, makeSqlite, type Provider, type TestDatabase } from "./throwaway-database";

export { advance, tamper, type Provider, type TestDatabase } from "./throwaway-database";

watchNesting();

export const providers = ["sqlite", "postgresql"] as const;

/** With this version's tables, and nothing in them: a copy, because a copy is made sooner than all migrations are applied. */
export async function freshDatabase(provider: Provider): Promise<TestDatabase> {
  const template = await templateOf(provider);
  if (provider === "postgresql") return makePostgres(serverOf(template), new URL(template).pathname.slice(1));
  const database = await makeSqlite(quickFolder());
  await copyFile(pathOf(template), pathOf(database.url));
  return database;
}

/** Without a table. */
export async function emptyDatabase(provider: Provider): Promise<TestDatabase> {
  return provider === "sqlite"
    ? makeSqlite(quickFolder())
    : makePostgres(serverOf(await templateOf(provider)));
}

const templates = new Map<Provider, Promise<string>>();
function templateOf(provider: Provider): Promise<string> {
  let template = templates.get(provider);
  if (!template) templates.set(provider, (template = askBroker(provider)));
  return template;
}

async function askBroker(provider: Provider): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${inject("databaseBroker")}/${provider}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

/** A template is copied by nobody who is connected to it. */
const serverOf = (template: string): string => new URL("/postgres", template).href;
const pathOf = (url: string): string => url.slice("file:".length);
