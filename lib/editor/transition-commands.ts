/**
 * Commands on transitions: add, edit by label or by part, retarget, reorder.
 *
 * Holds: what a command does not name stays as written (params, descriptions, order, second targets); the arrow keeps
 * its route under its new address.
 */
import { must } from "@/lib/base/assert";
import {
  chartTree,
  invokesOf,
  many,
  resolveTarget,
  whenPath,
  type ChartTree,
  type TreeState,
  type TreeTransition,
  type When,
} from "@/lib/diagram/chart-tree";
import { editedSpec, labelText, parseLabel, whenProblem } from "@/lib/diagram/label";
import type {
  Actions,
  Chart,
  Guard,
  OneOrMany,
  StateNode,
  Target,
  Transition,
  TransitionObject,
} from "@/lib/statechart/document";
import { transitionId } from "@/lib/statechart/transition-id";
import { relativeTargets } from "./draft-tree";
import type { EditOutcome, EditorDocument } from "./document";
import { parseDelay } from "@/lib/statechart/delay";

/** null removes the field; undefined leaves it. */
export interface TransitionPatch {
  when?: When;
  guard?: Guard | null;
  actions?: Actions | null;
  /** State name; null makes it internal (no target). */
  target?: string | null;
  reenter?: boolean;
  description?: string | null;
}

/** A new transition. Without `when` it gets an event name that its source doesn't handle yet. */
export function addTransition(
  document: EditorDocument,
  command: { source: string; target: string | null; when?: When },
): EditOutcome {
  const tree = chartTree(document.chart);
  const source = tree.byName.get(command.source);
  if (!source) return { refused: `There is no state ${command.source} any more.` };
  if (source.kind === "final")
    return { refused: `${source.key} is final: nothing leaves it but its parent's transitions.` };
  if (source.kind === "history") return addHistoryDefault(document, tree, source, command.target);
  const when = command.when ?? { kind: "event", event: freeEvent(source) };
  const target = command.target === null ? null : targetText(tree, source, command.target);
  if (command.target !== null && target === null)
    return { refused: `${command.target} can't be reached from here.` };
  const spec: TransitionObject = target === null ? {} : { target };
  const index = listOf(source.node, when).length;
  const chart = changeNode(document.chart, source, (node) =>
    withList(node, when, [...listOf(node, when), plain(spec)]),
  );
  return { document: { ...document, chart }, select: transitionId(source.name, ...whenPath(when), index) };
}

/** The arrow out of a history state is its default. */
function addHistoryDefault(
  document: EditorDocument,
  tree: ChartTree,
  source: TreeState,
  target: string | null,
): EditOutcome {
  const to = target === null ? undefined : tree.byName.get(target);
  const home = source.parent;
  if (!to || !home) return { refused: "A history state's arrow leads to a state beside it." };
  const beside = relativeTargets(source, to)[0] ?? `#${to.name}`;
  const chart = changeNode(document.chart, source, (node) => ({ ...node, target: beside }));
  const { [`${source.name}#target`]: _route, ...routes } = document.layout.routes;
  return { document: { chart, layout: { ...document.layout, routes } }, select: source.name };
}

function freeEvent(source: TreeState): string {
  const taken = new Set(Object.keys(source.node.on ?? {}));
  let event = "event";
  for (let n = 2; taken.has(event); n++) event = `event${n}`;
  return event;
}

/** The label field's text → the transition. A text that can't be read is refused with what is wrong. */
export function setLabel(
  document: EditorDocument,
  command: { transition: string; text: string },
): EditOutcome {
  const found = findTransition(document.chart, command.transition);
  if (!found) return lost;
  const invokes = invokesOf(found.transition.source.node);
  const parsed = parseLabel(command.text, invokes);
  if ("problem" in parsed) return { refused: parsed.problem.message };
  if (
    parsed.when.kind === "after" &&
    parseDelay(parsed.when.delay) === null &&
    !isKnownDelay(document.chart, parsed.when.delay)
  ) {
    return {
      refused: `after ${parsed.when.delay}: write a time such as 5s or 1h30m, or the name of a delay.`,
    };
  }
  const before = labelText(found.transition.when, found.transition.spec, invokes);
  return replace(document, found, parsed.when, editedSpec(found.transition.spec, before, parsed));
}

