import { describe, expect, test } from "vitest";
import type { Json } from "@/lib/base/json";
import { Random, randomOptions, randomRoot, toChart } from "@/lib/testing/random-chart";
import { compile } from "@/lib/statechart/compile";
import type { Chart, StateNode } from "@/lib/statechart/document";
import { playTest, readTests, type ChartTest } from "./chart-test";
import { takenIn } from "./explore";
import { paths, type PathKind, type PathsOptions, type PathsResult, type PathTest } from "./paths";
import { Session } from "./session";

const find = (
  chart: StateNode & Partial<Chart>,
  kind: PathKind,
  options: Omit<PathsOptions, "kind"> = {},
): PathsResult => paths(compile({ lockstep: 1, ...chart }), { kind, ...options });

const asTests = (tests: readonly PathTest[]): ChartTest[] => {
  if (tests.length === 0) return [];
  const read = readTests(JSON.parse(JSON.stringify(tests)) as Json);
  if ("problem" in read) throw new Error(read.problem);
  return read;
};
const inputs = ({ steps }: PathTest): string =>
  steps
    .map((step) => ("advance" in step ? String(step.advance) : "type" in step ? String(step.type) : "start"))
    .join(" ");
const endOf = ({ steps }: PathTest): string => steps.at(-1)?.expect.configuration.join(",") ?? "";
const shown = ({ tests }: PathsResult): string[] =>
  tests.map((one) => `${inputs(one)} → ${endOf(one)}`).sort();

const order = {
  initial: "open",
  context: { paid: 0 },
  tasks: { ship: {} },
  schemas: {
    events: { pay: { type: "object", properties: { amount: { type: "integer", enum: [1, 5] } } } },
  },
  states: {
    open: {
      on: { pay: { guard: "event.amount >= 5", target: "paid" }, cancel: "#gone" },
      after: { "1h": "#gone" },
    },
    paid: { invoke: { src: "ship", onDone: "shipped", onError: "open" } },
    shipped: { type: "final" },
    gone: { id: "gone", type: "final" },
  },
} satisfies StateNode & Partial<Chart>;

describe("shortest", () => {
  test("one path to each configuration, payloads from schemas, work answered, time advanced", () => {
    const result = find(order, "shortest");
    expect(shown(result)).toEqual(["cancel → gone", "pay 1000 → shipped", "pay → paid", "start → open"]);
    expect(result.tests.find((one) => inputs(one) === "pay")?.steps[0]).toMatchObject({
      data: { amount: 5 },
    });
    expect(result.bound).toBeNull();
  });
  test("payloads of the tests beside the chart are sent too", () => {
    const chart = {
      initial: "a",
      states: { a: { on: { go: { guard: "event.code == 'x7'", target: "b" } } }, b: {} },
    };
    expect(shown(find(chart, "shortest"))).toEqual(["start → a"]);
    const tests = asTests([
      {
        name: "t",
        steps: [{ type: "go", data: { code: "x7" }, expect: { configuration: ["b"], status: "running" } }],
      },
    ]);
    expect(shown(find(chart, "shortest", { tests }))).toEqual(["go → b", "start → a"]);
  });
  test("own stubs take the place of those made from the chart", () => {
    const result = find(order, "shortest", { stubs: { ship: [{ error: "no" }] } });
    expect(shown(result).some((one) => one.endsWith("shipped"))).toBe(false);
  });
});

test("simple: every way that comes to no situation twice", () => {
  const chart = {
    initial: "a",
    states: { a: { on: { x: "b", y: "c" } }, b: { on: { z: "c" } }, c: { on: { back: "a" } } },
  };
  expect(shown(find(chart, "simple"))).toEqual(["x z → c", "x → b", "y → c"]);
});

describe("coverage", () => {
  test("few sequences take every transition that can be taken; the others are named", () => {
    const result = find(
      {
        ...order,
        states: { ...order.states, lost: { on: { found: "open" } } },
      },
      "coverage",
    );
    expect(result.untaken).toEqual(["lost#on/found/0"]);
    expect(result.taken).toEqual([
      "open#after/1h/0",
      "open#on/cancel/0",
      "open#on/pay/0",
      "paid#invoke/0/onDone/0",
      "paid#invoke/0/onError/0",
    ]);
    expect(result.tests.length).toBeLessThanOrEqual(4);
  });
  test("wildcards are reached by an event of their own", () => {
    const chart = { initial: "a", states: { a: { on: { "x.*": "b" } }, b: { on: { "*": "a" } } } };
    expect(find(chart, "coverage").untaken).toEqual([]);
  });
});

test("a search that never ends says what bound it hit", () => {
  const counter = { context: { n: 0 }, on: { up: { actions: { assign: { n: "context.n + 1" } } } } };
  expect(find(counter, "shortest", { bounds: { statesMax: 20 } })).toMatchObject({
    bound: "states",
    situations: 20,
  });
  expect(find(counter, "shortest", { bounds: { depthMax: 5 } })).toMatchObject({
    bound: "depth",
    situations: 6,
  });
  expect(find(counter, "shortest", { bounds: { inputsMax: 30 } }).bound).toBe("inputs");
  const clock = { initial: "a", states: { a: { after: { "10d": "b" } }, b: {} } };
  expect(find(clock, "shortest", { bounds: { untilMs: 1_000 } })).toMatchObject({
    bound: "time",
    situations: 1,
  });
});

const bounds = { statesMax: 40, inputsMax: 500, depthMax: 12, pathsMax: 40 };

/** What the tests take when they are played anew. */
function takenBy(machine: ReturnType<typeof compile>, tests: readonly ChartTest[]): string[] {
  const taken = new Set<string>();
  for (const { steps, stubs } of tests) {
    const session = new Session(machine, { trace: true, ...(stubs === undefined ? {} : { stubs }) });
    const lines = [session.start()];
    for (const { input } of steps) {
      if (input === null) continue;
      lines.push(
        "advanceMs" in input ? session.advance(input.advanceMs) : session.send(input.type, input.data),
      );
    }
    for (const line of lines) for (const id of takenIn(line)) if (machine.transitions.has(id)) taken.add(id);
  }
  return [...taken].sort();
}

test("random charts: every path replays to where it says, and reports exactly the transitions it takes", () => {
  let found = 0;
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed);
    const root = randomRoot(random, { ...randomOptions(random), statesMax: 8 });
    const machine = compile(toChart(root, random.chance(0.5) ? "xstate" : "scxml"));
    for (const kind of ["shortest", "simple", "coverage"] as const) {
      const result = paths(machine, { kind, bounds });
      const tests = asTests(result.tests);
      for (const one of tests)
        expect(playTest(machine, one), `seed ${seed}, ${kind}, ${one.name}`).toBeNull();
      expect(takenBy(machine, tests), `seed ${seed}, ${kind}`).toEqual(result.taken);
      expect([...result.taken, ...result.untaken].sort()).toEqual([...machine.transitions.keys()].sort());
      found += tests.length;
    }
  }
  expect(found).toBeGreaterThan(200);
}, 120_000);
