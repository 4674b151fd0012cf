/**
 * Small random charts that also send to other instances: `ping` {mark, to} makes its receiver send `pong` {mark} to `to`.
 */
import type { Chart } from "@/lib/statechart/document";
import { Random, randomOptions, randomRoot, toChart } from "../random-chart";

/** Kinds of charts; a seed's charts are two of them. */
export const chartKinds = 48;

export function simulatedChart(kind: number): Chart {
  const random = new Random(kind * 7919 + 1);
  const options = { ...randomOptions(random), statesMax: 3 + random.below(5) };
  options.after ||= random.chance(0.6);
  options.invokes ||= random.chance(0.6);
  // `*` would take the ping.
  options.wildcards = false;
  const chart = toChart(randomRoot(random, options), random.chance(0.5) ? "xstate" : "scxml");
  return {
    ...chart,
    on: {
      ...chart.on,
      ping: { actions: [{ send: { to: { cel: "event.to" }, type: "pong", data: { mark: "event.mark" } } }] },
      pong: { actions: { assign: { x: "context.x + 1" } } },
    },
  };
}
