import fc from "fast-check";
import { createContext, runInContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/lib/base/json";
import { environmentWith } from "@/lib/statechart/cel/environment";
import { EvaluationFailure } from "@/lib/statechart/cel/evaluation-failure";
import { Expression } from "@/lib/statechart/cel/expression";
import { toCel } from "@/lib/statechart/cel/view";
import { translateEcmaScript } from "./ecmascript";
import { RootTypes, type ValueType } from "./root-types";

const context: JsonObject = {
  n: 3,
  zero: 0,
  half: 0.5,
  s: "abc",
  empty: "",
  yes: true,
  no: false,
  nothing: null,
  list: [1, "two", null],
  map: { a: 1, b: { c: "x" } },
};

const typeOf = (value: Json): ValueType =>
  value === null
    ? "null"
    : typeof value === "boolean"
      ? "bool"
      : typeof value === "number"
        ? "number"
        : typeof value === "string"
          ? "string"
          : "other";

/** `known`: the translator is told the types of the names; otherwise it knows only that they are declared. */
function typesOf(values: JsonObject, known: boolean): RootTypes {
  const types = new RootTypes();
  for (const [name, value] of Object.entries(values)) {
    types.declare(name);
    types.add(name, known ? new Set([typeOf(value)]) : "any");
  }
  return types;
}

function translate(text: string, where: "value" | "bool" = "value", known = true): string {
  const translation = translateEcmaScript(text, {
    context: where,
    types: typesOf(context, known),
    eventBound: true,
  });
  return translation.kind === "cel"
    ? translation.cel
    : `${translation.kind}${"reason" in translation ? `: ${translation.reason}` : ""}`;
}

/** The CEL's value, or "error". */
function evaluate(cel: string, values: JsonObject = context): { value: Json } | "error" {
  const event = {
    name: "go",
    type: "",
    sendid: null,
    origin: null,
    origintype: null,
    invokeid: null,
    data: { x: 1 },
  };
  try {
    const value = new Expression(cel, environmentWith([])).evaluateJson({
      context: toCel(values),
      event: null,
      input: null,
      params: null,
      _event: toCel(event),
      _sessionid: "session",
      _name: "name",
      _ioprocessors: toCel({ scxml: { location: "here" } }),
      isIn: (name) => name === "open",
    });
    return { value };
  } catch (error) {
    if (error instanceof EvaluationFailure) return "error";
    throw error;
  }
}

describe("what a translation looks like", () => {
  test.each([
    ["timer >= cook_time", "context.timer >= context.cook_time"],
    ["In('closed')", "In('closed')"],
    ["!In('c2')", "!In('c2')"],
    ["n + 1", "context.n + 1"],
    ["(n + 1) * 2", "(context.n + 1) * 2"],
    ["n - (1 - 2)", "context.n - (1 - 2)"],
    ["n / 2", "double(context.n) / double(2)"],
    ["'x:' + n", "'x:' + string(context.n)"],
    ["s + s", "context.s + context.s"],
    ["n === 1 && s == 'a'", "context.n == 1 && context.s == 'a'"],
    ["yes ? 1 : n", "context.yes ? 1 : context.n"],
    ["map.b.c", "context.map.b.c"],
    ["map['b'].c", "context.map.b.c"],
    ["map['odd key']", "context.map['odd key']"],
    ["list[0]", "context.list[0]"],
    ["typeof nothing === 'undefined'", "context.nothing == null"],
    ["typeof map.z == 'undefined'", "!has(context.map.z) || context.map.z == null"],
    ['typeof _event.data !== "undefined"', "_event.data != null"],
    ["[1, n]", "[1, context.n]"],
    ["{a: n, 'b c': [1]}", "{'a': context.n, 'b c': [1]}"],
    ["_event.name", "_event.name"],
    ["x == undefined", "context.x == null"],
    ["'it\\'s' + '\\n'", "'it\\'s' + '\\n'"],
    ["-n", "-context.n"],
    ["_ioprocessors['scxml'].location", "_ioprocessors.scxml.location"],
  ])("%s → %s", (text, cel) => {
    expect(translate(text)).toBe(cel);
  });

  test("a value used as a condition is compared with ECMAScript's false ones, a bool is not", () => {
    expect(translate("yes", "bool")).toBe("context.yes");
    expect(translate("n", "bool")).toBe("!(context.n in [null, false, 0, ''])");
    expect(translate("!n", "bool")).toBe("context.n in [null, false, 0, '']");
    expect(translate("1", "bool")).toBe("true");
  });

  test("== between types known to differ converts as ECMAScript does; === and unknown types compare as CEL", () => {
    expect(translate("'1' == n")).toBe("double('1') == context.n");
    expect(translate("yes != n")).toBe("(context.yes ? 1 : 0) != context.n");
    expect(translate("'1' === n")).toBe("'1' == context.n");
    expect(translate("'1' == n", "value", false)).toBe("'1' == context.n");
    expect(translate("nothing == n")).toBe("context.nothing == context.n");
    expect(translate("list == n")).toBe("context.list == context.n");
    expect(evaluate(translate("'3' == n"))).toEqual({ value: true });
    expect(evaluate(translate("s == n"))).toBe("error");
  });

  test("`a || b` is the value of the side that decides", () => {
    expect(evaluate(translate("n || 7"))).toEqual(evaluate("context.n"));
    expect(evaluate(translate("nothing || s"))).toEqual(evaluate("context.s"));
    expect(evaluate(translate("nothing && nothing.x"))).toEqual({ value: null });
    expect(evaluate(translate("'' || nothing || [1]"))).toEqual({ value: [1] });
    expect(translate("n || ".repeat(1_000) + "1")).toMatch(/^unsupported/);
  });

  test("a side that may throw in ECMAScript is not swallowed by CEL's && and ||", () => {
    expect(translate("map.a.z == 1 || yes", "bool")).toBe("context.map.a.z == 1 ? true : context.yes");
    expect(translate("undeclared == 1 && yes", "bool")).toBe("context.undeclared == 1 ? context.yes : false");
  });

  test.each([
    "Math.pow(n, 3)",
    "n++",
    "function () {}",
    "new Date()",
    "n instanceof Array",
    "n | 1",
    "x => x",
    "typeof n",
    "a?.b",
    "n = 1",
    "`a${n}`",
    "NaN",
    "'a' in map",
    "n in _event",
  ])("%s is outside the subset", (text) => {
    expect(translate(text)).toMatch(/^unsupported: /);
  });

  test("`in` is translated of _event alone, whose fields nothing is inherited by", () => {
    expect(translate("'name' in _event && !('nope' in _event)", "bool")).toBe(
      "'name' in _event && !('nope' in _event)",
    );
  });

  test.each(["return", "", "1 +", "n n", "if (n) 1", "'open", "1; 2"])("%s is no expression", (text) => {
    expect(translate(text)).toBe("illegal");
  });

  test("hostile nesting and length end as unsupported, quickly", () => {
    expect(translate("(".repeat(3_900) + "1" + ")".repeat(3_900))).toMatch(/^(unsupported|illegal|1$)/);
    expect(translate("!".repeat(7_900) + "1")).toMatch(/^unsupported/);
    expect(translate("1+".repeat(10_000) + "1")).toMatch(/^unsupported/);
  });
});

/** Random expressions of the subset over the context's names. */
const expression: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    fc.constantFrom(...Object.keys(context)),
    fc.constantFrom(
      "0",
      "1",
      "2.5",
      "-1",
      "'abc'",
      "'1'",
      "''",
      "true",
      "false",
      "null",
      "undefined",
      "[1, 2]",
      "{a: 1}",
    ),
    fc.constantFrom(
      "map.a",
      "map.b.c",
      "map['a']",
      "list[0]",
      "list[1]",
      "In('open')",
      "In('shut')",
      "list.length",
      "map.b.z",
      "s.x",
    ),
    fc.constantFrom(
      "typeof nothing === 'undefined'",
      "typeof map.z !== 'undefined'",
      "typeof undeclared == 'undefined'",
    ),
    fc
      .tuple(
        tie("any"),
        fc.constantFrom("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "&&", "||"),
        tie("any"),
      )
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie("any"), fc.constantFrom("===", "!=="), tie("any")).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie("any"), tie("any"), tie("any")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    tie("any").map((a) => `!${a}`),
    tie("any").map((a) => `(-${a})`),
  ),
})).any;

