/**
 * Vitest's global setup: what all test files of a run copy their databases from, made when the first of them asks for it: a
 * migrated SQLite file, and one PostgreSQL with a migrated database.
 */
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { startPostgres } from "./postgres-server";
import { quickFolder } from "./quick-folder";
import { makePostgres, makeSqlite, type Provider } from "./throwaway-database";

declare module "vitest" {
  export interface ProvidedContext {
    databaseBroker: number;
  }
}

interface Made {
  /** A database with this version's tables, as DATABASE_URL; nobody is connected to it. */
  template: string;
  end: () => Promise<void>;
}

const make: Record<Provider, () => Promise<Made>> = {
  async sqlite() {
    const database = await makeSqlite(quickFolder());
    return { template: await migrated(database.url), end: () => database.drop() };
  },
  async postgresql() {
    const server = await startPostgres();
    const { url } = await makePostgres(server.url);
    return { template: await migrated(url), end: () => server.stop() };
  },
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<Provider, Promise<Made>>();
  const broker = createServer((request, response) => {
    const provider: Provider = request.url === "/sqlite" ? "sqlite" : "postgresql";
    let made = started.get(provider);
    if (!made) started.set(provider, (made = make[provider]()));
    made.then(
      ({ template }) => response.end(template),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((done) => broker.listen(0, "127.0.0.1", done));
  const address = broker.address();
  if (address === null || typeof address === "string") throw new Error("the broker has no port");
  project.provide("databaseBroker", address.port);
  return async () => {
    broker.close();
    await Promise.all([...started.values()].map(async (made) => (await made).end()));
  };
}

async function migrated(url: string): Promise<string> {
  await (await openSqlStore({ url, connections: 1 })).close();
  return url;
}
