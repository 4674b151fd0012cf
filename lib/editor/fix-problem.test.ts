import { expect, test } from "vitest";
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
