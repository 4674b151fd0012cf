/**
 * The engine against XState 5: see lib/testing/differential.ts. `node scripts/differential.mjs` is the campaign.
 */
import { expect, test } from "vitest";
import { playDifferential } from "@/lib/testing/differential";

test("500 random charts × 20 inputs run as in XState: events, timers, answers, messages to itself", async () => {
  const { seen, found } = await playDifferential({ firstSeed: 1, charts: 500, events: 20 });
  expect(found?.ours, `seed ${found?.seed}, step ${found?.step}: ${found?.input}`).toEqual(found?.theirs);
  expect(found).toBeNull();
  // A generator that stopped generating would agree with everything.
  expect(seen.steps).toBeGreaterThan(2_500);
  expect(seen.moved).toBeGreaterThan(seen.steps / 5);
  const { ended, failed, timers, done, errors, stale, sent, emitted } = seen;
  expect(Math.min(ended, failed, timers, done, errors, stale, sent, emitted)).toBeGreaterThan(12);
}, 120_000);
