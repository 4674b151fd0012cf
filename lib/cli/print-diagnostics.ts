/**
 * Diagnostics and losses as lines that editors and people understand: `file:line:column: severity code: message`.
 */
import type { ImportResult, Loss } from "@/lib/formats/import-result";
import type { Diagnostic } from "@/lib/statechart/diagnostic";

type Positions = ImportResult["positions"];

export function diagnosticLine(
  file: string,
  { at, severity, code, message }: Diagnostic,
  positions?: Positions,
): string {
  const known =
    positions !== undefined && Object.hasOwn(positions, at.state) ? positions[at.state] : undefined;
  const where = place(at.line ?? known?.line, at.line === undefined ? known?.column : at.column);
  const state = at.state === "" ? "" : ` (state ${at.state}${at.field === undefined ? "" : `, ${at.field}`})`;
  const field = at.state === "" && at.field !== undefined ? ` (${at.field})` : "";
  return `${file}${where}: ${severity} ${code}: ${message}${state}${field}`;
}

export function lossLine(file: string, { message, state, line, column }: Loss): string {
  return `${file}${place(line, column)}: lost: ${message}${state === undefined || state === "" ? "" : ` (state ${state})`}`;
}

const place = (line: number | undefined, column: number | undefined): string =>
  line === undefined ? "" : column === undefined ? `:${line}` : `:${line}:${column}`;
