import { expect, test } from "vitest";
import { growthOf } from "./soak-memory";

const minutes = (mibAt: (minute: number) => number) =>
  Array.from({ length: 1_200 }, (_, n) => ({ at: n * 500, mib: mibAt(n / 120) + (n % 7) }));

test("memory that fills its caches and then stays is flat; that grows by a third over ten minutes is not", () => {
  const filled = growthOf(minutes((minute) => 200 + Math.min(minute, 4) * 30));
  expect(filled).toMatchObject({ flat: true });
  expect(Math.abs(filled.slope)).toBeLessThan(0.1);
  const growing = growthOf(minutes((minute) => 200 * (1 + minute / 30)));
  expect(growing.flat).toBe(false);
  expect(growing.slope).toBeCloseTo(200 / 30, 1);
});
