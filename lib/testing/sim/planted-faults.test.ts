import { expect, test } from "vitest";
import { freshDatabase } from "../database";
import { plantedFaults, plantedStatementFaults } from "./planted-faults";
import type { SeedOptions } from "./run-seed";
import { withSimulator } from "./sim-main";
import { openStatementSimulator } from "./statements";

const sound = ({ plant: _plant, send: _send, rewrite: _rewrite, ...rest }: SeedOptions): SeedOptions => rest;

const told = (wrong: readonly string[], says: string): string =>
  wrong.find((each) => each.startsWith(says))?.slice(0, says.length) ?? JSON.stringify(wrong).slice(0, 500);

test.each(Object.entries(plantedFaults))("caught: %s", { timeout: 60_000 }, async (_name, planted) => {
  await withSimulator(async (simulator) => {
    const { wrong } = await simulator.run(planted.seed, planted.options);
    expect(told(wrong, planted.says)).toBe(planted.says);
  });
  // On a database of its own: what the fault left behind is none of this one's.
  await withSimulator(async (simulator) => {
    expect((await simulator.run(planted.seed, sound(planted.options))).wrong).toEqual([]);
  });
});

test.each(Object.entries(plantedStatementFaults))(
  "caught among statements: %s",
  { timeout: 60_000 },
  async (_name, planted) => {
    const database = await freshDatabase("postgresql");
    const simulator = await openStatementSimulator(database.url);
    try {
      const { wrong } = await simulator.run(planted.seed, planted.options);
      expect(told(wrong, planted.says)).toBe(planted.says);
    } finally {
      await simulator.end();
      await database.drop();
    }
  },
);
