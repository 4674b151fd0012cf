/** The statement-level simulator in `npm test`; 5,000 seeds: `npm run sim`. */
import { expect, test } from "vitest";
import { freshDatabase } from "../database";
import { tellSeed } from "./sim-main";
import { openStatementSimulator } from "./statements";

/** 0.3 to 1 s each, as the machine is. */
const seeds = 40;

test(
  "I1 to I7, I9: statements of several connections in any order, crashes between them: nothing is lost, doubled or locked for ever",
  { timeout: 300_000 },
  async () => {
    const database = await freshDatabase("postgresql");
    const simulator = await openStatementSimulator(database.url);
    try {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const end = await simulator.run(seed);
        if (end.wrong.length > 0)
          expect.fail(`${tellSeed(end)}\n  again: npm run sim -- --statement ${seed}`);
      }
    } finally {
      await simulator.end();
      await database.drop();
    }
  },
);
