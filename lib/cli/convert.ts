/**
 * `lockstep convert IN OUT`: a chart in another format, by OUT's extension. Nothing is written when IN has errors; what
 * OUT cannot say goes to stderr before it is written.
 */
import { parseArgs } from "node:util";
import { exportChart, type ExportFormat } from "@/lib/formats/export-chart";
import { hasErrors } from "@/lib/statechart/diagnostic";
import { allDiagnostics } from "./check";
import { diagnosticLine, lossLine } from "./print-diagnostics";
import { readChartFile, reasonOf } from "./read-chart-file";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeFileAtomic } from "./write-file-atomic";

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
const laterFormats: readonly (readonly [extension: string, name: string])[] = [
  [".js", "JavaScript (write .ts)"],
  [".svg", "SVG"],
  [".png", "PNG"],
];

const known =
  ".json for a lockstep chart, .xstate.json for XState, .ts for a TypeScript module, .scxml for SCXML, .mmd for Mermaid";

export function convert(args: string[]): ExitCode {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2)
    throw new UsageError("convert needs exactly IN and OUT.");
  const endsWith = ([extension]: readonly [string, string]): boolean => to.toLowerCase().endsWith(extension);
  const later = laterFormats.find(endsWith);
  if (later !== undefined)
    throw new UsageError(
      `Writing ${later[1]} is not supported yet (${to}); write ${known}. Nothing was written.`,
    );
  const format = formats.find(endsWith)?.[1];
  if (format === undefined)
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
  const { text, losses } = exportChart(result.chart, format);
  for (const loss of losses) process.stderr.write(`${lossLine(to, loss)}\n`);
  try {
    writeFileAtomic(to, text);
  } catch (error) {
    throw new UsageError(`${to} cannot be written: ${reasonOf(error)}.`);
  }
  return exit.ok;
}
