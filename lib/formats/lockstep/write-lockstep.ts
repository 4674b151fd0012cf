/**
 * Lockstep JSON out: the canonical form, indented for people. Equal charts give equal texts.
 */
import { canonicalChart } from "@/lib/statechart/canonical-chart";
import type { Chart } from "@/lib/statechart/document";

export function writeLockstep(chart: Chart): string {
  return `${JSON.stringify(JSON.parse(canonicalChart(chart)), null, 2)}\n`;
}
