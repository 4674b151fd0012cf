import { describe, expect, test } from "vitest";
import { createMachine, initialTransition, transition, type AnyMachineSnapshot } from "xstate";
import type { Json } from "@/lib/base/json";
import { compile } from "@/lib/statechart/compile";
import type { Chart } from "@/lib/statechart/document";
import { macrostep } from "@/lib/statechart/macrostep";
import { start } from "@/lib/statechart/start";
import { stateValue } from "@/lib/statechart/state-value";
import { importChart } from "../import-chart";
import type { ImportResult } from "../import-result";

const importMachine = (config: Json): ImportResult => importChart(JSON.stringify(config));
function chartOf(config: Json): Chart {
  const { chart, diagnostics } = importMachine(config);
  if (chart === null) throw new Error(JSON.stringify(diagnostics));
  return chart;
}

test("names become placeholders, one each, and keep their parameters literal", () => {
  const { chart, placeholders } = importMachine({
    id: "m",
    initial: "a",
    states: {
      a: {
        entry: ["hello", { type: "hello" }, { type: "greet", params: { who: "you", times: 2 } }],
        on: {
          GO: { target: "b", guard: "ready" },
          MAYBE: { target: "b", guard: { type: "over", params: { limit: "5" } } },
        },
        after: { "1000": "b", soon: "b" },
        invoke: { src: "fetchUser", input: { id: "u1" }, onDone: "b" },
      },
      b: {},
    },
  });
  expect(chart).toMatchObject({
    lockstep: 1,
    id: "m",
    settings: { selection: "xstate", errors: "stop" },
    guards: { ready: { placeholder: "ready" }, over: { placeholder: "over" } },
    actions: { hello: { placeholder: "hello" }, greet: { placeholder: "greet" } },
    delays: { soon: { placeholder: "soon" } },
    states: {
      a: {
        entry: ["hello", "hello", { type: "greet", params: { who: "'you'", times: 2 } }],
        on: {
          GO: { target: "b", guard: "ready" },
          MAYBE: { guard: { type: "over", params: { limit: "'5'" } } },
        },
        after: { "1000": "b", soon: "b" },
        invoke: [{ src: { placeholder: "fetchUser" }, input: { id: "'u1'" }, onDone: "b" }],
      },
    },
  });
  expect(placeholders).toBe(6);
});

test("XState's own event names become SCXML's", () => {
  const chart = chartOf({
    id: "m",
    initial: "a",
    states: {
      a: {
        id: "first",
        initial: "x",
        states: { x: { invoke: { src: "work", id: "w" } } },
        on: {
          "xstate.done.state.m.b.c": "b",
          "xstate.done.actor.w": "b",
          "xstate.error.actor.w": "b",
          "xstate.done.actor.0.m.a.x": "b",
          "xstate.error.*": "b",
          "done.state.first": "b",
        },
      },
      b: { initial: "c", states: { c: {} } },
    },
  });
  expect(Object.keys(chart.states?.a?.on ?? {})).toEqual([
    "done.state.b.c",
    "done.invoke.w",
    "error.invoke.w",
    "done.invoke.a.x:0",
    "done.state.first",
    "error.*",
  ]);
});

test("an event of XState's own without a counterpart is named as lost", () => {
  const { losses, chart } = importMachine({
    initial: "a",
    states: { a: { on: { "xstate.init": "a", GO: "a" } } },
  });
  expect(losses.map(({ message }) => message)).toEqual([expect.stringContaining("xstate.init")]);
  expect(Object.keys(chart?.states?.a?.on ?? {})).toEqual(["GO"]);
});

test("exact descriptors come before longer wildcards before shorter ones before *", () => {
  const chart = chartOf({
    initial: "a",
    states: { a: { on: { "*": "a", "x.*": "a", "x.y.*": "a", "x.y": "a", go: "a" } } },
  });
  expect(Object.keys(chart.states?.a?.on ?? {})).toEqual(["x.y", "go", "x.y.*", "x.*", "*"]);
});

test("targets by machine path, by id, of the root, and unknown ones", () => {
  const chart = chartOf({
    id: "m",
    initial: "a",
    on: { UP: "a", DOWN: ".a.x" },
    states: {
      a: {
        initial: "x",
        states: { x: { on: { A: "#m.b", B: "#far.y", C: "#nowhere", D: ["#m.b", "#far"] } } },
      },
      b: { id: "far", initial: "y", states: { y: {} } },
    },
  });
  expect(chart.on).toEqual({ UP: ".a", DOWN: ".a.x" });
  expect(chart.states?.a?.states?.x?.on).toEqual({
    A: "#far",
    B: "#b.y",
    C: "#nowhere",
    D: ["#far", "#far"],
  });
});

