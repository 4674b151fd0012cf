/**
 * Every diagnostic there is, at its state and field; its fix, where it has one, makes it go away and never adds an error.
 */
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { must } from "@/lib/base/assert";
import { randomChart } from "@/lib/testing/random-chart";
import { applyFix } from "./apply-fix";
import { diagnose } from "./diagnose";
import type { Diagnostic } from "./diagnostic";
import type { Chart, StateNode } from "./document";
import { validateChart } from "./validate";

type Draft = Omit<Chart, "lockstep">;

const chartOf = (draft: Draft): Chart => ({ lockstep: 1, ...draft });
/** A chart in which nothing is wrong, for one thing at a time to be. */
const sound = (change: Draft = {}): Draft => ({
  context: { n: 1, name: "x" },
  initial: "a",
  states: { a: { on: { go: "b" } }, b: { type: "final" } },
  ...change,
});
const inA = (a: StateNode, change: Draft = {}): Draft =>
  sound({ states: { a: { on: { go: "b" }, ...a }, b: { type: "final" } }, ...change });
const guarded = (guard: string, change: Draft = {}): Draft =>
  inA({ on: { go: { guard, target: "b" } } }, change);
const schemas = {
  events: {
    go: { type: "object", properties: { amount: { type: "integer" }, note: { type: "string" } } },
    stop: {},
  },
};
const orderSchema = {
  context: {
    type: "object",
    properties: {
      n: { type: "integer" },
      name: { type: ["string", "null"] },
      status: { enum: ["open", "closed"] },
      zone: { type: "object", properties: { id: { type: "string" } } },
    },
  },
};

/** Everything that stands in the way of the chart: of its shape, or, when that is right, of its meaning. */
function problemsOf(chart: Chart): Diagnostic[] {
  const { chart: valid, diagnostics } = validateChart(chart);
  return valid === null ? diagnostics : diagnose(valid);
}
const nameOf = ({ severity, code, at }: Diagnostic): string =>
  `${severity} ${code} ${at.state}#${at.field ?? ""}`;
const errorsOf = (problems: readonly Diagnostic[]): string[] =>
  problems.filter(({ severity }) => severity === "error").map(nameOf);

