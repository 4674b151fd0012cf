/**
 * A chart's states as a tree with names, and its transitions as a flat list with addresses and resolved targets.
 *
 * Unlike the engine's compile(), it takes charts with errors (a target that leads nowhere is null, of two states with
 * one name the first keeps it): an editor must draw what it is given. Names and orders follow design "Names", "Order".
 *
 * Holds: every state has its own `name`; transition ids are those of statechart/transition-id.ts.
 */
import type {
  Chart,
  Invoke,
  OneOrMany,
  StateNode,
  StateType,
  Target,
  Transition,
  TransitionObject,
} from "@/lib/statechart/document";
import { transitionId } from "@/lib/statechart/transition-id";

export interface TreeState {
  name: string;
  key: string;
  /** Keys from the root. */
  path: readonly string[];
  node: StateNode;
  kind: StateType;
  parent: TreeState | null;
  children: TreeState[];
  depth: number;
}

/** What makes a transition run: the field of the state it stands in. */
export type When =
  | { kind: "event"; event: string }
  | { kind: "after"; delay: string }
  | { kind: "always" }
  | { kind: "done" }
  | { kind: "invoke"; index: number; on: "onDone" | "onError" | "onEvent" };

export interface TreeTransition {
  id: string;
  source: TreeState;
  when: When;
  /** Place among the candidates of the same field, and how many there are. */
  index: number;
  count: number;
  /** As written, a plain target made an object. */
  spec: TransitionObject;
  /** `{}`: forbids the event. */
  forbidden: boolean;
  targets: { text: Target; state: TreeState | null }[];
}

export interface ChartTree {
  root: TreeState;
  /** All states, parents before children, in document order. */
  states: TreeState[];
  byName: Map<string, TreeState>;
  transitions: TreeTransition[];
}

export function chartTree(chart: Chart): ChartTree {
  const states: TreeState[] = [];
  const byName = new Map<string, TreeState>();
  const visit = (node: StateNode, key: string, parent: TreeState | null): TreeState => {
    const path = parent ? [...parent.path, key] : [];
    const wanted = node.id ?? path.join(".");
    let name = wanted;
    for (let copy = 2; byName.has(name); copy++) name = `${wanted} (${copy})`;
    const depth = parent ? parent.depth + 1 : 0;
    const state: TreeState = { name, key, path, node, kind: kindOf(node), parent, children: [], depth };
    states.push(state);
    byName.set(name, state);
    for (const [childKey, child] of inOrder(node.states)) state.children.push(visit(child, childKey, state));
    return state;
  };
  const tree: ChartTree = { root: visit(chart, "", null), states, byName, transitions: [] };
  for (const state of states) tree.transitions.push(...transitionsOf(tree, state));
  return tree;
}

function kindOf(node: StateNode): StateType {
  if (node.type === "history" || (node.type === undefined && node.history !== undefined)) return "history";
  if (node.type === "final" || node.type === "parallel") return node.type;
  return node.states && Object.keys(node.states).length > 0 ? "compound" : "atomic";
}

/** Children in document order: `order` where given, else the key order. */
function inOrder(states: Record<string, StateNode> | undefined): [string, StateNode][] {
  const entries = Object.entries(states ?? {}).filter(([, node]) => isNode(node));
  return entries
    .map((entry, index) => ({ entry, at: entry[1].order ?? index }))
    .sort((a, b) => a.at - b.at)
    .map(({ entry }) => entry);
}

const isNode = (node: unknown): node is StateNode => typeof node === "object" && node !== null;

/** The state a target text of `from`'s transition leads to. */
export function resolveTarget(tree: ChartTree, from: TreeState, target: Target): TreeState | null {
  if (typeof target !== "string") return null;
  if (target.startsWith("#")) return resolveName(tree, target.slice(1));
  if (target.startsWith(".")) return descend(from, target.slice(1));
  return from.parent && descend(from.parent, target);
}

/** The state that an `initial` of `state`, or the default of a history child of `state`, leads to. */
export function resolveInside(tree: ChartTree, state: TreeState, target: Target): TreeState | null {
  if (typeof target !== "string") return null;
  if (target.startsWith("#")) return resolveName(tree, target.slice(1));
  return descend(state, target.startsWith(".") ? target.slice(1) : target);
}

/** `name[.path]`: the longest name wins, the rest is a path. */
function resolveName(tree: ChartTree, text: string): TreeState | null {
  for (let end = text.length; end > 0; end = text.lastIndexOf(".", end - 1)) {
    const named = tree.byName.get(text.slice(0, end));
    if (named && named.name !== "") return end === text.length ? named : descend(named, text.slice(end + 1));
  }
  return null;
}

/** Keys may hold dots (then the state has an id), so the longest key that fits is taken first. */
function descend(from: TreeState, path: string): TreeState | null {
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const child = from.children.find((item) => item.key === path.slice(0, end));
    const found = child && (end === path.length ? child : descend(child, path.slice(end + 1)));
    if (found) return found;
  }
  return null;
}

/** Targets of an `initial`, or of a history's default. */
export function initialTargets(value: StateNode["initial"]): Target[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value;
  return many(value.target);
}

export const many = <T>(value: OneOrMany<T> | undefined): T[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

export const invokesOf = (node: StateNode): Invoke[] => many<Invoke>(node.invoke);

const specOf = (transition: Transition): TransitionObject =>
  typeof transition === "string" ? { target: transition } : (transition ?? {});

/** The path of a transition's field inside its state, without the index. */
export function whenPath(when: When): string[] {
  switch (when.kind) {
    case "event":
      return ["on", when.event];
    case "after":
      return ["after", when.delay];
    case "always":
      return ["always"];
    case "done":
      return ["onDone"];
    case "invoke":
      return ["invoke", String(when.index), when.on];
  }
}

function transitionsOf(tree: ChartTree, source: TreeState): TreeTransition[] {
  const { node } = source;
  const found: TreeTransition[] = [];
  const add = (when: When, list: OneOrMany<Transition> | undefined) => {
    const candidates = many<Transition>(list);
    candidates.forEach((candidate, index) => {
      const spec = specOf(candidate);
      const targets = many<Target>(spec.target).map((text) => ({
        text,
        state: resolveTarget(tree, source, text),
      }));
      const id = transitionId(source.name, ...whenPath(when), index);
      const forbidden = targets.length === 0 && spec.actions === undefined && spec.guard === undefined;
      found.push({ id, source, when, index, count: candidates.length, spec, forbidden, targets });
    });
  };
  invokesOf(node).forEach((invoke, index) => {
    for (const on of ["onDone", "onError", "onEvent"] as const)
      add({ kind: "invoke", index, on }, invoke?.[on]);
  });
  add({ kind: "done" }, node.onDone);
  for (const [delay, list] of Object.entries(node.after ?? {})) add({ kind: "after", delay }, list);
  for (const [event, list] of Object.entries(node.on ?? {})) add({ kind: "event", event }, list);
  add({ kind: "always" }, node.always);
  return found;
}
