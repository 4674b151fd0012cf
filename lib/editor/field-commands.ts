/**
 * Commands on a state's or the chart's plain fields: entry, exit, invoke, description, tags, output, context, …
 */
import { chartTree } from "@/lib/diagram/chart-tree";
import type { Chart, StateNode } from "@/lib/statechart/document";
import type { EditOutcome, EditorDocument } from "./document";
import { changeNode, withField } from "./transition-commands";

export type StateField = "entry" | "exit" | "invoke" | "description" | "tags" | "output";
export type ChartField = "context" | "guards" | "actions" | "delays" | "tasks" | "settings" | "schemas";

/** undefined or an empty list removes the field. */
export function setStateField<F extends StateField>(
  document: EditorDocument,
  command: { state: string; field: F; value: StateNode[F] | undefined },
): EditOutcome {
  const state = chartTree(document.chart).byName.get(command.state);
  if (!state) return { refused: `There is no state ${command.state} any more.` };
  const value = isEmpty(command.value) ? undefined : command.value;
  const chart = changeNode(document.chart, state, (node) => withField(node, command.field, value));
  const layout =
    command.field === "invoke" ? dropInvokeRoutes(document, command.state, value) : document.layout;
  return { document: { chart, layout }, select: command.state };
}

export function setChartField<F extends ChartField>(
  document: EditorDocument,
  command: { field: F; value: Chart[F] | undefined },
): EditOutcome {
  const { [command.field]: _old, ...rest } = document.chart;
  const chart = (
    isEmpty(command.value) ? rest : { ...document.chart, [command.field]: command.value }
  ) as Chart;
  return { document: { ...document, chart } };
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

/** Addresses of an invocation's transitions hold its place, which may have changed: those arrows are routed anew. */
function dropInvokeRoutes(document: EditorDocument, state: string, value: unknown): EditorDocument["layout"] {
  const before = chartTree(document.chart).byName.get(state)?.node.invoke;
  const count = (invoke: unknown) => (Array.isArray(invoke) ? invoke.length : invoke === undefined ? 0 : 1);
  if (count(before) <= count(value)) return document.layout;
  const routes = Object.entries(document.layout.routes).filter(([id]) => !id.startsWith(`${state}#invoke/`));
  return { ...document.layout, routes: Object.fromEntries(routes) };
}