/** A name in `delays`, or CEL (it holds more than a word). */
const isKnownDelay = (chart: Chart, delay: string): boolean =>
  Object.hasOwn(chart.delays ?? {}, delay) || /[.()+*\s]/.test(delay);

export function editTransition(
  document: EditorDocument,
  command: { transition: string; patch: TransitionPatch },
): EditOutcome {
  const found = findTransition(document.chart, command.transition);
  if (!found) return lost;
  const { patch } = command;
  const problem = patch.when === undefined ? null : whenProblem(patch.when);
  if (problem !== null) return { refused: problem };
  const spec: TransitionObject = { ...found.transition.spec };
  if (patch.guard !== undefined) {
    if (patch.guard === null || patch.guard === "") delete spec.guard;
    else spec.guard = patch.guard;
  }
  if (patch.actions !== undefined) {
    if (patch.actions === null || many(patch.actions).length === 0) delete spec.actions;
    else spec.actions = patch.actions;
  }
  if (patch.description !== undefined) {
    if (patch.description === null || patch.description === "") delete spec.description;
    else spec.description = patch.description;
  }
  if (patch.reenter !== undefined) {
    if (patch.reenter) spec.reenter = true;
    else delete spec.reenter;
  }
  if (patch.target === null) delete spec.target;
  else if (patch.target !== undefined) {
    const text = targetText(found.tree, found.transition.source, patch.target);
    if (text === null) return { refused: `${patch.target} can't be reached from here.` };
    spec.target = Array.isArray(spec.target) ? [text, ...spec.target.slice(1)] : text;
  }
  const outcome = replace(document, found, patch.when ?? found.transition.when, spec);
  if (patch.target === undefined || "refused" in outcome || outcome.select === undefined) return outcome;
  // A new target means a new route.
  const { [outcome.select]: _route, ...routes } = outcome.document.layout.routes;
  return { ...outcome, document: { ...outcome.document, layout: { ...outcome.document.layout, routes } } };
}

/** Moves a candidate within its list: the first enabled one wins. */
export function moveCandidate(
  document: EditorDocument,
  command: { transition: string; to: number },
): EditOutcome {
  const found = findTransition(document.chart, command.transition);
  if (!found) return lost;
  const { source, when, index } = found.transition;
  const list = [...listOf(source.node, when)];
  const to = Math.max(0, Math.min(command.to, list.length - 1));
  const [moved] = list.splice(index, 1);
  if (moved === undefined || to === index) return { document, select: command.transition };
  list.splice(to, 0, moved);
  const order = [...list.keys()].map((place) => {
    if (place === to) return index;
    const among = place > to ? place - 1 : place;
    return among >= index ? among + 1 : among;
  });
  const chart = changeNode(document.chart, source, (node) => withList(node, when, list));
  const path = whenPath(when);
  const moves = new Map(
    order.map((was, now) => [
      transitionId(source.name, ...path, was),
      transitionId(source.name, ...path, now),
    ]),
  );
  return {
    document: { chart, layout: { ...document.layout, routes: moveRoutes(document.layout.routes, moves) } },
    select: transitionId(source.name, ...path, to),
  };
}

const lost = { refused: "This transition is no longer there." };

interface Found {
  tree: ChartTree;
  transition: TreeTransition;
}

export function findTransition(chart: Chart, id: string): Found | null {
  const tree = chartTree(chart);
  const transition = tree.transitions.find((item) => item.id === id);
  return transition ? { tree, transition } : null;
}

/** Writes `spec` in place of the found transition, in another list when `when` changed. */
function replace(
  document: EditorDocument,
  { transition }: Found,
  when: When,
  spec: TransitionObject,
): EditOutcome {
  const { source, index } = transition;
  const from = whenPath(transition.when);
  const to = whenPath(when);
  const same = from.join("/") === to.join("/");
  const chart = changeNode(document.chart, source, (node) => {
    const list = listOf(node, transition.when);
    if (same)
      return withList(
        node,
        when,
        list.map((item, at) => (at === index ? keepForm(item, spec) : item)),
      );
    const without = withList(
      node,
      transition.when,
      list.filter((_, at) => at !== index),
    );
    return withList(without, when, [...listOf(without, when), plain(spec)]);
  });
  if (same) return { document: { ...document, chart }, select: transition.id };
  const now = transitionId(source.name, ...to, listOf(source.node, when).length);
  const moves = new Map<string, string>([[transition.id, now]]);
  for (let at = index + 1; at < transition.count; at++) {
    moves.set(transitionId(source.name, ...from, at), transitionId(source.name, ...from, at - 1));
  }
  return {
    document: { chart, layout: { ...document.layout, routes: moveRoutes(document.layout.routes, moves) } },
    select: now,
  };
}

