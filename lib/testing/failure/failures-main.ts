/** Fan-out at its full size on both databases, for scripts/failures.mjs; throws when a join was not exact. */
import { startPostgres } from "../postgres-server";
import { makePostgres, makeSqlite } from "../throwaway-database";
import { killChildren } from "./child";
import { runFanOut } from "./fan-out";

export async function fanOutAtLength(options: { count: number; cap: number; kills: number }): Promise<void> {
  const server = await startPostgres({ durable: true });
  try {
    for (const database of [await makeSqlite(), await makePostgres(server.url)]) {
      const report = await runFanOut({ url: database.url, ...options });
      const provider = database.url.startsWith("file:") ? "sqlite" : "postgresql";
      process.stdout.write(`fan-out on ${provider}: exact join, no orphan ${JSON.stringify(report)}\n`);
      await killChildren();
      await database.drop();
    }
  } finally {
    await killChildren();
    await server.stop();
  }
}
