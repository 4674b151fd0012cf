import { expect, test } from "vitest";
import { buildScene } from "@/lib/diagram/scene";
import { diagnose } from "@/lib/statechart/diagnose";
import { validateChart } from "@/lib/statechart/validate";
import { exampleCharts, exampleInstances } from "./examples";

test.each(exampleCharts)("the example chart $id has nothing to mend", ({ chart }) => {
  const checked = validateChart(JSON.parse(JSON.stringify(chart)));
  expect(checked.diagnostics).toEqual([]);
  expect(diagnose(chart)).toEqual([]);
});

test.each(exampleCharts)(
  "every state and transition of $id has its place, and nothing else",
  ({ chart, layout }) => {
    const scene = buildScene(chart);
    expect(Object.keys(layout.states).sort()).toEqual(scene.boxes.map(({ id }) => id).sort());
    expect(Object.keys(layout.routes).sort()).toEqual(scene.arrows.map(({ id }) => id).sort());
  },
);

test("every example instance is of an example chart, under an id of its own", () => {
  const charts = new Set(exampleCharts.map(({ id }) => id));
  expect(exampleInstances.filter(({ chartId }) => !charts.has(chartId))).toEqual([]);
  expect(new Set(exampleInstances.map(({ id }) => id)).size).toBe(exampleInstances.length);
});
