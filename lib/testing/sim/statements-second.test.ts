/** Beside statements.test.ts, on the other core. */
import { expect, test } from "vitest";
import { freshDatabase } from "../database";
import { firstWrong } from "./first-wrong";
import { openStatementSimulator } from "./statements";

test(
  "I1 to I9: statements of several connections in any order, crashes between them: nothing is lost, doubled or locked for ever (2)",
  { timeout: 600_000 },
  async () => {
    const database = await freshDatabase("postgresql");
    const simulator = await openStatementSimulator(database.url);
    try {
      expect(await firstWrong(simulator, 101, 100, "--statement")).toBeNull();
    } finally {
      await simulator.end();
      await database.drop();
    }
  },
);
