import fc from "fast-check";
import { expect, test } from "vitest";
import { nearestIndex, timelineScale } from "./timeline-scale";

const times = fc
  .array(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 2, maxLength: 200 })
  .map((steps) => steps.reduce<number[]>((all, step) => [...all, (all.at(-1) ?? 0) + step], []));

test("events keep their order and lie between 0 and 1", () => {
  fc.assert(
    fc.property(times, (list) => {
      const { at } = timelineScale(list);
      expect(at).toHaveLength(list.length);
      expect(at[0]).toBe(0);
      expect(at.at(-1)).toBeCloseTo(1);
      for (let index = 1; index < at.length; index++) {
        expect(at[index]).toBeGreaterThan(at[index - 1] ?? 1);
      }
    }),
  );
});

test("a night of six hours between seconds is collapsed and named", () => {
  const list = [0, 1_000, 2_000, 2_000 + 6 * 3_600_000, 2_000 + 6 * 3_600_000 + 1_000];
  const { at, gaps } = timelineScale(list);
  expect(gaps).toEqual([{ after: 2, ms: 6 * 3_600_000 }]);
  // Three times a usual step, not 21,600 times.
  expect((at[3] ?? 0) - (at[2] ?? 0)).toBeCloseTo(3 * ((at[1] ?? 0) - (at[0] ?? 0)));
});

test("one event lies in the middle, none is fine", () => {
  expect(timelineScale([5]).at).toEqual([0.5]);
  expect(timelineScale([]).at).toEqual([]);
});

test("the nearest event is the nearest by distance", () => {
  fc.assert(
    fc.property(times, fc.double({ min: 0, max: 1, noNaN: true }), (list, place) => {
      const { at } = timelineScale(list);
      const found = Math.abs((at[nearestIndex(at, place)] ?? 9) - place);
      expect(found).toBeLessThanOrEqual(Math.min(...at.map((value) => Math.abs(value - place))) + 1e-12);
    }),
  );
});
