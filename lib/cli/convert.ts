/**
 * `lockstep convert IN OUT`: a chart in another format, or drawn, by OUT's extension. Nothing is written when IN has errors;
 * what OUT cannot say goes to stderr before it is written.
 */
import { parseArgs } from "node:util";
import { exportChart, type ExportFormat } from "@/lib/formats/export-chart";
import { hasErrors } from "@/lib/statechart/diagnostic";
import { allDiagnostics } from "./check";
import { draw, drawingOf } from "./draw";
import { diagnosticLine, lossLine } from "./print-diagnostics";
import { readChartFile } from "./read-chart-file";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeOut } from "./write-file-atomic";

/** The longest extension first: `.xstate.json` is no plain `.json`. */
const formats: readonly (readonly [extension: string, format: ExportFormat])[] = [
  [".xstate.json", "xstate"],
  [".json", "lockstep"],
  [".ts", "module"],
  [".mts", "module"],
  [".scxml", "scxml"],
  [".mmd", "mermaid"],
  [".mermaid", "mermaid"],
];

const known =
  ".json for a lockstep chart, .xstate.json for XState, .ts for a TypeScript module, .scxml for SCXML, .mmd for Mermaid, " +
  ".svg or .png for a drawing";

export async function convert(args: string[]): Promise<ExitCode> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2)
    throw new UsageError("convert needs exactly IN and OUT.");
  const drawing = drawingOf(to);
  const format = formats.find(([extension]) => to.toLowerCase().endsWith(extension))?.[1];
  if (format === undefined && drawing === null)
    throw new UsageError(`The extension of ${to} names no format: use ${known}. Nothing was written.`);

  const result = readChartFile(from);
  const diagnostics = allDiagnostics(result);
  for (const diagnostic of diagnostics)
    process.stderr.write(`${diagnosticLine(from, diagnostic, result.positions)}\n`);
  for (const loss of result.losses) process.stderr.write(`${lossLine(from, loss)}\n`);
  if (result.chart === null || hasErrors(diagnostics)) {
    process.stderr.write(`${from} has errors: nothing was written.\n`);
    return exit.chart;
  }
  if (drawing !== null) {
    const { content, failure } = await draw(result.chart, result.name ?? "", drawing);
    if (failure !== null) process.stderr.write(`${from}: laid out in a grid: ${failure}\n`);
    writeOut(to, content);
  } else if (format !== undefined) {
    const { text, losses } = exportChart(result.chart, format);
    for (const loss of losses) process.stderr.write(`${lossLine(to, loss)}\n`);
    writeOut(to, text);
  }
  return exit.ok;
}