test("Stately's dialect: core actions, transition context, expressions in another language kept word for word", () => {
  const { chart, placeholders, name } = importMachine({
    key: "order",
    version: "1.2.0",
    queryLanguage: "jsonata",
    context: { total: 0, discount: "{{ $lookup }}" },
    initial: "open",
    states: {
      open: {
        on: {
          PAY: {
            target: "paid",
            guard: "{{ $event.amount > 5 }}",
            context: { total: "{{ $event.amount }}" },
            actions: [
              { type: "core.assign", assignments: { note: "thanks" } },
              { type: "xstate.raise", params: { event: { type: "PAID", by: "card" }, delay: 50 } },
              { type: "xstate.sendTo", params: { actorRef: "worker", event: { type: "PING" } } },
              { type: "xstate.log", params: { message: "hi" } },
              { type: "xstate.emit", params: { event: { type: "NOTIFY" } } },
            ],
          },
        },
      },
      paid: { type: "final" },
    },
  });
  expect(name).toBe("order");
  expect(placeholders).toBe(3);
  expect(chart?.context).toEqual({ total: 0, discount: null });
  expect(chart?.entry).toEqual([{ assign: { discount: { placeholder: "jsonata", text: "{{ $lookup }}" } } }]);
  expect(chart?.meta).toEqual({ xstate: { version: "1.2.0", queryLanguage: "jsonata" } });
  expect(chart?.states?.open?.on?.PAY).toEqual({
    target: "paid",
    guard: { placeholder: "jsonata", text: "{{ $event.amount > 5 }}" },
    actions: [
      { assign: { note: "'thanks'" } },
      { raise: { type: "PAID", data: { by: "'card'" }, delay: 50 } },
      { send: { to: "#_worker", type: "PING" } },
      { log: "'hi'" },
      { emit: { type: "NOTIFY" } },
      { assign: { total: { placeholder: "jsonata", text: "{{ $event.amount }}" } } },
    ],
  });
});

test("expressions written in CEL are taken over", () => {
  const chart = chartOf({
    key: "m",
    queryLanguage: "cel",
    context: { n: 1 },
    initial: "a",
    states: { a: { on: { GO: { target: "b", guard: "{{ context.n > 0 }}" } } }, b: {} },
  });
  expect(chart.states?.a?.on?.GO).toEqual({ target: "b", guard: "context.n > 0" });
});

test("literal data that would look computed or like a placeholder stays data", () => {
  const chart = chartOf({
    initial: "a",
    context: { a: { cel: "1 + 1" } },
    states: {
      a: { entry: { type: "core.assign", assignments: { b: { placeholder: "x" }, c: "1 + 1", d: "it's" } } },
    },
  });
  const { snapshot } = start(compile(chart), { id: "s" }, { at: 0, seq: 1 });
  expect(snapshot.context).toEqual({ a: { cel: "1 + 1" }, b: { placeholder: "x" }, c: "1 + 1", d: "it's" });
});

describe("shapes that XState would refuse are named with state and field", () => {
  test.each<[Json, string, string]>([
    [{ states: { a: 5 } }, "", "State `a` must be an object."],
    [{ states: { a: { on: 5 } } }, "a", "`on` of state `a` must be an object of transitions by event."],
    [{ states: { a: { type: "weird" } } }, "a", "`type` of state `a` must be one of"],
    [{ states: { a: { entry: 7 } } }, "a", "must be a name or {type, params}"],
    [{ states: { a: { invoke: {} } } }, "a", "has no `src`"],
  ])("%j", (config, state, message) => {
    const { chart, diagnostics } = importMachine(config);
    expect(chart).toBeNull();
    expect(diagnostics[0]?.at.state).toBe(state);
    expect(diagnostics[0]?.message).toContain(message);
  });
});

// What an import means is what XState does with the same JSON.
describe("an imported machine moves as in XState", () => {
  const machines: [name: string, config: Json, events: string[]][] = [
    [
      "parallel regions, wildcards, re-entry",
      {
        id: "m",
        type: "parallel",
        states: {
          left: {
            initial: "a",
            states: {
              a: { on: { GO: "b", "x.*": "c" } },
              b: { on: { "*": "a" } },
              c: { on: { "x.y": "a", "x.*": "b" } },
            },
          },
          right: {
            initial: "p",
            on: { RESET: { target: ".p", reenter: true } },
            states: { p: { on: { GO: "q" } }, q: { type: "final" } },
          },
        },
      },
      ["GO", "what", "x.y", "x.y", "RESET", "GO", "x.z"],
    ],
    [
      "history and done",
      {
        id: "m",
        initial: "work",
        states: {
          work: {
            initial: "one",
            on: { PAUSE: "paused" },
            onDone: "end",
            states: {
              one: { on: { NEXT: "two" } },
              two: { on: { NEXT: "three" } },
              three: { type: "final" },
              back: { type: "history" },
            },
          },
          paused: { on: { RESUME: "work.back" } },
          end: { type: "final" },
        },
      },
      ["NEXT", "PAUSE", "RESUME", "NEXT", "NEXT"],
    ],
    [
      "keys that look like numbers",
      { initial: "10", states: { "10": { on: { GO: "2" } }, "2": { always: "a" }, a: {} } },
      ["GO"],
    ],
  ];
  test.each(machines)("%s", (_, config, events) => {
    const reference = createMachine(config as Parameters<typeof createMachine>[0]);
    const machine = compile(chartOf(config));
    let [theirs] = initialTransition(reference) as [AnyMachineSnapshot, unknown];
    let ours = start(machine, { id: "s" }, { at: 0, seq: 1 }).snapshot;
    const seen = (after: string | null): unknown => ({
      after,
      value: stateValue(machine, ours.configuration),
    });
    const expected = (after: string | null): unknown => ({ after, value: theirs.value as Json });
    expect(seen(null)).toEqual(expected(null));
    events.forEach((type, index) => {
      [theirs] = transition(reference, theirs, { type }) as [AnyMachineSnapshot, unknown];
      ours = macrostep(machine, ours, { kind: "event", type }, { at: 0, seq: index + 2 }).snapshot;
      expect(seen(type)).toEqual(expected(type));
    });
  });
});
