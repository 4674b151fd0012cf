import { expect, test } from "vitest";
import type { Json } from "@/lib/base/json";
import { environmentWith, type Scope } from "./environment";
import { EvaluationFailure } from "./evaluation-failure";
import { Expression } from "./expression";
import { toCel } from "./view";

function scopeOf(context: Json, event: Json = null): Scope {
  return {
    context: toCel(context),
    event: toCel(event),
    input: null,
    params: undefined,
    _event: null,
    _sessionid: "s1",
    _name: "n",
    _ioprocessors: toCel({}),
    isIn: (name) => name === "here",
  };
}
const run = (text: string, context: Json = {}, event: Json = null): Json =>
  new Expression(text, environmentWith([])).evaluateJson(scopeOf(context, event));
const failure = (text: string, context: Json = {}): EvaluationFailure => {
  try {
    run(text, context);
  } catch (error) {
    if (error instanceof EvaluationFailure) return error;
    throw error;
  }
  throw new Error(`${text} did not fail`);
};

test.each<[string, Json, Json]>([
  ["context.n + 1", { n: 1 }, 2],
  ["context.n + 1", { n: 1.5 }, 2.5],
  ["1 + 2.5", {}, 3.5],
  ["(context.n - 1) * 2", { n: 1.5 }, 1],
  ["7 / 2", {}, 3],
  ["double(7) / double(2)", {}, 3.5],
  ["double(4) / double(2) / 4", {}, 0.5],
  ["context.n > 2.5 && context.n < 4", { n: 3 }, true],
  ["context.n == 3.0", { n: 3 }, true],
  ["1 == 1.0", {}, true],
  ["context.x == 'a'", { x: 1 }, false],
  ["context.x != null", { x: 1 }, true],
  ["context.x == {'a': [1, 'b']}", { x: { a: [1, "b"] } }, true],
  ["context.rows.exists(r, r.qty > 2)", { rows: [{ qty: 1 }, { qty: 3 }] }, true],
  ["context.rows.map(r, r.qty * 2)", { rows: [{ qty: 1 }, { qty: 3 }] }, [2, 6]],
  ["context.rows.filter(r, r.qty > 1.5)", { rows: [{ qty: 1 }, { qty: 3 }] }, [{ qty: 3 }]],
  ["context.rows[1].qty", { rows: [{ qty: 1 }, { qty: 3 }] }, 3],
  ["has(context.a.b)", { a: {} }, false],
  ["has(context.a.b) ? context.a.b : 'none'", { a: { b: 5 } }, 5],
  ["'x' in context.m", { m: { x: null } }, true],
  ["'x' in ['a', 1, 'x']", {}, true],
  ["context.constructor", { constructor: 5 }, 5],
  ["size(context.s) + size(context.l) + size(context.m)", { s: "ab", l: [1], m: { a: 1, b: 2 } }, 5],
  ["In('here') && !In('there')", {}, true],
  ["set(context, 'a.b', 2)", { a: { b: 1 }, c: 3 }, { a: { b: 2 }, c: 3 }],
  ["unset(context, 'a')", { a: 1, b: 2 }, { b: 2 }],
  ["merge(context, {'a': 2})", { a: 1, b: 2 }, { a: 2, b: 2 }],
  ["'abc'.matches('^a.c$')", {}, true],
  ["timestamp('2026-03-30T12:00:00Z')", {}, "2026-03-30T12:00:00.000Z"],
  ["timestamp('2026-03-30T12:00:00Z').getDayOfYear()", {}, 88],
  ["timestamp(context.t) + duration('1h') > timestamp(context.t)", { t: "2026-03-30T12:00:00Z" }, true],
  ["timestamp('2026-07-01T00:30:00+02:00')", {}, "2026-06-30T22:30:00.000Z"],
  ["timestamp(0) < timestamp('2026-07-01T00:30:00Z')", {}, true],
  ["timestamp('2026-07-01T12:00:00Z').getHours('Europe/Berlin')", {}, 14],
  ["timestamp('2026-03-29T01:30:00Z').getHours('Europe/Berlin')", {}, 3],
  ["timestamp('2026-12-31T23:30:00Z').getFullYear('+05:30')", {}, 2027],
  ["timestamp('2026-12-31T23:30:00Z').getDayOfYear('-08:00')", {}, 364],
  [
    "timestamp('2026-01-01T05:06:07.089Z').getDayOfYear() + timestamp('2026-01-01T05:06:07.089Z').getMilliseconds()",
    {},
    89,
  ],
  ["duration('90m').getHours()", {}, 1],
  ["bytes(context.s).json().a + 1", { s: '{"a": 1}' }, 2],
  ["['a', 'b'].join(', ') + 'aXa'.replace('a', 'bb')", {}, "a, bbbXbb"],
  ["duration('90s').getMilliseconds()", {}, 90000],
  ["math.greatest(context.n, 2) + math.floor(2.7)", { n: 3 }, 5],
  ["cel.bind(x, context.n + 1, x * x)", { n: 2 }, 9],
  ["context.a ? 1 : 'no'", { a: false }, "no"],
  ["_sessionid + _name", {}, "s1n"],
  ["-context.n", { n: 1.5 }, -1.5],
  ["context.list + [4]", { list: [1, 2] }, [1, 2, 4]],
  ["string(context.n) + 's'", { n: 3 }, "3s"],
  ["[1, 'a', null, {'k': 1.5}]", {}, [1, "a", null, { k: 1.5 }]],
])("`%s` on %j is %j", (text, context, expected) => {
  expect(run(text, context)).toEqual(expected);
  expect(run(text, context)).toEqual(expected);
});

