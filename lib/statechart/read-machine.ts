/**
 * Chart → Machine: the tree, names, document order, resolved targets, and the programs of guards and actions.
 */
import type { Diagnostic } from "./diagnostic";
import type { Chart, StateNode } from "./document";
import {
  inDocumentOrder,
  listOf,
  type CompiledInvoke,
  type CompiledState,
  type CompiledStateType,
  type CompiledTimer,
  type CompiledTransition,
  type KeyProgram,
  type Machine,
} from "./machine";
import { Programs } from "./programs";
import { keyProgram, readInvoke } from "./read-invoke";
import { readTransitions } from "./read-transitions";
import { readArrows } from "./resolve-target";

const microstepsMaxDefault = 1000;

/** Reads `chart` as far as it can be read. */
export function readMachine(chart: Chart): Machine {
  const problems: Diagnostic[] = [];
  const programs = new Programs(chart);
  const ordered: CompiledState[] = [];
  const root = readState(chart, "", null, { programs, ordered });
  const states = new Map<string, CompiledState>();
  for (const state of ordered) {
    if (!states.has(state.name)) states.set(state.name, state);
    else problems.push(duplicate(state));
  }
  for (const state of ordered) {
    state.initial = readArrows(state, states, programs, problems);
    const { handlers, always } = readTransitions(state, states, programs, problems);
    state.handlers = handlers;
    state.always = always;
    (state.transitions as CompiledTransition[]).push(...handlers, ...always);
  }
  const settings = chart.settings ?? {};
  return {
    chart,
    root,
    states,
    ordered,
    transitions: new Map(ordered.flatMap((state) => state.transitions.map((one) => [one.id, one]))),
    problems,
    settings: {
      selection: settings.selection ?? "scxml",
      errors: settings.errors ?? "continue",
      scxmlDomain: settings.scxmlDomain ?? false,
      microstepsMax: settings.microstepsMax ?? microstepsMaxDefault,
    },
    scopeFor: programs.scopeFactory(),
    initialContext: programs.initialContext(),
    keys: {
      concurrencyKey: keyOf(settings.concurrencyKey, programs),
      businessKey: keyOf(settings.businessKey, programs),
    },
    hasAlways: ordered.some((state) => state.always.length > 0),
    hasInvokes: ordered.some((state) => state.invokes.length > 0),
    marks: { stamps: new Uint32Array(ordered.length), last: 0 },
    lateRoots: [...new Set(ordered.flatMap((state) => state.data.map(([name]) => name)))],
  };
}

function readState(
  node: StateNode,
  key: string,
  parent: CompiledState | null,
  reading: { programs: Programs; ordered: CompiledState[] },
): CompiledState {
  const { programs, ordered } = reading;
  const path = parent === null ? [] : [...parent.path, key];
  const name = node.id ?? path.join(".");
  const children: CompiledState[] = [];
  const childByKey = new Map<string, CompiledState>();
  const historyStates: CompiledState[] = [];
  const invokes: CompiledInvoke[] = [];
  const timers: CompiledTimer[] = [];
  const state = {
    name,
    key,
    path,
    type: typeOf(node),
    history: node.type === "history" || node.history !== undefined ? (node.history ?? "shallow") : null,
    parent,
    children,
    childByKey,
    depth: path.length,
    order: ordered.length,
    last: ordered.length,
    lineage: [] as CompiledState[],
    node,
    initial: null,
    handlers: [],
    always: [],
    transitions: [],
    historyStates,
    tags: node.tags ?? [],
    entry: programs.block(node.entry, name, "entry", "entry"),
    exit: programs.block(node.exit, name, "exit", "exit"),
    output: node.output === undefined ? null : programs.value(node.output),
    data: Object.entries(node.data ?? {}).map(([root, value]) => [root, programs.value(value)] as const),
    invokes,
    timers,
    candidateCache: new Map(),
    eventless: null,
  } satisfies CompiledState;
  state.lineage = [...(parent?.lineage ?? []), state];
  ordered.push(state);
  listOf(node.invoke).forEach((invoke, index) => {
    invokes.push(readInvoke(invoke, index, state, programs));
  });
  const entries = inDocumentOrder(Object.entries(node.states ?? {}), ([, child]) => child.order);
  for (const [childKey, childNode] of entries) {
    const child = readState(childNode, childKey, state, reading);
    children.push(child);
    childByKey.set(childKey, child);
    if (child.type === "history") historyStates.push(child);
  }
  state.last = ordered.length - 1;
  return state;
}

const keyOf = (text: string | undefined, programs: Programs): KeyProgram | null =>
  text === undefined ? null : keyProgram(text, programs);

function typeOf(node: StateNode): CompiledStateType {
  if (node.type === "history" || (node.type === undefined && node.history !== undefined)) return "history";
  if (node.type === "final" || node.type === "parallel") return node.type;
  return Object.keys(node.states ?? {}).length > 0 ? "compound" : "atomic";
}

function duplicate(state: CompiledState): Diagnostic {
  return {
    code: "duplicate-name",
    severity: "error",
    at: { state: state.name, ...(state.node.id === undefined ? {} : { field: "id" }) },
    message: `two states are named "${state.name}" (this one is at ${state.path.join(" / ")}): give one another id`,
  };
}
