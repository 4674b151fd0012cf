import { expect, test } from "vitest";
import { freshDatabase } from "../database";
import {
  onlyAmongStatements,
  plantedFaults,
  plantedStatementFaults,
  type PlantedFault,
} from "./planted-faults";
import type { SeedEnd, SeedOptions } from "./run-seed";
import { withSimulator } from "./sim-main";
import { openStatementSimulator } from "./statements";

/** A change of the runtime is another history of every seed: the fault is looked for from its seed on. */
const seedsMax = 40;
/** Nothing is forgotten and no schedule ticks, unless the fault is of that: so it is looked for in all seeds. */
const plainly: SeedOptions = { retention: false, schedules: false };

const sound = ({ plant: _plant, rewrite: _rewrite, ...rest }: SeedOptions): SeedOptions => rest;

type Run = (seed: number, options: SeedOptions) => Promise<SeedEnd>;

/** The first seed that says what the fault is known by. */
async function catchIt(
  { seed, says, options }: PlantedFault,
  on: <T>(work: (run: Run) => Promise<T>) => Promise<T>,
): Promise<number> {
  return on(async (run) => {
    const heard: string[] = [];
    for (let next = seed; next < seed + seedsMax; next += 1) {
      const { wrong } = await run(next, options);
      if (wrong.some((each) => each.startsWith(says) && !/^\d/.test(each.slice(says.length)))) return next;
      heard.push(...wrong);
    }
    return expect.fail(`not caught from seed ${seed} on; heard: ${JSON.stringify(heard).slice(0, 500)}`);
  });
}

const onSqlite = <T>(work: (run: Run) => Promise<T>): Promise<T> =>
  withSimulator((simulator) => work((seed, options) => simulator.run(seed, { ...plainly, ...options })));

async function onPostgres<T>(work: (run: Run) => Promise<T>): Promise<T> {
  const database = await freshDatabase("postgresql");
  const simulator = await openStatementSimulator(database.url);
  try {
    return await work((seed, options) => simulator.run(seed, options));
  } finally {
    await simulator.end();
    await database.drop();
  }
}

test.each(Object.entries(plantedFaults))("caught: %s", { timeout: 60_000 }, async (_name, planted) => {
  const seed = await catchIt(planted, onSqlite);
  await onSqlite(async (run) => expect((await run(seed, sound(planted.options))).wrong).toEqual([]));
});

test.each(Object.entries(plantedStatementFaults))(
  "caught among statements: %s",
  { timeout: 120_000 },
  async (_name, planted) => {
    const seed = await catchIt(planted, onPostgres);
    await onPostgres(async (run) => expect((await run(seed, sound(planted.options))).wrong).toEqual([]));
  },
);

test.each(onlyAmongStatements)(
  "nothing is seen of it between whole transactions: %s",
  { timeout: 60_000 },
  async (name) => {
    const planted = plantedStatementFaults[name];
    await onSqlite(async (run) => {
      for (let seed = 1; seed <= 10; seed += 1)
        expect((await run(seed, planted?.options ?? {})).wrong).toEqual([]);
    });
  },
);
