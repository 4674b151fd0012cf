import fc from "fast-check";
import { expect, test } from "vitest";
import { randomChart } from "@/lib/testing/random-chart";
import { canonicalChart, chartHash } from "./canonical-chart";
import type { Chart, StateNode } from "./document";
import { readMachine } from "./read-machine";
import { validateChart } from "./validate";

const keysOf = (chart: Chart): string[] => readMachine(chart).root.children.map(({ key }) => key);
const reread = (chart: Chart): Chart => JSON.parse(canonicalChart(chart)) as Chart;
const chartOf = (keys: readonly string[]): Chart => ({
  lockstep: 1,
  initial: keys[0] as string,
  states: Object.fromEntries(keys.map((key, index) => [key, { order: index } satisfies StateNode])),
});

test("keys 10, 2, z, a keep their order through sorting and parsing", () => {
  const chart = chartOf(["10", "2", "z", "a"]);
  expect(keysOf(chart)).toEqual(["10", "2", "z", "a"]);
  expect(keysOf(reread(chart))).toEqual(["10", "2", "z", "a"]);
  expect(canonicalChart(reread(chart))).toBe(canonicalChart(chart));
});

test("descriptors a.*, *, a.* interleaved keep their order", () => {
  const chart: Chart = {
    lockstep: 1,
    initial: "s",
    states: {
      s: {
        on: {
          "a.*": [
            { order: 0, guard: "1 == 1", target: "s" },
            { order: 2, target: "s" },
          ],
          "*": [{ order: 1, target: "s" }],
        },
      },
    },
  };
  const handlers = (one: Chart): string[] =>
    readMachine(one).ordered.flatMap(({ handlers: all }) => all.map(({ id }) => id));
  expect(handlers(chart)).toEqual(["s#on/a.*/0", "s#on/*/0", "s#on/a.*/1"]);
  expect(handlers(reread(chart))).toEqual(handlers(chart));
});

test("`order` is written only where sorting would lose it", () => {
  expect(canonicalChart(chartOf(["a", "b"]))).toBe('{"initial":"a","lockstep":1,"states":{"a":{},"b":{}}}');
  expect(canonicalChart(chartOf(["b", "a"]))).toBe(
    '{"initial":"b","lockstep":1,"states":{"a":{"order":1},"b":{"order":0}}}',
  );
});

test("the hash does not depend on how keys were written down, and does on anything else", () => {
  const one: Chart = {
    lockstep: 1,
    initial: "a",
    states: { a: { tags: ["x"], entry: "e" } },
    actions: { e: [] },
  };
  const other: Chart = {
    actions: { e: [] },
    states: { a: { entry: "e", tags: ["x"] } },
    initial: "a",
    lockstep: 1,
  };
  expect(chartHash(one)).toBe(chartHash(other));
  expect(chartHash(one)).toMatch(/^[0-9a-f]{64}$/);
  expect(chartHash({ ...one, description: "new" })).not.toBe(chartHash(one));
});

test("any keys in any order: the same document order after reading back, and the same text", () => {
  const key = fc
    .oneof(
      fc.constantFrom("10", "2", "z", "a", "0", "01", "4294967295", "A", "é"),
      fc.string({ minLength: 1, maxLength: 3 }),
    )
    .filter((one) => !/[#.]/.test(one) && one !== "__proto__");
  fc.assert(
    fc.property(fc.uniqueArray(key, { minLength: 1, maxLength: 7 }), (keys) => {
      const chart = chartOf(keys);
      expect(keysOf(reread(chart))).toEqual(keys);
      expect(canonicalChart(reread(chart))).toBe(canonicalChart(chart));
    }),
  );
});

test("random charts read back to the same text, order and validity", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const chart = randomChart(seed);
    const back = reread(chart);
    expect(canonicalChart(back)).toBe(canonicalChart(chart));
    expect([...readMachine(back).transitions.keys()]).toEqual([...readMachine(chart).transitions.keys()]);
    expect(validateChart(back).diagnostics).toEqual([]);
  }
});