/** `none`: no tool can know what was meant. */
type Fixable = "fix" | "none";
const table: [code: string, what: string, chart: Draft, expected: string, Fixable][] = [
  [
    "missing-initial",
    "no initial",
    sound({ initial: undefined } as unknown as Draft),
    "error missing-initial #initial",
    "fix",
  ],
  ["bad-initial", "an initial with a slip", sound({ initial: "aa" }), "error bad-initial #initial", "fix"],
  [
    "bad-initial",
    "an initial of another place",
    inA({ initial: "#b", states: { c: {} } }),
    "error bad-initial a#initial",
    "none",
  ],
  [
    "bad-target",
    "a target of the wrong form",
    inA({ on: { go: ".b" } }),
    "error bad-target a#on/go/0/target",
    "fix",
  ],
  [
    "bad-target",
    "a target with a slip",
    sound({ states: { a: { on: { go: "bravp" } }, bravo: { type: "final" } } }),
    "error bad-target a#on/go/0/target",
    "fix",
  ],
  [
    "bad-target",
    "one of two targets",
    inA({ type: "parallel", states: { r: { id: "left" }, s: {} }, on: { go: { target: [".r", "#rigt"] } } }),
    "error bad-target a#on/go/0/target",
    "none",
  ],
  [
    "bad-target",
    "a history default with a slip",
    sound({ states: { a: { on: { go: "b" } }, b: { type: "final" }, h: { type: "history", target: "bb" } } }),
    "error bad-target h#target",
    "fix",
  ],
  [
    "illegal-targets",
    "two targets in one region",
    inA({ on: { go: { target: ["a", "b"] } } }),
    "error illegal-targets a#on/go/0/target",
    "fix",
  ],
  ["duplicate-name", "two states of one name", inA({ id: "b" }), "error duplicate-name b#", "fix"],
  [
    "dotted-key",
    "a dotted key without an id",
    sound({ states: { a: { on: { go: "b" } }, b: { type: "final" }, "c.d": {} } }),
    "error dotted-key #states/c.d",
    "fix",
  ],
  [
    "unknown-guard",
    "a guard with a slip",
    guarded("isRihc", { guards: { isRich: "context.n > 5" } }),
    "error unknown-guard a#on/go/0/guard",
    "fix",
  ],
  [
    "unknown-guard",
    "a guard nobody declared",
    guarded("isRich"),
    "error unknown-guard a#on/go/0/guard",
    "fix",
  ],
  [
    "unknown-guard",
    "a guard with params and a slip",
    inA(
      { on: { go: { guard: { type: "isRihc", params: 1 }, target: "b" } } },
      { guards: { isRich: "params > 1" } },
    ),
    "error unknown-guard a#on/go/0/guard",
    "fix",
  ],
  [
    "unknown-action",
    "an action with a slip",
    inA({ entry: ["ntoe"] }, { actions: { note: { log: "1" } } }),
    "error unknown-action a#entry/0",
    "fix",
  ],
  [
    "unknown-action",
    "an action nobody declared",
    inA({ exit: { type: "note", params: 1 } }),
    "error unknown-action a#exit/0",
    "fix",
  ],
  [
    "unknown-task",
    "a task with a slip",
    inA({ invoke: { src: "chrage", onError: "b" } }, { tasks: { charge: {} } }),
    "error unknown-task a#invoke/0/src",
    "fix",
  ],
  [
    "unknown-task",
    "a task nobody declared",
    inA({ invoke: { src: "weigh", onError: "b" } }),
    "error unknown-task a#invoke/0/src",
    "fix",
  ],
  [
    "unknown-task",
    "an undoing nobody declared",
    inA({ invoke: { src: "http", onError: "b", compensate: { src: "weigh" } } }),
    "error unknown-task a#invoke/0/compensate/src",
    "fix",
  ],
  [
    "unknown-delay",
    "a delay with a slip",
    inA({ after: { sooon: "b" } }, { delays: { soon: "5s" } }),
    "error unknown-delay a#after/sooon",
    "fix",
  ],
  [
    "unknown-delay",
    "a delay nobody declared",
    inA({ entry: { raise: { type: "go", delay: "later" } } }),
    "error unknown-delay a#entry/0/raise/delay",
    "fix",
  ],
  [
    "unknown-state",
    "a state to be in with a slip",
    sound({
      states: {
        a: { on: { go: { guard: { in: "wating" }, target: "waiting" } } },
        waiting: { type: "final" },
      },
    }),
    "error unknown-state a#on/go/0/guard",
    "fix",
  ],
  [
    "unknown-state",
    "the same in CEL",
    sound({
      states: { a: { on: { go: { guard: "In('wating')", target: "waiting" } } }, waiting: { type: "final" } },
    }),
    "error unknown-state a#on/go/0/guard",
    "fix",
  ],
  [
    "eventless-cycle",
    "a circle of eventless transitions",
    sound({ states: { a: { always: "b" }, b: { always: "a" } } }),
    "error eventless-cycle a#always/0",
    "none",
  ],
  [
    "misplaced-history",
    "a history state with transitions",
    sound({
      states: { a: { on: { go: "b" } }, b: { type: "final" }, h: { type: "history", on: { go: "a" } } },
    }),
    "error misplaced-history h#on",
    "fix",
  ],
  [
    "misplaced-history",
    "history on a plain state",
    inA({ type: "atomic", history: "deep" }),
    "error misplaced-history a#history",
    "fix",
  ],
  [
    "misplaced-history",
    "a history state with children",
    sound({
      states: { a: { on: { go: "b" } }, b: { type: "final" }, h: { type: "history", states: { x: {} } } },
    }),
    "error misplaced-history h#states",
    "none",
  ],
  [
    "not-json",
    "a duration as a value",
    inA({ entry: { assign: { n: "duration('5s')" } } }),
    "error not-json a#entry/0/assign/n",
    "fix",
  ],
  [
    "not-json",
    "NaN in the context",
    sound({ context: { n: [undefined] } } as unknown as Draft),
    "error not-json #context/n/0",
    "none",
  ],
  [
    "cel-syntax",
    "CEL that does not parse",
    guarded("context.n >"),
    "error cel-syntax a#on/go/0/guard",
    "none",
  ],
  ["cel-type", "a variable with a slip", guarded("contxt.n > 1"), "error cel-type a#on/go/0/guard", "fix"],
  [
    "cel-type",
    "a context root without `context.`",
    guarded("n > 1"),
    "error cel-type a#on/go/0/guard",
    "fix",
  ],
  [
    "cel-type",
    "a method with a slip",
    guarded("context.name.startWith('x')"),
    "error cel-type a#on/go/0/guard",
    "fix",
  ],
  [
    "cel-type",
    "a sum of a text and a number",
    inA({ entry: { assign: { n: "1 + 'a'" } } }),
    "error cel-type a#entry/0/assign/n",
    "none",
  ],
  [
    "unknown-key",
    "an unknown setting",
    sound({ settings: { erors: "stop" } } as unknown as Draft),
    "error unknown-key #settings/erors",
    "fix",
  ],
  [
    "unknown-key",
    "an unknown field of a state",
    inA({ etnry: [] } as StateNode),
    "error unknown-key a#etnry",
    "fix",
  ],
  [
    "unknown-key",
    "a task's key with a slip",
    sound({ tasks: { t: { timeuot: 5 } } }),
    "warning unknown-key #tasks/t/timeuot",
    "fix",
  ],
  [
    "bad-shape",
    "a setting's value with a slip",
    sound({ settings: { errors: "stpo" } } as unknown as Draft),
    "error bad-shape #settings/errors",
    "fix",
  ],
  [
    "bad-location",
    "a location with `context.`… of a list",
    inA({ entry: { assign: { "a b": 1 } } }),
    "error bad-location a#entry/0/assign/a b",
    "none",
  ],
  [
    "undeclared",
    "an undeclared name in an SCXML import",
    inA({ entry: { assign: { nane: "'y'" } } }, { settings: { scxmlDomain: true } }),
    "error undeclared a#entry/0/assign/nane",
    "fix",
  ],
  [
    "context-in-location",
    "a location with `context.`",
    inA({ entry: { assign: { "context.n": "2" } } }),
    "warning context-in-location a#entry/0/assign/context.n",
    "fix",
  ],
  [
    "bad-send-target",
    "an invocation without #_",
    inA({ invoke: { src: "http", id: "kid", onError: "b" }, entry: { send: { type: "x", to: "kid" } } }),
    "error bad-send-target a#entry/0/send/to",
    "fix",
  ],
  [
    "bad-send-target",
    "somebody",
    inA({ entry: { send: { type: "x", to: "bob" } } }),
    "error bad-send-target a#entry/0/send/to",
    "none",
  ],
  [
    "bad-retry",
    "a retry with a slip",
    inA({ invoke: { src: "http", retry: { atempts: 3 }, onError: "b" } }),
    "error bad-retry a#invoke/0/retry/atempts",
    "fix",
  ],
  [
    "bad-retry",
    "no attempts",
    inA({ invoke: { src: "http", retry: { attempts: 0 }, onError: "b" } }),
    "error bad-retry a#invoke/0/retry/attempts",
    "none",
  ],
  [
    "reserved-name",
    "a guard named like a variable",
    sound({ guards: { event: "true" } }),
    "error reserved-name #guards/event",
    "none",
  ],
  [
    "empty-parallel",
    "a parallel without regions",
    inA({ type: "parallel" }),
    "error empty-parallel a#states",
    "fix",
  ],
  [
    "missing-states",
    "a compound without states",
    inA({ type: "compound" }),
    "error missing-states a#states",
    "fix",
  ],
  [
    "misplaced-state",
    "an atomic state with states",
    inA({ type: "atomic", initial: "x", states: { x: {} } }),
    "error misplaced-state a#states",
    "fix",
  ],
  [
    "misplaced-state",
    "a final state with states",
    sound({
      states: {
        a: { on: { go: "b" } },
        b: { type: "final", initial: "x", states: { x: { type: "final" } } },
      },
    }),
    "error misplaced-state b#states",
    "fix",
  ],
  // Warnings.
  [
    "placeholder",
    "a placeholder",
    inA({ on: { go: { guard: { placeholder: "isRich" }, target: "b" } } }),
    "warning placeholder a#on/go/0/guard",
    "none",
  ],
  [
    "unreachable-state",
    "a state that nothing leads to",
    sound({ states: { a: { on: { go: "b" } }, b: { type: "final" }, c: { on: { go: "b" } } } }),
    "warning unreachable-state c#",
    "none",
  ],
  [
    "dead-end",
    "a dead end",
    sound({ states: { a: { on: { go: "b" } }, b: {} } }),
    "warning dead-end b#",
    "fix",
  ],
  [
    "shadowed-transition",
    "a shadowed transition",
    inA({ on: { go: ["b", { guard: "context.n > 1", target: "a" }] } }),
    "warning shadowed-transition a#on/go/1",
    "fix",
  ],
  [
    "shadowed-transition",
    "one shadowed by a wildcard",
    inA({ on: { "*": { order: 0, target: "b" }, go: { order: 1, target: "a" } } }),
    "warning shadowed-transition a#on/go/0",
    "fix",
  ],
  [
    "guard-never-true",
    "a guard that is a number",
    guarded("1 + 1"),
    "warning guard-never-true a#on/go/0/guard",
    "none",
  ],
  [
    "guard-never-true",
    "a text that equals a number",
    guarded("context.name == 5 && context.n > 1", { schemas: orderSchema }),
    "warning guard-never-true a#on/go/0/guard",
    "none",
  ],
  [
    "guard-never-true",
    "a text that is none of its enumeration",
    guarded("context.status == 'opne'", { schemas: orderSchema }),
    "warning guard-never-true a#on/go/0/guard",
    "fix",
  ],
  [
    "guard-never-true",
    "by what the context is given",
    guarded("context.name"),
    "warning guard-never-true a#on/go/0/guard",
    "none",
  ],
  [
    "type-mismatch",
    "a text compared with an int",
    guarded("event.note < 5", { schemas }),
    "warning type-mismatch a#on/go/0/guard",
    "none",
  ],
  [
    "type-mismatch",
    "a number as a list",
    inA({ entry: { foreach: { in: "context.n", item: "i", do: [] } } }),
    "warning type-mismatch a#entry/0/foreach/in",
    "none",
  ],
  [
    "unknown-context",
    "a context root with a slip",
    guarded("context.nane == 'x'"),
    "warning unknown-context a#on/go/0/guard",
    "fix",
  ],
  [
    "unknown-context",
    "a location that the schema does not list",
    inA({ entry: { assign: { "zone.idd": "'x'" } } }, { schemas: orderSchema }),
    "warning unknown-context a#entry/0/assign/zone.idd",
    "none",
  ],
  [
    "unknown-context",
    "a root that the schema does not list",
    inA({ entry: { assign: { statsu: "'open'" } } }, { schemas: orderSchema }),
    "warning unknown-context a#entry/0/assign/statsu",
    "fix",
  ],
  [
    "unknown-field",
    "an event's field with a slip",
    guarded("event.amout > 5", { schemas }),
    "warning unknown-field a#on/go/0/guard",
    "fix",
  ],
  [
    "unknown-field",
    "a field of a literal",
    guarded("context.zone.idd == 'x'", { context: { zone: { id: "x" } } }),
    "warning unknown-field a#on/go/0/guard",
    "fix",
  ],
  [
    "assign-type",
    "a text in an int's place",
    inA({ entry: { assign: { n: "'five'" } } }, { schemas: orderSchema }),
    "warning assign-type a#entry/0/assign/n",
    "none",
  ],
  [
    "assign-type",
    "a first value of another type",
    sound({ context: { n: "one" }, schemas: orderSchema }),
    "warning assign-type #context/n",
    "none",
  ],
  [
    "event-outside-schema",
    "an event with a slip",
    inA({ on: { go: "b", stpo: "b" } }, { schemas }),
    "warning event-outside-schema a#on/stpo",
    "fix",
  ],
  [
    "event-outside-schema",
    "a raised event nobody lists",
    inA({ entry: { raise: { type: "unheard" } } }, { schemas }),
    "warning event-outside-schema a#entry/0/raise/type",
    "fix",
  ],
  [
    "invoke-without-onerror",
    "an invocation without onError",
    inA({ invoke: { src: "http", onDone: "b" } }),
    "warning invoke-without-onerror a#invoke/0",
    "fix",
  ],
  [
    "compensation-not-a-task",
    "an undoing by a child",
    inA({ invoke: { src: "http", onError: "b", compensate: { src: "chart", input: { chart: "'c'" } } } }),
    "error compensation-not-a-task a#invoke/0/compensate/src",
    "none",
  ],
  [
    "compensation-not-a-task",
    "a task undone by a lock",
    inA({ invoke: { src: "weigh", onError: "b" } }, { tasks: { weigh: { compensate: { src: "lock" } } } }),
    "error compensation-not-a-task #tasks/weigh/compensate/src",
    "none",
  ],
  [
    "concurrency-key-unheeded",
    "a child with a concurrency key",
    inA({ invoke: { src: "chart", input: { chart: "'c'" }, concurrencyKey: "'k'", onError: "b" } }),
    "warning concurrency-key-unheeded a#invoke/0/concurrencyKey",
    "none",
  ],
  [
    "lock-without-lost",
    "a lock that may be lost",
    inA({ invoke: { src: "lock", input: { keys: ["'k'"] }, onError: "b" } }),
    "warning lock-without-lost a#invoke/0",
    "fix",
  ],
  [
    "lock-not-held",
    "a lock used outside",
    sound({
      states: {
        a: {
          on: { go: "b", "lock.lost": "b" },
          invoke: { src: "lock", input: { keys: ["'k'"] }, onError: "b" },
        },
        b: { invoke: { src: "http", input: { lock: "'k'" }, onError: "a" } },
      },
    }),
    "warning lock-not-held b#invoke/0/input/lock",
    "none",
  ],
  [
    "transition-on-final",
    "a transition on a final state",
    sound({ states: { a: { on: { go: "b" } }, b: { type: "final", on: { go: "a" } } } }),
    "warning transition-on-final b#on",
    "fix",
  ],
  [
    "misplaced-field",
    "an output that nothing gives",
    inA({ output: "1" }),
    "warning misplaced-field a#output",
    "fix",
  ],
];

