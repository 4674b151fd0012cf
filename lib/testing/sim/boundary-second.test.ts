/** Beside boundary.test.ts, on the other core. */
import { expect, test } from "vitest";
import { firstWrong } from "./first-wrong";
import { withSimulator } from "./sim-main";

test(
  "I1 to I9: whatever fails or crashes between any two calls, nothing is lost and nothing is doubled (2)",
  { timeout: 600_000 },
  async () => {
    expect(await withSimulator((simulator) => firstWrong(simulator, 501, 500, "--seed"))).toBeNull();
  },
);
