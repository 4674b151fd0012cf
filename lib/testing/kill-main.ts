/** The kill test at length, for scripts/kill.mjs: prints a line per database, throws when anything was lost. */
import { runKillRounds } from "./kill-rounds";
import { startPostgres } from "./postgres-server";
import { bundleProgram } from "./program";
import { makePostgres, makeSqlite, type Provider, type TestDatabase } from "./throwaway-database";

export async function killAll(options: {
  rounds: number;
  providers: Provider[];
  seed: number;
}): Promise<void> {
  const program = await bundleProgram("lib/testing/kill-process.ts", "kill-process");
  for (const provider of options.providers) {
    const began = Date.now();
    const { database, end } = await open(provider);
    try {
      const report = await runKillRounds({
        url: database.url,
        rounds: options.rounds,
        seed: options.seed,
        program,
      });
      const seconds = Math.round((Date.now() - began) / 1000);
      process.stdout.write(
        `${provider}: nothing lost, nothing doubled in ${seconds} s ${JSON.stringify(report)}\n`,
      );
    } finally {
      await end();
    }
  }
}

async function open(provider: Provider): Promise<{ database: TestDatabase; end: () => Promise<void> }> {
  if (provider === "sqlite") {
    const database = await makeSqlite();
    return { database, end: () => database.drop() };
  }
  const server = await startPostgres();
  return { database: await makePostgres(server.url), end: () => server.stop() };
}
