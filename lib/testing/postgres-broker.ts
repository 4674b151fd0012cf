/**
 * Vitest's global setup: one PostgreSQL for all test files of a run, started when the first of them asks for it.
 */
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { startPostgres, type PostgresServer } from "./postgres-server";

declare module "vitest" {
  export interface ProvidedContext {
    postgresBroker: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<PostgresServer> | null = null;
  const broker = createServer((_request, response) => {
    started ??= startPostgres();
    started.then(
      (server) => response.end(server.url),
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
