/**
 * Small charts in two versions: random ones, and families. Of the random ones a quarter has a concurrency key, the work of
 * another quarter has one, a third asks people too, and the last is searched by fields. All send to other instances: `ping` {mark, to} makes its receiver send
 * `pong` {mark} to `to`.
 */
import type { Chart, Invoke } from "@/lib/statechart/document";
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

export const versions = [1, 2] as const;

/** The second version knows one event more. */
export const versionOf = (id: string, version: (typeof versions)[number]): Chart => {
  const chart = chartOf(id);
  if (version === 1) return chart;
  return { ...chart, on: { ...chart.on, "v2.only": { actions: { assign: { x: "context.x + 2" } } } } };
};

function chartOf(id: string): Chart {
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
  switch (kind % 4) {
    case 0:
      return { ...chart, settings: { ...chart.settings, concurrencyKey: "input.keys[0]" } };
    case 1:
      return withInvokes(chart, (invoke) => ({ ...invoke, concurrencyKey: "'one'" }));
    case 2:
      return withInvokes(chart, (invoke, n) => (n % 2 === 0 ? person(invoke) : invoke));
    default:
      return { ...chart, settings: { ...chart.settings, index: ["x", "y"] } };
  }
}

const person = (invoke: Invoke): Invoke => ({ ...invoke, src: "human", input: { title: "'?'" } });

function withInvokes(chart: Chart, change: (invoke: Invoke, n: number) => Invoke): Chart {
  let n = 0;
  const changed = (key: string, value: unknown) =>
    key === "invoke" ? (value as Invoke[]).map((one) => change(one, n++)) : value;
  return JSON.parse(JSON.stringify(chart), changed) as Chart;
}

const withPing = (chart: Chart): Chart => ({
  ...chart,
  on: {
    ...chart.on,
    ping: { actions: [{ send: { to: { cel: "event.to" }, type: "pong", data: { mark: "event.mark" } } }] },
    pong: { actions: { assign: { x: "context.x + 1" } } },
  },
});