test.each(table)(
  "%s: %s is found at its place, and its fix mends it",
  (code, _what, draft, expected, fixable) => {
    const problems = problemsOf(chartOf(draft));
    expect(problems.map(nameOf)).toContain(expected);
    expect(expected.split(" ")[1]).toBe(code);
    const { fix } = must(
      problems.find((one) => nameOf(one) === expected),
      "found",
    );
    expect(fix === undefined ? "none" : "fix").toBe(fixable);
    if (fix === undefined) return;
    const fixed = must(applyFix(chartOf(draft), must(fix.edit, "an edit")), "the edit fits");
    const after = problemsOf(fixed);
    expect(after.map(nameOf)).not.toContain(expected);
    expect(errorsOf(after).filter((one) => !errorsOf(problems).includes(one))).toEqual([]);
  },
);

/** Told by validate alone, of JSON that is no chart; validate.test.ts has them. */
const ofShape = ["not-lockstep", "bad-key", "too-large", "too-deep", "missing-field", "bad-name"];

test("every code that these rooms' sources can tell is in the table", () => {
  const here = dirname(fileURLToPath(import.meta.url));
  const files = readdirSync(here).filter((file) =>
    /^(?:diagnose|validate|read-|resolve-).*(?<!test)\.ts$/.test(file),
  );
  const told = new Set(
    files.flatMap((file) =>
      [
        ...readFileSync(join(here, file), "utf8").matchAll(
          /(?:code: |"(?:error|warning)",\s*|problem\(\s*)"([a-z]+(?:-[a-z]+)+)"/g,
        ),
      ].map(([, code]) => code),
    ),
  );
  expect(told.size).toBeGreaterThan(30);
  const known = new Set<unknown>([...table.map(([code]) => code), ...ofShape]);
  expect([...told].filter((code) => !known.has(code))).toEqual([]);
});

/** One slip in a random chart's text: a key or a word written wrongly. */
function slipped(chart: Chart, at: number, how: number): Chart | null {
  const text = JSON.stringify(chart);
  const words = [...text.matchAll(/"([A-Za-z_.#]{2,12})"|\b(context|event|fuel|x)\b/g)];
  const word = words[at % Math.max(1, words.length)];
  const written = word?.[1] ?? word?.[2];
  if (word === undefined || written === undefined) return null;
  const place = how % written.length;
  const wrong = written.slice(0, place) + (how % 2 === 0 ? "" : "q") + written.slice(place + (how % 3));
  const start = word.index + word[0].indexOf(written);
  try {
    return JSON.parse(text.slice(0, start) + wrong + text.slice(start + written.length)) as Chart;
  } catch {
    return null;
  }
}

test("whatever the slip, applying a fix adds no error", () => {
  let applied = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(5_000), fc.nat(60), (seed, at, how) => {
      const chart = slipped({ tasks: { work: {} }, ...randomChart(seed) }, at, how);
      if (chart === null) return;
      const { chart: valid, diagnostics } = validateChart(chart);
      // A wrong key hides what is under it: only of charts of the right shape can more be said.
      if (valid === null) {
        for (const { fix } of diagnostics) if (fix?.edit) applyFix(chart, fix.edit);
        return;
      }
      const before = diagnose(valid);
      for (const { fix } of before) {
        if (fix?.edit === undefined) continue;
        const fixed = applyFix(valid, fix.edit);
        if (fixed === null) continue;
        applied++;
        const after = validateChart(fixed);
        expect(after.diagnostics).toEqual([]);
        const errors = errorsOf(diagnose(fixed));
        expect(errors.length, fix.title).toBeLessThanOrEqual(errorsOf(before).length);
      }
    }),
    { numRuns: 80 },
  );
  expect(applied).toBeGreaterThan(10);
});

test("an edit that fits no place is refused, not guessed at", () => {
  const chart = chartOf(sound());
  const edits: JsonObject[] = [
    { remove: "on/none", state: "a" },
    { set: "on/go/3/guard", state: "zz", to: "true" },
    { rename: "on/none", state: "a", to: "x" },
    { rename: "on/go", state: "a", to: "__proto__" },
    { set: "__proto__/x", state: "a", to: 1 },
    { declare: "__proto__", name: "x", value: 1 },
    { anything: 1 },
  ];
  for (const edit of edits) expect(applyFix(chart, edit)).toBeNull();
  expect(({} as JsonObject).x).toBeUndefined();
});