/** ECMAScript's own answer; equality is CEL's by definition of the subset (deep, null is undefined). */
function oracle(text: string): { threw: true } | { threw: false; value: unknown } {
  // The generator's text is fully parenthesised: each equality's sides are taken apart by the parser's own grammar.
  const js = replaceEquality(text);
  try {
    const value: unknown = runInContext(`(function () { "use strict"; return (${js}); })()`, sandbox);
    return { threw: false, value };
  } catch {
    return { threw: true };
  }
}

const sandbox = createContext({
  ...Object.fromEntries(
    Object.entries(context).map(([name, value]) => [name, value === null ? undefined : value]),
  ),
  In: (name: string) => name === "open",
  same,
});

/** CEL's equality: deep, and null is ECMAScript's undefined too. */
function same(a: unknown, b: unknown): boolean {
  // NaN equals nothing, and Infinity is no null, as JSON would have it.
  if (typeof a === "number" || typeof b === "number") return a === b;
  // Functions (members such as `list.map`) are no values of a chart and equal nothing.
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** `(a === b)` → `same(a, b)`, on the generator's fully parenthesised text; typeof tests stay. */
function replaceEquality(text: string): string {
  let result = text;
  for (;;) {
    const at = /(?<!typeof [\w.]{1,20}) (===|!==) (?!'undefined')/.exec(result);
    if (at === null) return result;
    const open = matching(result, at.index, -1);
    const close = matching(result, at.index + at[0].length - 1, 1);
    const left = result.slice(open + 1, at.index);
    const right = result.slice(at.index + at[0].length, close);
    const call = `${at[1] === "===" ? "" : "!"}same(${left}, ${right})`;
    result = `${result.slice(0, open)}(${call})${result.slice(close + 1)}`;
  }
}

function matching(text: string, from: number, step: 1 | -1): number {
  let depth = 0;
  for (let i = from; i >= 0 && i < text.length; i += step) {
    const char = text[i] ?? "";
    const opens = step === 1 ? "([{" : ")]}";
    const closes = step === 1 ? ")]}" : "([{";
    if (opens.includes(char)) depth++;
    else if (closes.includes(char) && depth-- === 0) return i;
  }
  throw new Error("unbalanced");
}

const inJson = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isFinite(value)
    : Array.isArray(value)
      ? value.every(inJson)
      : typeof value !== "function";

describe("a translation gives ECMAScript's result or fails, never another", () => {
  for (const where of ["value", "bool"] as const)
    for (const known of [true, false])
      test(`as a ${where === "bool" ? "condition" : "value"}, types ${known ? "known" : "unknown"}`, () => {
        let compared = 0;
        fc.assert(
          fc.property(expression, (text) => {
            const translation = translateEcmaScript(text, {
              context: where,
              types: typesOf(context, known),
              eventBound: true,
            });
            if (translation.kind !== "cel") return;
            const got = evaluate(translation.cel);
            const want = oracle(text);
            // A guard that is no bool fails like one that throws.
            if (got === "error" || (where === "bool" && typeof got.value !== "boolean")) return;
            const seen = { text, cel: translation.cel };
            expect({ ...seen, threw: want.threw }).toEqual({ ...seen, threw: false });
            if (want.threw || !inJson(want.value)) return;
            // The one difference left where nothing is known of two names: list + list is a list, not text (README).
            if (Array.isArray(got.value) && typeof want.value === "string") return;
            const value: unknown = where === "bool" ? Boolean(want.value) : (want.value ?? null);
            const plain: unknown = JSON.parse(JSON.stringify(value));
            expect({ ...seen, value: got.value }).toEqual({ ...seen, value: plain });
            compared++;
          }),
          { numRuns: 1_500 },
        );
        // A property that compares nothing proves nothing.
        expect(compared).toBeGreaterThan(300);
      });
});
