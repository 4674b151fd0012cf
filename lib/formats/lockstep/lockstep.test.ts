import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalChart, chartHash } from "@/lib/statechart/canonical-chart";
import type { Chart } from "@/lib/statechart/document";
import { readMachine } from "@/lib/statechart/read-machine";
import { importChart } from "../import-chart";
import { writeLockstep } from "./write-lockstep";

function read(text: string): Chart {
  const { chart, diagnostics } = importChart(text);
  if (chart === null) throw new Error(JSON.stringify(diagnostics));
  return chart;
}

const order = (chart: Chart): string[] => [...readMachine(chart).ordered].map(({ name }) => name).slice(1);

test("the written order of states survives keys that JavaScript moves", () => {
  const text = '{"lockstep":1,"initial":"z","states":{"z":{},"10":{},"2":{},"a":{}}}';
  expect(order(read(text))).toEqual(["z", "10", "2", "a"]);
  const again = read(writeLockstep(read(text)));
  expect(order(again)).toEqual(["z", "10", "2", "a"]);
  expect(chartHash(again)).toBe(chartHash(read(text)));
});

test("the written order of transitions survives event names that look like numbers", () => {
  const text = `{"lockstep":1,"initial":"a","states":{"a":{"on":{"*":"b","10":"c","2":["b","c"]}},"b":{},"c":{}}}`;
  const handlers = (chart: Chart): string[] =>
    (readMachine(chart).states.get("a")?.handlers ?? []).map(({ id }) => id);
  expect(handlers(read(text))).toEqual(["a#on/*/0", "a#on/10/0", "a#on/2/0", "a#on/2/1"]);
  expect(handlers(read(writeLockstep(read(text))))).toEqual([
    "a#on/*/0",
    "a#on/10/0",
    "a#on/2/0",
    "a#on/2/1",
  ]);
});

describe("what is not a chart is said with its place", () => {
  test.each([
    ['{"lockstep":1,"states":{"a":{"onn":{}}}}', "unknown-key", "a"],
    ['{"lockstep":1,"settings":{"colour":"red"}}', "unknown-key", ""],
    ['{"lockstep":1,"states":{"a":5}}', "bad-shape", ""],
  ])("%s", (text, code, state) => {
    const { chart, diagnostics } = importChart(text);
    expect(chart).toBeNull();
    expect(diagnostics.map((one) => [one.code, one.at.state])).toContainEqual([code, state]);
  });
});

test("each state's place in the text is known, for what is said about it", () => {
  const { positions } = importChart(
    '{"lockstep": 1,\r\n "states": {\n  "a": {"id": "x"},\n  "b": {"states": {\n    "c": {}}}}}',
  );
  expect(positions).toEqual({
    "": { line: 1, column: 1 },
    x: { line: 3, column: 8 },
    b: { line: 4, column: 8 },
    "b.c": { line: 5, column: 10 },
  });
});

/** Charts of nested states with odd keys, transitions and data. */
const key = fc.constantFrom("z", "10", "2", "a", "b-c", "Ünï", "constructor");
const value = fc.jsonValue({ maxDepth: 2 }).filter((json) => !JSON.stringify(json).includes("__proto__"));
const chart = fc
  .record({
    keys: fc.uniqueArray(key, { minLength: 1, maxLength: 5 }),
    inner: fc.uniqueArray(key, { minLength: 1, maxLength: 4 }),
    events: fc.uniqueArray(fc.constantFrom("go", "a.*", "*", "7", "1", "a.b"), { maxLength: 4 }),
    context: fc.dictionary(fc.constantFrom("x", "y", "3"), value),
    guard: fc.constantFrom("context.x == 1", "true"),
  })
  .map(({ keys, inner, events, context, guard }): string => {
    const on = events.map(
      (event) => `${JSON.stringify(event)}: [{"target": "#t", "guard": ${JSON.stringify(guard)}}, "#t"]`,
    );
    const children = inner.map((name) => `${JSON.stringify(name)}: {"entry": [{"assign": {"x": "1 + 1"}}]}`);
    const states = keys.map(
      (name) =>
        `${JSON.stringify(name)}: {"initial": ${JSON.stringify(inner[0])}, "on": {${on.join()}}, "states": {${children.join()}}}`,
    );
    return `{"lockstep": 1, "initial": ${JSON.stringify(keys[0])}, "context": ${JSON.stringify(context)}, "states": {${states.join()}, "target": {"id": "t"}}}`;
  });

test("out and in again is the identity: same canonical text, same order of states and transitions", () => {
  fc.assert(
    fc.property(chart, (text) => {
      const once = read(text);
      const written = writeLockstep(once);
      const twice = read(written);
      expect(canonicalChart(twice)).toBe(canonicalChart(once));
      expect(writeLockstep(twice)).toBe(written);
      expect(order(twice)).toEqual(order(once));
      const ids = (one: Chart): string[] => [...readMachine(one).transitions.keys()];
      expect(ids(twice)).toEqual(ids(once));
    }),
    { numRuns: 300 },
  );
});
