/**
 * A database of its own for each vitest test that wants one, empty, on either provider.
 */
import { inject } from "vitest";
import { watchNesting } from "@/lib/store/sql/inside-transaction";
import { makePostgres, makeSqlite, type Provider, type TestDatabase } from "./throwaway-database";

export { advance, tamper, type Provider, type TestDatabase } from "./throwaway-database";

watchNesting();

export const providers = ["sqlite", "postgresql"] as const;

export async function freshDatabase(provider: Provider): Promise<TestDatabase> {
  return provider === "sqlite" ? makeSqlite() : makePostgres(await sharedPostgres());
}

async function sharedPostgres(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${inject("postgresBroker")}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
