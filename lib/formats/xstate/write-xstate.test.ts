/**
 * XState JSON out: what comes back moves the same, and comes back the same from then on.
 */
import { describe, expect, test } from "vitest";
import { canonicalJson } from "@/lib/base/canonical";
import type { Json } from "@/lib/base/json";
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import type { Chart } from "@/lib/statechart/document";
import { Play } from "@/lib/testing/play-chart";
import { Random, randomEvents, randomOptions, randomRoot, toChart } from "@/lib/testing/random-chart";
import { exportChart } from "../export-chart";
import { importChart } from "../import-chart";

const back = (chart: Chart): Chart => {
  const { text } = exportChart(chart, "xstate");
  const { chart: read, diagnostics } = importChart(text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return read as Chart;
};
const equal = (a: Chart, b: Chart): boolean => canonicalChart(a) === canonicalChart(b);

test("a chart that is one state comes back too", () => {
  for (const chart of [{ always: { actions: { log: "'x'" } } }, { context: { n: 1 } }, { entry: "note" }])
    expect(back({ lockstep: 1, ...chart }).states).toBeUndefined();
});

const machine = {
  id: "m",
  queryLanguage: "cel",
  initial: "a",
  context: { n: 1, list: ["x"] },
  states: {
    a: {
      entry: [{ type: "track", params: { at: "a" } }, "note"],
      on: {
        GO: [
          {
            target: "#m.b",
            guard: "ready",
            actions: [{ type: "xstate.assign", assignments: { n: "{{ context.n + 1 }}" } }],
          },
        ],
        STOP: {
          guard: {
            type: "xstate.and",
            guards: ["ready", { type: "xstate.not", guards: ["{{ context.n > 2 }}"] }],
          },
          target: "b",
        },
        "x.*": { target: ".c", reenter: true },
        "xstate.done.state.m.b": "b",
        "xstate.error.actor.0.m.b": {
          actions: [{ type: "xstate.raise", event: { type: "GO", why: "again" }, delay: 100, id: "r" }],
        },
        "*": {},
      },
      after: { 1000: "b", slow: { target: "b" } },
      initial: "c",
      states: { c: { tags: ["t"], meta: { k: 1 } }, h: { type: "history", history: "deep", target: "c" } },
    },
    b: {
      type: "parallel",
      onDone: "#far",
      invoke: {
        src: "work",
        id: "w",
        input: { n: "{{ context.n }}" },
        onDone: "a",
        onError: [{ target: "a" }],
      },
      states: {
        p: { type: "final", output: { r: "{{ context.n }}" } },
        q: { always: [{ target: "#far", guard: "ready" }] },
      },
    },
    far: { id: "far", type: "final", exit: [{ type: "xstate.sendParent", event: "bye" }] },
  },
};

describe("XState JSON out", () => {
  test("a machine that came from XState comes back the same", () => {
    const { chart } = importChart(JSON.stringify(machine));
    const { text, losses } = exportChart(chart as Chart, "xstate");
    expect(losses).toEqual([]);
    expect(JSON.parse(canonicalChart(back(chart as Chart)))).toEqual(
      JSON.parse(canonicalChart(chart as Chart)),
    );
    // Events have XState's names again.
    expect(Object.keys((JSON.parse(text) as typeof machine).states.a.on)).toEqual(
      expect.arrayContaining(["xstate.done.state.m.b", "xstate.error.actor.0.m.b"]),
    );
  });

  test("60 random charts come back the same from the second time on; the first 12 move the same", () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = new Random(seed);
      // Guards among actions and messages to oneself are losses there, and told as such.
      const options = { ...randomOptions(random), choices: false, messages: false };
      const chart = toChart(randomRoot(random, options), "xstate");
      const once = back(chart);
      expect(equal(back(once), once), `seed ${seed}`).toBe(true);
      if (seed >= 12) continue;
      const [a, b] = [new Play(chart), new Play(once)];
      for (let step = 0; step < 10; step++) {
        const type = random.pick(randomEvents);
        const data = { n: random.below(5) };
        for (const play of [a, b]) play.send({ type, data });
        if (random.chance(0.2)) for (const play of [a, b]) play.advance(500);
        expect(shown(b), `seed ${seed}, step ${step}`).toBe(shown(a));
      }
    }
  });

  test("what XState's JSON cannot say is named", () => {
    const { text, losses } = exportChart(
      {
        lockstep: 1,
        initial: "a",
        guards: { rich: "context.n > 1", asks: "params.k" },
        context: { n: 0, c: { cel: "1 + 1" } },
        states: {
          a: {
            on: {
              "*": "b",
              go: { target: "b", guard: { and: ["rich", { type: "asks", params: { k: "true" } }] } },
            },
            entry: [
              { log: { placeholder: "jq", text: "{{ .a }}" } },
              { if: "rich", then: { log: "1" } },
              { cancel: { cel: "'x'" } },
              { send: { to: "instance:1", type: "e" } },
            ],
            invoke: { src: "http", autoforward: true },
          },
          b: {},
        },
      },
      "xstate",
    );
    const messages = losses.map(({ message }) => message).join("\n");
    for (const part of [
      "parallel",
      "`{{ .a }}`",
      "stops at an error",
      "`c` is computed",
      "exact events",
      "`asks`",
      "`if`",
      "computed id",
      "instance:1",
      "`http`",
      "autoforward",
    ])
      expect(messages).toContain(part);
    expect(text).toContain('"{{ context.n > 1 }}"');
  });
});

const shown = ({ last: { snapshot } }: Play): string =>
  canonicalJson([
    snapshot.status,
    snapshot.configuration,
    snapshot.context,
    Object.keys(snapshot.timers),
  ] as Json);
