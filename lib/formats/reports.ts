/**
 * What an importer has to say while it reads: diagnostics, losses, and how many placeholders it made.
 *
 * Holds: each list is bounded; the last entry of a full list says that more was left out.
 */
import type { Chart, Placeholder } from "@/lib/statechart/document";
import { hasErrors, type Diagnostic, type Severity } from "@/lib/statechart/diagnostic";
import { validateChart } from "@/lib/statechart/validate";
import { importBounds, type FormatName, type ImportResult, type Loss } from "./import-result";

export class Reports {
  readonly diagnostics: Diagnostic[] = [];
  readonly losses: Loss[] = [];
  placeholders = 0;

  report(severity: Severity, code: string, message: string, at: Partial<Diagnostic["at"]> = {}): void {
    if (this.diagnostics.length > importBounds.reportsMax) return;
    const full = this.diagnostics.length === importBounds.reportsMax;
    this.diagnostics.push(
      full
        ? { code: "more", severity, at: { state: "" }, message: "More problems follow; mend these first." }
        : { code, severity, at: { state: "", ...at }, message },
    );
  }

  error(code: string, message: string, at: Partial<Diagnostic["at"]> = {}): void {
    this.report("error", code, message, at);
  }

  lose(message: string, at: Omit<Loss, "message"> = {}): void {
    if (this.losses.length > importBounds.reportsMax) return;
    const full = this.losses.length === importBounds.reportsMax;
    this.losses.push(full ? { message: "More was lost than is listed here." } : { message, ...at });
  }

  /** A placeholder, counted. */
  placeholder(name: string, text?: string): Placeholder & { [key: string]: string } {
    this.placeholders++;
    return text === undefined ? { placeholder: name } : { placeholder: name, text };
  }

  /** The import's result; an importer's chart passes the same check of shape as any other. */
  result(format: FormatName, chart: Chart, name: string | null): ImportResult {
    const { diagnostics, losses, placeholders } = this;
    if (!hasErrors(diagnostics)) diagnostics.push(...validateChart(chart).diagnostics);
    return { format, chart: hasErrors(diagnostics) ? null : chart, diagnostics, losses, placeholders, name };
  }
}
