/**
 * A draft's text as a chart, or why it can't be drawn; and back.
 */
import { importChart } from "@/lib/formats/import-chart";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import type { Chart } from "@/lib/statechart/document";

export interface ReadDraft {
  chart: Chart | null;
  diagnostics: Diagnostic[];
}

export function readDraft(text: string): ReadDraft {
  const { chart, diagnostics, format } = importChart(text, { fileName: "draft.json" });
  if (chart !== null && format !== "lockstep") {
    return {
      chart: null,
      diagnostics: [
        {
          code: "not-lockstep",
          severity: "error",
          at: { state: "", field: "lockstep" },
          message: `This is ${format === "xstate" ? "an XState machine" : "SCXML"}, not a lockstep/1 document. Use Import… to convert it.`,
        },
      ],
    };
  }
  return { chart, diagnostics };
}

/** Keys in the order they were written: people read this text in the Code panel. */
export const draftText = (chart: Chart): string => `${JSON.stringify(chart, null, 2)}\n`;
