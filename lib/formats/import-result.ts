/**
 * What reading a foreign text gives: the chart, what is wrong with the text, and what the chart could not take over.
 *
 * Holds: `chart` is null exactly when a diagnostic is an error; an importer returns, it never throws on any text.
 */
import type { Chart } from "@/lib/statechart/document";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import type { TextPosition } from "./text-position";

export type FormatName = "lockstep" | "xstate" | "scxml" | "mermaid";

/** Something the text says that the chart does not, named before anyone relies on the import. */
export interface Loss {
  /** What was lost and what the chart does instead. */
  message: string;
  /** State name ("" is the root). */
  state?: string;
  /** Position in the text, from 1. */
  line?: number;
  column?: number;
}

export interface ImportResult {
  format: FormatName;
  chart: Chart | null;
  diagnostics: Diagnostic[];
  losses: Loss[];
  /** How many names, functions and expressions stand as placeholders in the chart. */
  placeholders: number;
  /** The chart's name in the text, null when it has none. */
  name: string | null;
  /** Where each state stands in the text, by name, where the format's reader knows. */
  positions?: Record<string, TextPosition>;
}

/**
 * Bounds of one import. A chart drawn by people has hundreds of states and some 100 KB; machine-made ones a few
 * thousand. Beyond these an editor tab would stall, so the text is refused before it is read.
 */
export const importBounds = {
  /** UTF-16 code units of text. */
  charsMax: 4 * 1024 * 1024,
  /** Nested elements or JSON containers. */
  depthMax: 128,
  /** XML elements. */
  elementsMax: 50_000,
  /** JSON values. */
  valuesMax: 200_000,
  /** Diagnostics and losses kept each; more of them help nobody. */
  reportsMax: 200,
} as const;

/** A result without a chart, for one reason. */
export function refuse(
  format: FormatName,
  code: string,
  message: string,
  at: { line?: number; column?: number } = {},
): ImportResult {
  const diagnostic: Diagnostic = { code, severity: "error", at: { state: "", ...at }, message };
  return { format, chart: null, diagnostics: [diagnostic], losses: [], placeholders: 0, name: null };
}
