import { expect, test } from "vitest";
import { randomChart } from "@/lib/testing/random-chart";
import { compile } from "./compile";
import { diagnose } from "./diagnose";
import type { Chart, StateNode } from "./document";

type Draft = StateNode & Partial<Chart>;
const found = (chart: Draft): string[] =>
  diagnose({ lockstep: 1, ...chart }).map(
    ({ severity, code, at }) => `${severity} ${code} ${at.state}#${at.field ?? ""}`,
  );

/** A chart in which nothing is wrong, for one thing at a time to be. */
const sound = (change: Draft = {}): Draft => ({
  context: { n: 1 },
  initial: "a",
  states: { a: { on: { go: "b" } }, b: { type: "final" } },
  ...change,
});
const inA = (a: StateNode, change: Draft = {}): Draft =>
  sound({ states: { a: { on: { go: "b" }, ...a }, b: { type: "final" } }, ...change });

test("a sound chart has no diagnostics", () => {
  expect(found(sound())).toEqual([]);
});

test.each<[string, Draft, string]>([
  ["no initial", sound({ initial: undefined } as unknown as Draft), "error missing-initial #initial"],
  ["an initial that is not there", sound({ initial: "x" }), "error bad-initial #initial"],
  ["an initial outside", inA({ initial: "#b", states: { c: {} } }), "error bad-initial a#initial"],
  ["a target that is not there", inA({ on: { go: "c" } }), "error bad-target a#on/go/0/target"],
  [
    "two targets in one region",
    inA({ on: { go: { target: ["a", "b"] } } }),
    "error illegal-targets a#on/go/0/target",
  ],
  [
    "a state and its ancestor",
    inA({ initial: "c", states: { c: {} }, on: { go: { target: ["a", ".c"] } } }),
    "error illegal-targets a#on/go/0/target",
  ],
  ["two states of one name", inA({ id: "b" }), "error duplicate-name b#"],
  [
    "an unknown guard",
    inA({ on: { go: { guard: "isRich", target: "b" } } }),
    "error unknown-guard a#on/go/0/guard",
  ],
  [
    "an unknown guard with params",
    inA({ on: { go: { guard: { type: "x" }, target: "b" } } }),
    "error unknown-guard a#on/go/0/guard",
  ],
  ["an unknown action", inA({ entry: ["note"] }), "error unknown-action a#entry/0"],
  [
    "an unknown action deep inside",
    inA({ entry: [{ if: "true", then: [{ foreach: { in: "[1]", item: "i", do: "note" } }] }] }),
    "error unknown-action a#entry/0/then/0/foreach/do/0",
  ],
  ["an unknown task", inA({ invoke: { src: "charge", onError: "b" } }), "error unknown-task a#invoke/0/src"],
  ["an unknown delay", inA({ after: { soon: "b" } }), "error unknown-delay a#after/soon"],
  [
    "an unknown state to be in",
    inA({ on: { go: { guard: { in: "x" }, target: "b" } } }),
    "error unknown-state a#on/go/0/guard",
  ],
  [
    "CEL that does not parse",
    inA({ on: { go: { guard: "context.n >", target: "b" } } }),
    "error cel-syntax a#on/go/0/guard",
  ],
  ["CEL that never types", inA({ entry: { assign: { n: "1 + 'a'" } } }), "error cel-type a#entry/0/assign/n"],
  ["CEL in the context", sound({ context: { n: { cel: "1 +" } } }), "error cel-syntax #context/n"],
  [
    "CEL in a raised type",
    inA({ entry: { raise: { type: { cel: "(" } } } }),
    "error cel-syntax a#entry/0/raise/type",
  ],
  [
    "a location that is none",
    inA({ entry: { assign: { "a b": 1 } } }),
    "error bad-location a#entry/0/assign/a b",
  ],
  [
    "an undeclared location in an SCXML import",
    inA({ entry: { assign: { m: 1 } } }, { settings: { scxmlDomain: true } }),
    "error undeclared a#entry/0/assign/m",
  ],
  [
    "a send target of no known form",
    inA({ entry: { send: { type: "x", to: "bob" } } }),
    "error bad-send-target a#entry/0/send/to",
  ],
  [
    "a circle of eventless transitions",
    sound({ states: { a: { always: "b" }, b: { initial: "c", states: { c: { always: "#a" } } } } }),
    "error eventless-cycle a#always/0",
  ],
  [
    "a history state with children",
    sound({
      states: { a: { on: { go: "b" } }, b: { type: "final" }, h: { type: "history", states: { x: {} } } },
    }),
    "error misplaced-history h#states",
  ],
  [
    "a history state with transitions",
    sound({
      states: { a: { on: { go: "b" } }, b: { type: "final" }, h: { type: "history", on: { go: "a" } } },
    }),
    "error misplaced-history h#on",
  ],
  [
    "a guard named like a variable",
    sound({ guards: { event: "true" } }),
    "error reserved-name #guards/event",
  ],
  ["a parallel without regions", inA({ type: "parallel" }), "error empty-parallel a#states"],
  [
    "a placeholder",
    inA({ on: { go: { guard: { placeholder: "isRich" }, target: "b" } } }),
    "warning placeholder a#on/go/0/guard",
  ],
  [
    "a state that nothing leads to",
    sound({ states: { a: { on: { go: "b" } }, b: { type: "final" }, c: { on: { go: "b" } } } }),
    "warning unreachable-state c#",
  ],
  ["a dead end", sound({ states: { a: { on: { go: "b" } }, b: {} } }), "warning dead-end b#"],
  [
    "a shadowed transition",
    inA({ on: { go: ["b", { guard: "context.n > 1", target: "a" }] } }),
    "warning shadowed-transition a#on/go/1",
  ],
  [
    "one shadowed by a wildcard",
    inA({ on: { "*": { order: 0, target: "b" }, go: { order: 1, target: "a" } } }),
    "warning shadowed-transition a#on/go/0",
  ],
  [
    "an invocation without onError",
    inA({ invoke: { src: "http", onDone: "b" } }),
    "warning invoke-without-onerror a#invoke/0",
  ],
  [
    "a transition on a final state",
    sound({ states: { a: { on: { go: "b" } }, b: { type: "final", on: { go: "a" } } } }),
    "warning transition-on-final b#on",
  ],
  [
    "a guard that is a number",
    inA({ on: { go: { guard: "1 + 1", target: "b" } } }),
    "warning guard-never-true a#on/go/0/guard",
  ],
])("%s is found at its place", (_name, chart, expected) => {
  expect(found(chart)).toContain(expected);
});

