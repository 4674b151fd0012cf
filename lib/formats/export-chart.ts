/**
 * A chart → text in a format of the reader's choice, with what that format cannot say named first.
 *
 * Holds: equal charts give equal texts; the chart may have warnings, but it must pass `validateChart`.
 */
import type { Chart } from "@/lib/statechart/document";
import type { Loss } from "./import-result";
import { writeLockstep } from "./lockstep/write-lockstep";
import { writeMermaid } from "./mermaid/write-mermaid";
import { writeScxml } from "./scxml/write-scxml";
import { writeModule } from "./xstate/write-module";
import { writeXState } from "./xstate/write-xstate";

export type ExportFormat = "lockstep" | "mermaid" | "module" | "scxml" | "xstate";

export interface ExportResult {
  text: string;
  /** What the format cannot say: lost, or told to Lockstep alone. */
  losses: Loss[];
}

export function exportChart(chart: Chart, format: ExportFormat): ExportResult {
  switch (format) {
    case "lockstep":
      return { text: writeLockstep(chart), losses: [] };
    case "mermaid":
      return writeMermaid(chart);
    case "module":
      return writeModule(chart);
    case "scxml":
      return writeScxml(chart);
    case "xstate":
      return writeXState(chart);
  }
}