test("an absent field is an error that says what and where", () => {
  expect(failure("context.amount > 5").message).toBe(
    "No such key: amount, at character 9 in `context.amount > 5`",
  );
});

test.each([
  ["nonsense + 1", "unknown-variable"],
  ["context.n +", "unexpected-token"],
  ["context.n + 'a'", "no-such-overload"],
  ["!(context.n + context in [null, 0, ''])", "no-such-overload"],
  ["context.n < context", "no-such-overload"],
  ["1 / 0", "division-by-zero"],
  ["9007199254740993", "not-json"],
  ["1.0 / 0.0", "not-json"],
  ["b'abc'", "not-json"],
  ["params.x", "unknown-variable"],
  ["'a'.matches('(')", "bad-pattern"],
  ["timestamp('2026-03-30T12:00:00.000')", "invalid-timestamp"],
  ["timestamp('2026-03-30T12:00:00Z').getHours('Nowhere/Town')", "bad-time-zone"],
  ["bytes('{').json()", "not-json"],
])("`%s` fails with %s", (text, code) => {
  expect(failure(text, { n: 1 }).code).toBe(code);
});

test("nested comprehensions stop at the step bound within a second", () => {
  const list = Array.from({ length: 200 }, (_, index) => index);
  const began = performance.now();
  expect(
    failure("context.l.all(a, context.l.all(b, context.l.all(c, a + b + c >= 0)))", { l: list }).code,
  ).toBe("cost-exceeded");
  expect(performance.now() - began).toBeLessThan(1000);
});

test("a list or text that doubles stops at the bound", () => {
  const doubling = (seed: string): string =>
    Array.from(
      { length: 40 },
      (_, n) => `cel.bind(v${n}, ${n === 0 ? seed : `v${n - 1} + v${n - 1}`}, `,
    ).join("") +
    "size(v39)" +
    ")".repeat(40);
  expect(failure(doubling("'ab'")).code).toBe("cost-exceeded");
  expect(failure(doubling("[1]")).code).toBe("cost-exceeded");
});

test("comparing values that share parts exponentially stops at the bound", () => {
  const nested = (name: string): string =>
    Array.from(
      { length: 20 },
      (_, n) => `cel.bind(${name}${n}, ${n === 0 ? "[1]" : `[${name}${n - 1}, ${name}${n - 1}]`}, `,
    ).join("");
  expect(failure(`${nested("a")}${nested("b")}a19 == b19${")".repeat(40)}`).code).toBe("cost-exceeded");
});

test("a text made by join or replace stops at the bound before it is made", () => {
  const long = "a".repeat(20_000);
  expect(failure("context.s.replace('a', context.s)", { s: long }).code).toBe("cost-exceeded");
  expect(failure("context.l.join(context.s)", { s: long, l: Array<string>(5_000).fill("x") }).code).toBe(
    "cost-exceeded",
  );
});

test("a backtracking pattern takes linear time", () => {
  const began = performance.now();
  expect(run("context.s.matches('^(a+)+$')", { s: `${"a".repeat(2000)}b` })).toBe(false);
  expect(performance.now() - began).toBeLessThan(500);
});

test("an untouched value comes back as itself", () => {
  const rows = [{ a: 1 }];
  const context = { rows };
  expect(run("context.rows", context)).toBe(rows);
});

test("a path read twice is told once", () => {
  const reads: [string, Json][] = [];
  const expression = new Expression("context.n > 5 || context.n > 1", environmentWith([]));
  expect(expression.evaluateRecording(scopeOf({ n: 2 }), reads)).toBe(true);
  expect(reads).toEqual([["context.n", 2]]);
});

test("reads are recorded with their paths and values, only where evaluation went", () => {
  const reads: [string, Json][] = [];
  const expression = new Expression(
    "context.n > 1 && context.rows[context.i].qty == 2 || context.never",
    environmentWith([]),
  );
  const scope = scopeOf({ n: 2, i: 1, rows: [{ qty: 1 }, { qty: 2 }], never: true });
  expect(expression.evaluateRecording(scope, reads)).toBe(true);
  expect(reads).toContainEqual(["context.n", 2]);
  expect(reads).toContainEqual(["context.rows[1].qty", 2]);
  expect(reads.map(([path]) => path)).not.toContain("context.never");
});

test("a named guard is a bool variable", () => {
  const scope = { ...scopeOf({}), ready: true };
  expect(new Expression("ready && true", environmentWith(["ready"])).evaluate(scope)).toBe(true);
});

test.each(["__proto__", "prototype", "as", "for", "type", "string", "google"])(
  "a guard named %s is none inside CEL, and no defect",
  (name) => {
    expect(() => environmentWith([name, "ready"])).not.toThrow();
  },
);
