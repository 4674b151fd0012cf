/**
 * Chart → Machine: the tree, names, document order, resolved targets, and the programs of guards and actions.
 */
import { circularHistories } from "./circular-history";
import type { Diagnostic } from "./diagnostic";
import type { Chart, StateNode } from "./document";
import {
  inDocumentOrder,
  listOf,
  type CompiledState,
  type CompiledStateType,
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
    else problems.push(duplicate(state, ordered));
  }
  for (const state of ordered) {
    state.initial = readArrows(state, states, programs, problems);
    readTransitions(state, states, programs, problems);
  }
  problems.push(...circularHistories(ordered));
  const settings = chart.settings ?? {};
  let transitions: Machine["transitions"] | null = null;
  return {
    // Running needs no ids: a large chart's are made when someone looks one up.
    get transitions() {
      return (transitions ??= new Map(
        ordered.flatMap((state) => state.transitions.map((one) => [one.id, one])),
      ));
    },
    chart,
    root,
    states,
    ordered,
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

interface Reading {
  programs: Programs;
  ordered: CompiledState[];
}

function readState(
  node: StateNode,
  key: string,
  parent: CompiledState | null,
  reading: Reading,
): CompiledState {
  const { programs, ordered } = reading;
  const path = parent === null ? [] : [...parent.path, key];
  const name = node.id ?? path.join(".");
  const type = typeOf(node);
  const state: CompiledState = {
    name,
    key,
    path,
    type,
    history: type === "history" || node.history !== undefined ? (node.history ?? "shallow") : null,
    parent,
    children: none,
    childByKey: noChildren,
    depth: path.length,
    order: ordered.length,
    last: ordered.length,
    lineage: none,
    node,
    initial: null,
    handlers: none,
    always: none,
    transitions: none,
    historyStates: none,
    tags: node.tags ?? none,
    entry: programs.block(node.entry, name, "entry", "entry"),
    exit: programs.block(node.exit, name, "exit", "exit"),
    output: node.output === undefined ? null : programs.value(node.output),
    data: dataOf(node, programs),
    invokes: none,
    timers: none,
    candidateCache: null,
    eventless: null,
  };
  state.lineage = parent === null ? [state] : [...parent.lineage, state];
  ordered.push(state);
  if (node.invoke !== undefined)
    state.invokes = listOf(node.invoke).map((invoke, index) => readInvoke(invoke, index, state, programs));
  if (node.states !== undefined) readChildren(state, node.states, reading);
  state.last = ordered.length - 1;
  return state;
}

// Most states have no children, transitions of most kinds, tags: they share what holds nothing.
const none: readonly never[] = [];
const noChildren: ReadonlyMap<string, CompiledState> = new Map();

function readChildren(state: CompiledState, states: Record<string, StateNode>, reading: Reading): void {
  const entries = inDocumentOrder(Object.entries(states), ([, child]) => child.order);
  const children = entries.map(([key, node]) => readState(node, key, state, reading));
  state.children = children;
  state.childByKey = new Map(children.map((child) => [child.key, child]));
  state.historyStates = children.filter(({ type }) => type === "history");
}

const dataOf = ({ data }: StateNode, programs: Programs): CompiledState["data"] =>
  data === undefined
    ? none
    : Object.entries(data).map(([root, value]) => [root, programs.value(value)] as const);

const keyOf = (text: string | undefined, programs: Programs): KeyProgram | null =>
  text === undefined ? null : keyProgram(text, programs);

function typeOf(node: StateNode): CompiledStateType {
  if (node.type === "history" || (node.type === undefined && node.history !== undefined)) return "history";
  if (node.type === "final" || node.type === "parallel") return node.type;
  return Object.keys(node.states ?? {}).length > 0 ? "compound" : "atomic";
}

function duplicate(state: CompiledState, all: readonly CompiledState[]): Diagnostic {
  const taken = new Set(all.map(({ name }) => name));
  const own = state.path.join(".");
  let id = own;
  for (let count = 2; taken.has(id) || id === ""; count++) id = `${own}-${count}`;
  return {
    code: "duplicate-name",
    severity: "error",
    at: { state: state.name, ...(state.node.id === undefined ? {} : { field: "id" }) },
    message: `two states are named "${state.name}" (this one is at ${state.path.join(" / ")}): give one another id`,
    fix: {
      title: `Name it ${id}`,
      edit: { set: "id", state: state.name, path: [...state.path], to: id },
    },
  };
}
