import { expect, test } from "vitest";
import { freshDatabase } from "../database";
import { buildMutant, type Simulators } from "./mutant";
import { mutations, type Mutation } from "./mutations";
import type { SeedEnd } from "./run-seed";
import { withSimulator } from "./sim-main";
import { openStatementSimulator } from "./statements";

/** A change of the runtime is another history of every seed: the fault is looked for from its seed on. */
const seedsMax = 80;

type Run = (seed: number) => Promise<SeedEnd>;

async function on<T>(
  { withSimulator, openStatementSimulator }: Simulators,
  { level, options }: Mutation,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  // Nothing is forgotten and no schedule ticks, unless the fault is of that: so it is looked for in all seeds.
  if (level === "boundary")
    return withSimulator((simulator) =>
      work((seed) => simulator.run(seed, { retention: false, schedules: false, ...options })),
    );
  const database = await freshDatabase("postgresql");
  const simulator = await openStatementSimulator(database.url);
  try {
    return await work((seed) => simulator.run(seed, options));
  } finally {
    await simulator.end();
    await database.drop();
  }
}

/** The first seed that says what the fault is known by. */
const catchIt = (mutant: Simulators, mutation: Mutation): Promise<number> =>
  on(mutant, mutation, async (run) => {
    const heard: string[] = [];
    for (let next = mutation.seed; next < mutation.seed + seedsMax; next += 1) {
      const { wrong } = await run(next);
      if (wrong.some((each) => each.startsWith(mutation.says))) return next;
      heard.push(...wrong);
    }
    return expect.fail(
      `not caught from seed ${mutation.seed} on; heard: ${JSON.stringify(heard).slice(0, 500)}`,
    );
  });

test.each(Object.entries(mutations))("caught: %s", { timeout: 120_000 }, async (name, mutation) => {
  const seed = await catchIt(await buildMutant(name, [mutation]), mutation);
  await on({ withSimulator, openStatementSimulator }, mutation, async (run) =>
    expect((await run(seed)).wrong).toEqual([]),
  );
});
