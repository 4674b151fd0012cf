/**
 * Vitest's global setup: one PostgreSQL for all test files of a run, started when the first of them asks for it, with a
 * migrated database to copy.
 */
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { startPostgres, type PostgresServer } from "./postgres-server";
import { makePostgres } from "./throwaway-database";

declare module "vitest" {
  export interface ProvidedContext {
    postgresBroker: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<PostgresServer & { template: string }> | null = null;
  const broker = createServer((_request, response) => {
    started ??= startPostgres().then(withTemplate);
    started.then(
      ({ url, template }) => response.end(JSON.stringify({ url, template })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((done) => broker.listen(0, "127.0.0.1", done));
  const address = broker.address();
  if (address === null || typeof address === "string") throw new Error("the broker has no port");
  project.provide("postgresBroker", address.port);
  return async () => {
    broker.close();
    await (await started)?.stop();
  };
}

async function withTemplate(server: PostgresServer): Promise<PostgresServer & { template: string }> {
  const { url } = await makePostgres(server.url);
  await (await openSqlStore({ url, connections: 1 })).close();
  return { ...server, template: new URL(url).pathname.slice(1) };
}