test.each<[string, Draft]>([
  [
    "a region may rest",
    sound({
      states: { a: { type: "parallel", states: { r: {}, s: {} }, on: { go: "b" } }, b: { type: "final" } },
    }),
  ],
  [
    "history keeps its states reachable",
    sound({
      states: {
        a: {
          initial: "x",
          states: { x: { on: { next: "y" } }, y: {}, h: { history: "deep", type: "history" } },
          on: { go: "b" },
        },
        b: { on: { back: "a.h", end: "c" } },
        c: { type: "final" },
      },
    }),
  ],
  [
    "a state entered only through its child",
    sound({
      states: {
        a: { on: { go: "b.y" } },
        b: { initial: "y", states: { y: { on: { end: "#c" } } } },
        c: { type: "final" },
      },
    }),
  ],
  [
    "a loop with a guarded way out",
    sound({
      states: {
        a: { always: "b", exit: { assign: { n: "context.n + 1" } } },
        b: {
          initial: "c",
          states: { c: { always: [{ guard: "context.n > 3", target: "#d" }, { target: "#a" }] } },
          type: "compound",
        },
        d: { type: "final" },
      },
    }),
  ],
  [
    "a guarded circle may end",
    sound({
      states: {
        a: { always: { guard: "context.n > 3", target: "b" } },
        b: { always: { guard: "context.n > 4", target: "a" }, on: { end: "c" } },
        c: { type: "final" },
      },
    }),
  ],
  [
    "error.* at the root handles an invocation's failure",
    { ...inA({ invoke: { src: "http" } }), on: { "error.*": ".b" } },
  ],
  ["two guarded candidates", inA({ on: { go: [{ guard: "context.n > 1", target: "b" }, "a"] } })],
])("%s: no false alarm", (_name, chart) => {
  expect(found(chart)).toEqual([]);
});

test("a wrong target names the likely one, a missing initial carries its fix", () => {
  const [bad] = diagnose({ lockstep: 1, ...inA({ on: { go: ".b" } }) });
  expect(bad?.message).toContain("did you mean `b`?");
  const [missing] = diagnose({ lockstep: 1, states: { a: { type: "final" } } });
  expect(missing?.fix).toEqual({ title: "Start in a", edit: { set: "initial", state: "", to: "a" } });
});

test("a dotted key is told to who has not validated, too", () => {
  const chart = sound({ states: { a: { on: { go: "b" } }, b: { type: "final" }, "c.d": {} } });
  expect(found(chart)).toContain("error dotted-key #states/c.d");
});

test("compile refuses what cannot run and keeps what fails only when reached", () => {
  const make = (chart: Draft): unknown => compile({ lockstep: 1, ...chart });
  expect(() => make(inA({ on: { go: "nowhere" } }))).toThrow(
    expect.objectContaining({ code: "chart-invalid" }),
  );
  expect(() => make(inA({ entry: ["unknown", { assign: { "a b": "1 +" } }] }))).not.toThrow();
});

test("a state with 50,000 transitions is judged in seconds", () => {
  const on = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, index) => [`e${index}.x.y`, { target: "b" }]),
  );
  const began = performance.now();
  expect(found(inA({ on }))).toEqual([]);
  // Under two seconds on a quiet machine; a quadratic check took minutes.
  expect(performance.now() - began).toBeLessThan(15_000);
});

test("random charts have no errors", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const errors = diagnose({ tasks: { work: {} }, ...randomChart(seed) }).filter(
      ({ severity }) => severity === "error",
    );
    expect(errors, `seed ${seed}`).toEqual([]);
  }
});
