/**
 * `lockstep render IN OUT.svg`: a chart as a drawing, laid out by ELK. ELK is loaded here alone, for it is large.
 */
import { parseArgs } from "node:util";
import { drawChart } from "@/lib/formats/svg/draw-chart";
import { hasErrors } from "@/lib/statechart/diagnostic";
import { allDiagnostics } from "./check";
import { diagnosticLine, lossLine } from "./print-diagnostics";
import { readChartFile, reasonOf } from "./read-chart-file";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeFileAtomic } from "./write-file-atomic";

export async function render(args: string[]): Promise<ExitCode> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2)
    throw new UsageError("render needs exactly IN and OUT.svg.");
  if (!to.toLowerCase().endsWith(".svg"))
    throw new UsageError(`render writes SVG: let ${to} end in .svg. Nothing was written.`);
  const result = readChartFile(from);
  const diagnostics = allDiagnostics(result);
  for (const diagnostic of diagnostics)
    process.stderr.write(`${diagnosticLine(from, diagnostic, result.positions)}\n`);
  for (const loss of result.losses) process.stderr.write(`${lossLine(from, loss)}\n`);
  if (result.chart === null || hasErrors(diagnostics)) {
    process.stderr.write(`${from} has errors: nothing was written.\n`);
    return exit.chart;
  }
  const { default: Elk } = await import("elkjs/lib/elk.bundled.js");
  const { svg, failure } = await drawChart(result.chart, result.name ?? "", new Elk());
  if (failure !== null) process.stderr.write(`${from}: laid out in a grid: ${failure}\n`);
  try {
    writeFileAtomic(to, svg);
  } catch (error) {
    throw new UsageError(`${to} cannot be written: ${reasonOf(error)}.`);
  }
  return exit.ok;
}
