/**
 * Small charts: random ones, a quarter of them with a concurrency key, and families. All send to other instances: `ping`
 * {mark, to} makes its receiver send `pong` {mark} to `to`.
 */
import type { Chart } from "@/lib/statechart/document";
import { Random, randomOptions, randomRoot, toChart } from "../random-chart";
import { child, childChart, familyChart, familyKinds, nursery, nurseryChart } from "./simulated-family";

const randomKinds = 48;

/** A seed's two charts by their ids; every third seed has a family. */
export function chooseCharts(random: Random): string[] {
  const family = random.chance(0.35);
  const one = `sim${random.below(randomKinds)}`;
  return [family ? `family${random.below(familyKinds)}` : `sim${random.below(randomKinds)}`, one];
}

export const isFamily = (chartId: string | undefined): boolean => chartId?.startsWith("family") ?? false;

/** What families ask for. */
export const namedCharts: readonly string[] = [childChart, nurseryChart];

export function chartOf(id: string): Chart {
  if (id === childChart) return withPing(child());
  if (id === nurseryChart) return withPing(nursery());
  const [, name, kind] = /^(sim|family)(\d+)$/.exec(id) ?? [];
  return withPing(name === "family" ? familyChart(Number(kind)) : randomChart(Number(kind)));
}

function randomChart(kind: number): Chart {
  const random = new Random(kind * 7919 + 1);
  const options = { ...randomOptions(random), statesMax: 3 + random.below(5) };
  options.after ||= random.chance(0.6);
  options.invokes ||= random.chance(0.6);
  // `*` would take the ping.
  options.wildcards = false;
  const chart = toChart(randomRoot(random, options), random.chance(0.5) ? "xstate" : "scxml");
  return kind % 4 === 0
    ? { ...chart, settings: { ...chart.settings, concurrencyKey: "input.keys[0]" } }
    : chart;
}

const withPing = (chart: Chart): Chart => ({
  ...chart,
  on: {
    ...chart.on,
    ping: { actions: [{ send: { to: { cel: "event.to" }, type: "pong", data: { mark: "event.mark" } } }] },
    pong: { actions: { assign: { x: "context.x + 1" } } },
  },
});
