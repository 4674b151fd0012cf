import fc from "fast-check";
import { expect, test } from "vitest";
import { chartBounds, validateChart } from "./validate";

const problems = (chart: unknown): string[] =>
  validateChart(chart).diagnostics.map(({ code, at }) => `${code} ${at.state}#${at.field ?? ""}`);

test("a whole chart passes", () => {
  const chart = {
    lockstep: 1,
    id: "order",
    initial: "cart",
    context: { total: 0, at: { cel: "input.at" }, list: [1, "a", null] },
    schemas: { events: { pay: { type: "object" } } },
    guards: { rich: "context.total > 10", named: { placeholder: "isRich", text: "ctx => true" } },
    actions: { note: { log: "'x'" } },
    delays: { soon: "5s", late: 100 },
    tasks: { charge: { retry: { max: 3 } } },
    settings: {
      selection: "xstate",
      errors: "stop",
      microstepsMax: 10,
      index: ["total"],
      locking: "optimistic",
    },
    states: {
      cart: {
        order: 0,
        tags: ["open"],
        on: {
          pay: [
            {
              guard: { and: ["rich", { not: { in: "paid" } }, { type: "rich", params: { a: 1 } }] },
              target: "paid",
            },
            "cart",
          ],
          no: {},
        },
        after: { soon: { target: ".x", reenter: true, description: "d", meta: { any: [1] } } },
        always: [],
        entry: [
          "note",
          { type: "note", params: "1" },
          { assign: { "a.b": "1" } },
          { raise: { type: "x", delay: 5 } },
        ],
        exit: [
          { send: { to: "#_parent", type: { cel: "'x'" }, id: "i" } },
          { cancel: "i" },
          { emit: { type: "e", data: {} } },
          { if: "true", then: "note", else: [] },
          { foreach: { in: "[1]", item: "i", do: "note" } },
          { compensate: true },
          { block: ["note"] },
          { placeholder: "p" },
        ],
        invoke: { src: "charge", input: { a: "context.total" }, onDone: "paid", compensate: { src: "http" } },
        initial: { target: "x", actions: "note" },
        states: { x: {}, h: { type: "history", history: "deep", target: ["x"] } },
      },
      paid: { type: "final", output: { total: "context.total" }, data: { late: "1" } },
    },
  };
  expect(validateChart(chart)).toEqual({ chart, diagnostics: [] });
});

test.each<[string, unknown, string]>([
  ["no object", [], "bad-shape #"],
  ["no version", { states: {} }, "not-lockstep #lockstep"],
  ["an unknown key", { lockstep: 1, stats: {} }, "unknown-key #stats"],
  ["an unknown setting", { lockstep: 1, settings: { error: "stop" } }, "unknown-key #settings/error"],
  ["a bad setting", { lockstep: 1, settings: { errors: "ignore" } }, "bad-shape #settings/errors"],
  ["a key with #", { lockstep: 1, states: { "a#b": {} } }, "bad-name #states/a#b"],
  ["an id with #", { lockstep: 1, states: { a: { id: "#a" } } }, "bad-name #a#id"],
  ["a dotted key without id", { lockstep: 1, states: { "a.b": {} } }, "dotted-key #states/a.b"],
  ["an empty key", { lockstep: 1, states: { "": {} } }, "bad-name #states/"],
  ["a wrong type", { lockstep: 1, states: { a: { type: "choice" } } }, "bad-shape a#type"],
  ["a target that is a number", { lockstep: 1, states: { a: { on: { go: 5 } } } }, "bad-shape a#on/go"],
  [
    "a deep one",
    { lockstep: 1, states: { a: { states: { b: { on: { go: [{ target: "x" }, { actoins: [] }] } } } } } },
    "unknown-key a.b#on/go/1/actoins",
  ],
  ["an action of no kind", { lockstep: 1, entry: [{ foo: 1 }] }, "bad-shape #entry/0"],
  ["a slash in a key", { lockstep: 1, on: { "a/b~": 5 } }, "bad-shape #on/a~1b~0"],
  ["__proto__", JSON.parse('{"lockstep":1,"states":{"__proto__":{}}}'), "bad-key #states"],
  ["__proto__ in data", JSON.parse('{"lockstep":1,"context":{"a":{"__proto__":1}}}'), "bad-key #context/a"],
  ["__proto__ as an id", { lockstep: 1, states: { a: { id: "__proto__" } } }, "bad-name __proto__#id"],
  ["NaN", { lockstep: 1, context: { n: NaN } }, "bad-shape #context/n"],
  ["undefined in a list", { lockstep: 1, context: { l: [undefined] } }, "not-json #context/l/0"],
  ["a function", { lockstep: 1, context: { f: () => 1 } }, "not-json #context/f"],
])("%s is refused with its place", (_name, chart, expected) => {
  expect(problems(chart)).toContain(expected);
  expect(validateChart(chart).chart).toBeNull();
});

test("an unknown key names the likely one", () => {
  const [first] = validateChart({ lockstep: 1, States: {} }).diagnostics;
  expect(first?.message).toContain("did you mean `states`");
});

test("inherited names are unknown keys, not shapes", () => {
  expect(problems({ lockstep: 1, constructor: 1, toString: 2 })).toEqual([
    "unknown-key #constructor",
    "unknown-key #toString",
  ]);
});

test("deep nesting of states, data and actions is refused, not followed", () => {
  const nest = (depth: number, wrap: (inner: unknown) => unknown, core: unknown): unknown => {
    let made = core;
    for (let index = 0; index < depth; index++) made = wrap(made);
    return made;
  };
  const states = nest(10_000, (inner) => ({ states: { a: inner } }), {}) as object;
  expect(problems({ lockstep: 1, ...states }).at(-1)).toMatch(/^too-deep/);
  const data = nest(10_000, (inner) => [inner], 1);
  expect(problems({ lockstep: 1, context: { data } }).at(-1)).toMatch(/^too-deep/);
  const actions = nest(10_000, (inner) => [{ if: "true", then: inner }], []);
  expect(problems({ lockstep: 1, entry: actions }).at(-1)).toMatch(/^too-deep/);
});

test("too many states, values and problems end the check", () => {
  const many = (count: number, value: unknown): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
  expect(problems({ lockstep: 1, states: many(chartBounds.statesMax + 5, {}) }).at(-1)).toBe(
    "too-large #states",
  );
  expect(problems({ lockstep: 1, context: { l: Array(chartBounds.valuesMax + 5).fill(1) } }).at(-1)).toMatch(
    /^too-large/,
  );
  expect(problems({ lockstep: 1, ...many(1_000, 1) })).toHaveLength(chartBounds.problemsMax);
});

test("any JSON is answered, never thrown at", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      validateChart(a);
      const { chart, diagnostics } = validateChart({ lockstep: 1, states: { s: a }, on: b, entry: a });
      expect(chart === null).toBe(diagnostics.length > 0);
    }),
    { numRuns: 500 },
  );
});
