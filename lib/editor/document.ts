/**
 * What the editor edits: a chart and where it lies. Every change is a new document; the old one stays as it was.
 */
import type { Layout } from "@/lib/diagram/layout";
import type { Measure } from "@/lib/diagram/measure";
import type { Chart } from "@/lib/statechart/document";

export interface EditorDocument {
  chart: Chart;
  layout: Layout;
}

interface Edit {
  document: EditorDocument;
  /** What the command made or renamed: to be selected. State name or transition id. */
  select?: string;
  /** Transitions that went with deleted states, beyond those asked for. */
  removedTransitions?: number;
}

/** The command cannot be done; the document is unchanged. Says why and what to do. */
export interface Refusal {
  refused: string;
}

export type EditOutcome = Edit | Refusal;
export const isRefusal = (outcome: EditOutcome): outcome is Refusal => "refused" in outcome;

export interface EditContext {
  measure: Measure;
}
