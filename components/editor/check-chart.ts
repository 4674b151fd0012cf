/**
 * Everything there is to say about a chart: its shape first, then its meaning.
 */
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import type { Chart } from "@/lib/statechart/document";
import { diagnose } from "@/lib/statechart/diagnose";
import { validateChart } from "@/lib/statechart/validate";

export function checkChart(chart: Chart): Diagnostic[] {
  const { chart: valid, diagnostics } = validateChart(chart);
  return valid === null ? diagnostics : [...diagnostics, ...diagnose(valid)];
}