function moveRoutes(
  routes: EditorDocument["layout"]["routes"],
  moves: ReadonlyMap<string, string>,
): EditorDocument["layout"]["routes"] {
  return Object.fromEntries(
    Object.entries(routes).map(([key, route]) => {
      const [, id = key, suffix = ""] = /^([\s\S]*?)(>\d+)?$/.exec(key) ?? [];
      return [(moves.get(id) ?? id) + suffix, route];
    }),
  );
}

/** A target as text, as short as it can be said from `source`. */
function targetText(tree: ChartTree, source: TreeState, name: string): Target | null {
  const target = tree.byName.get(name);
  if (!target) return null;
  const ways = [...relativeTargets(source, target), `#${target.name}`];
  return ways.find((way) => resolveTarget(tree, source, way) === target) ?? null;
}

/** A transition with nothing but a target is written as the target. */
const plain = (spec: TransitionObject): Transition =>
  typeof spec.target === "string" && Object.keys(spec).length === 1 ? spec.target : spec;
const keepForm = (before: Transition, spec: TransitionObject): Transition =>
  typeof before === "string" ? plain(spec) : spec;

/** The candidates of a field. */
function listOf(node: StateNode, when: When): Transition[] {
  switch (when.kind) {
    case "event":
      return many<Transition>(own(node.on, when.event));
    case "after":
      return many<Transition>(own(node.after, when.delay));
    case "always":
      return many<Transition>(node.always);
    case "done":
      return many<Transition>(node.onDone);
    case "invoke":
      return many<Transition>(many(node.invoke)[when.index]?.[when.on]);
  }
}

const own = <T>(map: Record<string, T> | undefined, key: string): T | undefined =>
  map && Object.hasOwn(map, key) ? map[key] : undefined;

function withList(node: StateNode, when: When, list: Transition[]): StateNode {
  const value: OneOrMany<Transition> | undefined =
    list.length === 0 ? undefined : list.length === 1 ? must(list[0], "one candidate") : list;
  switch (when.kind) {
    case "event":
      return withField(node, "on", withKey(node.on, when.event, value));
    case "after":
      return withField(node, "after", withKey(node.after, when.delay, value));
    case "always":
      return withField(node, "always", value);
    case "done":
      return withField(node, "onDone", value);
    case "invoke": {
      const invokes = many(node.invoke).map((invoke, index) => {
        if (index !== when.index) return invoke;
        const { [when.on]: _old, ...rest } = invoke;
        return value === undefined ? rest : { ...rest, [when.on]: value };
      });
      return { ...node, invoke: Array.isArray(node.invoke) ? invokes : must(invokes[0], "one invocation") };
    }
  }
}

function withKey<T>(
  map: Record<string, T> | undefined,
  key: string,
  value: T | undefined,
): Record<string, T> | undefined {
  if (value !== undefined) return { ...map, [key]: value };
  const { [key]: _gone, ...rest } = map ?? {};
  return Object.keys(rest).length === 0 ? undefined : rest;
}

export function withField<K extends keyof StateNode>(
  node: StateNode,
  field: K,
  value: StateNode[K] | undefined,
): StateNode {
  const { [field]: _old, ...rest } = node;
  return value === undefined ? rest : { ...node, [field]: value };
}

/** The chart with one state's node replaced. */
export function changeNode(chart: Chart, state: TreeState, change: (node: StateNode) => StateNode): Chart {
  const at = (node: StateNode, path: readonly string[]): StateNode => {
    const [key, ...rest] = path;
    if (key === undefined) return change(node);
    const child = must(node.states?.[key], "the path leads to a state");
    return { ...node, states: { ...node.states, [key]: at(child, rest) } };
  };
  return at(chart, state.path) as Chart;
}
