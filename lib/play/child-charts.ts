/**
 * The charts that invocations of `src: "chart"` name by text or file: an imported SCXML's `<content>` and `src`. Each text
 * is read once.
 */
import { LockstepError } from "@/lib/base/errors";
import { isJsonObject, type Json } from "@/lib/base/json";
import { compile } from "@/lib/statechart/compile";
import type { Diagnostic } from "@/lib/statechart/diagnostic";
import type { Chart } from "@/lib/statechart/document";
import type { Machine } from "@/lib/statechart/machine";
import type { FindChart } from "./world";

export interface ChartTexts {
  /** Reads a chart of any format. */
  read: (text: string) => {
    chart: Chart | null;
    name: string | null;
    format: string;
    diagnostics: readonly Diagnostic[];
  };
  /** The text of a file the chart names; null when it cannot be read. */
  load: (src: string) => string | null;
}

type Found = { machine: Machine; name: string | null; format: string } | { problem: string };

export function childCharts({ read, load }: ChartTexts): FindChart {
  const known = new Map<string, Found>();
  const find = (text: string): Found => {
    let found = known.get(text);
    if (found === undefined) known.set(text, (found = readMachine(text, read)));
    return found;
  };
  return (input) => {
    if (!isJsonObject(input)) return null;
    const { source, url, params } = input;
    const text = textOf(source) ?? (typeof url === "string" ? load(url) : undefined);
    if (text === undefined) return null;
    if (text === null) return { problem: `the child chart ${JSON.stringify(url)} cannot be read` };
    const found = find(text);
    if ("problem" in found) return found;
    const { machine, name, format } = found;
    return {
      machine,
      ...(name === null ? {} : { name }),
      ...(params === undefined ? {} : { input: params }),
      ...(isJsonObject(params) && format === "scxml" ? { data: params } : {}),
    };
  };
}

/** Inline content that reads as JSON arrives parsed. */
const textOf = (source: Json | undefined): string | undefined =>
  source === undefined || typeof source === "string" ? source : JSON.stringify(source);

function readMachine(text: string, read: ChartTexts["read"]): Found {
  const { chart, name, format, diagnostics } = read(text);
  if (chart === null) return { problem: `the child chart cannot be read: ${diagnostics[0]?.message ?? ""}` };
  try {
    return { machine: compile(chart), name, format };
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return { problem: `the child chart cannot be run: ${error.message}` };
  }
}
