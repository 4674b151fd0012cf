/**
 * A chart's file → a machine that can run, or the reasons on stderr.
 */
import { LockstepError } from "@/lib/base/errors";
import { compile } from "@/lib/statechart/compile";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import type { Machine } from "@/lib/statechart/machine";
import { diagnosticLine } from "./print-diagnostics";
import { readChartFile } from "./read-chart-file";

/** Null, with the reasons told, when the chart cannot be run. */
export function loadMachine(file: string): { machine: Machine; name: string | null } | null {
  const result = readChartFile(file);
  const complain = (diagnostics: Diagnostic[]): null => {
    for (const one of diagnostics) process.stderr.write(`${diagnosticLine(file, one, result.positions)}\n`);
    process.stderr.write(`${file} cannot be run.\n`);
    return null;
  };
  if (result.chart === null) return complain(result.diagnostics);
  try {
    return { machine: compile(result.chart), name: result.name };
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    const found = error.details.diagnostics;
    process.stderr.write(`${file}: ${error.message}\n`);
    return complain(Array.isArray(found) ? (found as unknown as Diagnostic[]) : []);
  }
}
