/** The kill test at length, for scripts/kill.mjs: prints a line per database, throws when anything was lost. */
import { buildKillProgram, runKillRounds } from "./kill-rounds";
import { startPostgres } from "./postgres-server";
import { makePostgres, makeSqlite, type Provider, type TestDatabase } from "./throwaway-database";

const program = ".cache/kill-process.mjs";

export async function killAll(options: {
  rounds: number;
  providers: Provider[];
  seed: number;
}): Promise<void> {
  await buildKillProgram(program);
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
