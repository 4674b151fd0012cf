/**
 * `lockstep check FILE…`: everything wrong or doubtful about charts. Exit 1 when one has errors.
 */
import { parseArgs } from "node:util";
import { diagnose } from "@/lib/statechart/diagnose";
import { hasErrors, type Diagnostic } from "@/lib/statechart/diagnostic";
import type { ImportResult } from "@/lib/formats/import-result";
import { diagnosticLine, lossLine } from "./print-diagnostics";
import { readChartFile } from "./read-chart-file";
import { exit, UsageError, type ExitCode } from "./usage";
import { writeLine } from "./write-line";

export async function check(args: string[]): Promise<ExitCode> {
  const { values, positionals: files } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  if (files.length === 0) throw new UsageError("check needs at least one FILE.");
  let failed = false;
  for (const file of files) {
    const result = readChartFile(file);
    const diagnostics = allDiagnostics(result);
    failed ||= hasErrors(diagnostics);
    const { format, losses, placeholders, name } = result;
    if (values.json) {
      await writeLine(
        JSON.stringify({
          file,
          ok: !hasErrors(diagnostics),
          format,
          name,
          placeholders,
          diagnostics,
          losses,
        }),
      );
      continue;
    }
    for (const diagnostic of diagnostics) await writeLine(diagnosticLine(file, diagnostic, result.positions));
    for (const loss of losses) await writeLine(lossLine(file, loss));
    await writeLine(`${file}: ${summary(diagnostics, result)}`);
  }
  return failed ? exit.chart : exit.ok;
}

/** What the import said and, when there is a chart, what the engine's own look at it says. */
export function allDiagnostics({ chart, diagnostics }: ImportResult): Diagnostic[] {
  return chart === null ? diagnostics : [...diagnostics, ...diagnose(chart)];
}

function summary(diagnostics: Diagnostic[], { format, losses, placeholders }: ImportResult): string {
  const count = (severity: string): number => diagnostics.filter((one) => one.severity === severity).length;
  const parts = [
    plural(count("error"), "error"),
    plural(count("warning"), "warning"),
    ...(placeholders > 0 ? [plural(placeholders, "placeholder")] : []),
    ...(losses.length > 0 ? [`${losses.length} lost`] : []),
  ];
  return `${hasErrors(diagnostics) ? "not usable" : "ok"} (${format}): ${parts.join(", ")}`;
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
