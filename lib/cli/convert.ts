/**
 * `lockstep convert IN OUT`: a chart in another format, by OUT's extension. Nothing is written when IN has errors; what
 * OUT cannot say goes to stderr before it is written.
 */
import { parseArgs } from "node:util";
import { writeLockstep } from "@/lib/formats/lockstep/write-lockstep";
import { hasErrors } from "@/lib/statechart/diagnostic";
import { allDiagnostics } from "./check";
import { diagnosticLine, lossLine } from "./print-diagnostics";
import { readChartFile, reasonOf } from "./read-chart-file";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeFileAtomic } from "./write-file-atomic";

const laterFormats: readonly (readonly [extension: string, name: string])[] = [
  [".xstate.json", "XState JSON"],
  [".ts", "an XState module"],
  [".js", "an XState module"],
  [".scxml", "SCXML"],
  [".mmd", "Mermaid"],
  [".svg", "SVG"],
  [".png", "PNG"],
];

export function convert(args: string[]): ExitCode {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2)
    throw new UsageError("convert needs exactly IN and OUT.");
  const later = laterFormats.find(([extension]) => to.toLowerCase().endsWith(extension));
  if (later !== undefined)
    throw new UsageError(
      `Writing ${later[1]} is not supported yet (${to}); write a lockstep .json. Nothing was written.`,
    );
  if (!to.toLowerCase().endsWith(".json"))
    throw new UsageError(
      `The extension of ${to} names no format: use .json for a lockstep chart. Nothing was written.`,
    );

  const result = readChartFile(from);
  const diagnostics = allDiagnostics(result);
  for (const diagnostic of diagnostics)
    process.stderr.write(`${diagnosticLine(from, diagnostic, result.positions)}\n`);
  for (const loss of result.losses) process.stderr.write(`${lossLine(from, loss)}\n`);
  if (result.chart === null || hasErrors(diagnostics)) {
    process.stderr.write(`${from} has errors: nothing was written.\n`);
    return exit.chart;
  }
  const text = writeLockstep(result.chart);
  try {
    writeFileAtomic(to, text);
  } catch (error) {
    throw new UsageError(`${to} cannot be written: ${reasonOf(error)}.`);
  }
  return exit.ok;
}
