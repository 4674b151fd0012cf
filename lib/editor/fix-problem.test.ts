import { expect, test } from "vitest";
import { must } from "@/lib/base/assert";
import { emptyLayout } from "@/lib/diagram/layout";
import { guessWidth } from "@/lib/diagram/measure";
import { diagnose } from "@/lib/statechart/diagnose";
import type { Chart } from "@/lib/statechart/document";
import { applyCommand } from "./command";
import { mendOf } from "./fix-problem";

/** Applies every mend there is until none is left. */
function mended(chart: Chart): Chart {
  let document = { chart, layout: emptyLayout };
  for (let tries = 0; tries < 20; tries++) {
    const mend = diagnose(document.chart)
      .map((problem) => mendOf(document.chart, problem))
      .find(Boolean);
    if (!mend) break;
    const outcome = applyCommand(document, mend.command, { measure: guessWidth });
    if ("refused" in outcome) throw new Error(outcome.refused);
    document = outcome.document;
  }
  return document.chart;
}

test("the mends of a chart's problems leave it without errors", () => {
  const chart: Chart = {
    lockstep: 1,
    initial: "a",
    states: {
      a: {
        entry: ["prepare"],
        invoke: { src: "weigh", onError: "b" },
        on: { go: { target: "b", guard: "isReady", actions: "prepare" } },
      },
      b: { states: { c: { on: { next: "d" } }, d: {} } },
    },
  };
  expect(diagnose(chart).filter((problem) => problem.severity === "error").length).toBeGreaterThanOrEqual(4);
  const after = mended(chart);
  expect(diagnose(after).filter((problem) => problem.severity === "error")).toEqual([]);
  expect(after.actions).toEqual({ prepare: { placeholder: "prepare" } });
  expect(after.guards).toEqual({ isReady: { placeholder: "isReady" } });
  expect(after.states?.b?.initial).toBe("c");
});

test("a slip is mended where it stands, a shadowed transition goes with its route", () => {
  const chart: Chart = {
    lockstep: 1,
    context: { count: 1 },
    initial: "a",
    states: {
      a: { on: { go: ["b", { guard: "context.coutn > 1", target: "a" }] } },
      b: { type: "final" },
    },
  };
  const layout = { ...emptyLayout, routes: { "a#on/go/1": { points: [] } } } as unknown as typeof emptyLayout;
  let document = { chart, layout };
  for (const code of ["unknown-context", "shadowed-transition"]) {
    const problem = must(
      diagnose(document.chart).find((one) => one.code === code),
      code,
    );
    const mend = must(mendOf(document.chart, problem), "a mend");
    const outcome = applyCommand(document, mend.command, { measure: guessWidth });
    if ("refused" in outcome) throw new Error(outcome.refused);
    document = outcome.document;
    if (code === "unknown-context")
      expect(document.chart.states?.a?.on?.go).toEqual(["b", { guard: "context.count > 1", target: "a" }]);
  }
  expect(document.chart.states?.a?.on?.go).toEqual(["b"]);
  expect(Object.keys(document.layout.routes)).not.toContain("a#on/go/1");
  expect(diagnose(document.chart)).toEqual([]);
});
