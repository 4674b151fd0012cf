/**
 * A chart opened for structural edits: states as objects that keep their identity while keys, parents and order change,
 * so that every reference can be written anew to mean the same state as before.
 *
 * Holds: closing an unedited tree gives an equal chart; after closing, each target, `initial`, history default, `{in}`,
 * `In('…')`, `done.state.NAME` leads to the state object it led to when opened. References to a removed state
 * are the business of the command that removes it (see `forgetRemoved`).
 */
import { must } from "@/lib/base/assert";
import { isJsonObject, type Json } from "@/lib/base/json";
import { inCalls } from "@/lib/diagram/cel-scan";
import {
  chartTree,
  initialTargets,
  resolveInside,
  resolveTarget,
  type ChartTree,
  type TreeState,
} from "@/lib/diagram/chart-tree";
import type { Layout } from "@/lib/diagram/layout";
import type { Chart, StateNode, Target } from "@/lib/statechart/document";
import type { EditorDocument } from "./document";

export interface DraftState {
  key: string;
  /** All fields but `states` and `order`, which closing writes. */
  node: StateNode;
  parent: DraftState | null;
  children: DraftState[];
  /** null: made by this command. */
  before: TreeState | null;
}

export interface DraftTree {
  root: DraftState;
  tree: ChartTree;
  byName: Map<string, DraftState>;
  layout: Layout;
}

export function openDraft({ chart, layout }: EditorDocument): DraftTree {
  const tree = chartTree(chart);
  const byName = new Map<string, DraftState>();
  const open = (state: TreeState, parent: DraftState | null): DraftState => {
    const { states: _states, ...node } = state.node;
    const draft: DraftState = { key: state.key, node, parent, children: [], before: state };
    byName.set(state.name, draft);
    draft.children = state.children.map((child) => open(child, draft));
    return draft;
  };
  return { root: open(tree.root, null), tree, byName, layout };
}

export const isInside = (inner: DraftState, outer: DraftState): boolean => {
  for (let at: DraftState | null = inner; at; at = at.parent) if (at === outer) return true;
  return false;
};

/** A key that no child of `parent` has, and that makes no name twice. */
export function freeKey(draft: DraftTree, parent: DraftState, wanted: string, self?: DraftState): string {
  const names = new Set<string>();
  walk(draft.root, (state) => {
    if (state !== self && state.node.id !== undefined) names.add(state.node.id);
  });
  const taken = (key: string): boolean =>
    parent.children.some((child) => child !== self && child.key === key) ||
    names.has([...keysOf(parent), key].join("."));
  let key = wanted;
  for (let n = 2; taken(key); n++) key = `${wanted} ${n}`;
  return key;
}

const keysOf = (state: DraftState): string[] => (state.parent ? [...keysOf(state.parent), state.key] : []);

export function walk(state: DraftState, visit: (state: DraftState) => void): void {
  visit(state);
  for (const child of state.children) walk(child, visit);
}

export interface ClosedDraft {
  document: EditorDocument;
  nameOf: Map<DraftState, string>;
}

export function closeDraft(draft: DraftTree): ClosedDraft {
  // Names come from keys and ids alone, so a first build gives them; references are written against it.
  const shape = chartTree(build(draft.root, (state) => state.node) as Chart);
  const nameOf = new Map<DraftState, string>();
  const stateOf = new Map<DraftState, TreeState>();
  const pair = (state: DraftState, built: TreeState): void => {
    nameOf.set(state, built.name);
    stateOf.set(state, built);
    state.children.forEach((child, index) =>
      pair(child, must(built.children[index], "a built state has its children")),
    );
  };
  pair(draft.root, shape.root);
  const renamed = new Map<string, string>();
  for (const [name, state] of draft.byName) {
    const now = nameOf.get(state);
    if (now !== undefined) renamed.set(name, now);
  }
  const writer = new ReferenceWriter(draft, shape, stateOf, renamed);
  const chart = build(draft.root, (state) => writer.node(state)) as Chart;
  return { document: { chart, layout: renameLayout(draft.layout, renamed) }, nameOf };
}

/** JavaScript moves digit-like keys to the front, so these need `order`; so do children that had some. */
function build(state: DraftState, nodeOf: (state: DraftState) => StateNode): StateNode {
  const { order: _order, ...node } = nodeOf(state);
  if (state.children.length === 0) return node;
  const children = state.children.map((child): [string, StateNode] => [child.key, build(child, nodeOf)]);
  const inKeyOrder = Object.keys(Object.fromEntries(children));
  const ordered = children.some(([key], index) => inKeyOrder[index] !== key);
  return {
    ...node,
    states: Object.fromEntries(
      children.map(([key, child], index) => [key, ordered ? { order: index, ...child } : child]),
    ),
  };
}

type Arrow = NonNullable<StateNode["initial"]>;

class ReferenceWriter {
  private readonly namesChanged: boolean;

  constructor(
    private readonly draft: DraftTree,
    private readonly shape: ChartTree,
    private readonly stateOf: Map<DraftState, TreeState>,
    private readonly renamed: Map<string, string>,
  ) {
    this.namesChanged = [...renamed].some(([before, after]) => before !== after);
  }

  node(state: DraftState): StateNode {
    const { before } = state;
    if (!before) return state.node;
    const node = { ...state.node };
    const target = (text: Target): Target => this.target(state, before, text);
    for (const field of ["on", "after"] as const) {
      const map = node[field];
      if (!map) continue;
      node[field] = Object.fromEntries(
        Object.entries(map).map(([key, list]) => [
          field === "on" ? this.descriptor(key) : key,
          eachTransition(list, target),
        ]),
      );
    }
    if (node.always !== undefined) node.always = eachTransition(node.always, target);
    if (node.onDone !== undefined) node.onDone = eachTransition(node.onDone, target);
    if (node.invoke !== undefined) {
      node.invoke = mapOneOrMany(node.invoke, (invoke) => {
        const next = { ...invoke };
        for (const field of ["onDone", "onError", "onEvent"] as const) {
          const list = next[field];
          if (list !== undefined) next[field] = eachTransition(list, target);
        }
        return next;
      });
    }
    if (node.initial !== undefined) node.initial = this.arrow(state, before, node.initial);
    if (node.target !== undefined && before.parent && state.parent) {
      node.target = this.arrow(state.parent, before.parent, node.target);
    }
    return this.namesChanged ? this.expressions(node, state.parent === null) : node;
  }

  private target(from: DraftState, before: TreeState, text: Target): Target {
    const meant = this.meant(resolveTarget(this.draft.tree, before, text));
    const here = this.stateOf.get(from);
    if (!meant || !here) return text;
    if (resolveTarget(this.shape, here, text) === meant) return text;
    const ways = text.startsWith("#")
      ? [`#${meant.name}`]
      : [...relativeTargets(here, meant), `#${meant.name}`];
    return ways.find((way) => resolveTarget(this.shape, here, way) === meant) ?? text;
  }

  /** An `initial` of `home`, or a history default inside it; `homeBefore` is home as opened. */
  private arrow(home: DraftState, homeBefore: TreeState, value: Arrow): Arrow {
    const write = (text: Target): Target => {
      const meant = this.meant(resolveInside(this.draft.tree, homeBefore, text));
      const here = this.stateOf.get(home);
      if (!meant || !here) return text;
      if (resolveInside(this.shape, here, text) === meant) return text;
      const inside = pathBelow(here, meant);
      const ways = [...(inside === null ? [] : [inside]), `#${meant.name}`];
      return ways.find((way) => resolveInside(this.shape, here, way) === meant) ?? text;
    };
    if (typeof value === "string") return write(value);
    if (Array.isArray(value)) return value.map(write);
    return { ...value, target: mapOneOrMany(value.target, write) };
  }

  private meant(state: TreeState | null): TreeState | null {
    const draft = state && this.draft.byName.get(state.name);
    return (draft && this.stateOf.get(draft)) ?? null;
  }

  private descriptor(event: string): string {
    const match =
      /^(done\.state\.)(.+)$/.exec(event) ?? /^((?:done|error)\.invoke\.)(.+?)(:\d+)$/.exec(event);
    const renamed = match?.[2] === undefined ? undefined : this.renamed.get(match[2]);
    return match && renamed !== undefined ? `${match[1]}${renamed}${match[3] ?? ""}` : event;
  }

  /** Guards, values and actions: `{in}` and `In('…')`. */
  private expressions(node: StateNode, isRoot: boolean): StateNode {
    const fields = [
      "on",
      "after",
      "always",
      "onDone",
      "entry",
      "exit",
      "invoke",
      "output",
      "initial",
      "target",
      "data",
    ];
    if (isRoot) fields.push("guards", "actions", "delays");
    const next: Record<string, unknown> = { ...node };
    for (const field of fields) {
      if (next[field] !== undefined) next[field] = this.inJson(next[field] as Json);
    }
    return next;
  }

  private inJson(value: Json): Json {
    if (typeof value === "string") return this.inText(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.inJson(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (!isJsonObject(value)) return value;
    const keys = Object.keys(value);
    if (keys.length === 1 && typeof value["in"] === "string") {
      const name = this.renamed.get(value["in"]);
      return name === undefined || name === value["in"] ? value : { in: name };
    }
    const entries = Object.entries(value).map(([key, item]): [string, Json] => [key, this.inJson(item)]);
    return entries.some(([key, item]) => item !== value[key]) ? Object.fromEntries(entries) : value;
  }

  private inText(text: string): string {
    if (!text.includes("In")) return text;
    let result = text;
    for (const { name, from, to } of inCalls(text).reverse()) {
      const renamed = this.renamed.get(name);
      if (renamed === undefined || renamed === name) continue;
      const literal = renamed.includes("'") ? JSON.stringify(renamed) : `'${renamed}'`;
      result = result.slice(0, from) + literal + result.slice(to);
    }
    return result;
  }
}

/** The shortest ways to write a target, best first. */
export function relativeTargets(from: TreeState, to: TreeState): Target[] {
  const below = to === from ? null : pathBelow(from, to);
  if (below !== null) return [`.${below}`];
  const beside = from.parent && pathBelow(from.parent, to);
  return beside === null ? [] : [beside];
}

/** Keys from `outer` down to `inner`, or null when it isn't below. */
function pathBelow(outer: TreeState, inner: TreeState): string | null {
  const keys: string[] = [];
  for (let at: TreeState | null = inner; at && at !== outer; at = at.parent) {
    keys.unshift(at.key);
    if (at.parent === outer) return keys.join(".");
  }
  return null;
}

function mapOneOrMany<T, R>(value: T | T[], change: (item: T) => R): R | R[] {
  return Array.isArray(value) ? value.map(change) : change(value);
}

function eachTransition<T>(list: T, change: (target: Target) => Target): T {
  const one = (transition: unknown): unknown => {
    if (typeof transition === "string") return change(transition);
    if (!isJsonObject(transition) || transition["target"] === undefined) return transition;
    return { ...transition, target: mapOneOrMany(transition["target"] as Target | Target[], change) };
  };
  return (Array.isArray(list) ? list.map(one) : one(list)) as T;
}

/** Every place of the layout under its new name; places of removed states go. */
function renameLayout(layout: Layout, renamed: Map<string, string>): Layout {
  const rename = (id: string): string | null => {
    const at = id.indexOf("#");
    const name = renamed.get(at < 0 ? id : id.slice(0, at));
    return name === undefined ? null : at < 0 ? name : name + id.slice(at);
  };
  const each = <T>(items: Record<string, T>): Record<string, T> =>
    Object.fromEntries(
      Object.entries(items).flatMap(([id, item]) => {
        const now = rename(id);
        return now === null ? [] : [[now, item] as const];
      }),
    );
  return { ...layout, states: each(layout.states), routes: each(layout.routes) };
}

/** Does a target text of `state` lead into `removed`? */
export function leadsInto(
  draft: DraftTree,
  state: DraftState,
  text: Target,
  removed: ReadonlySet<DraftState>,
): boolean {
  if (!state.before) return false;
  const meant = resolveTarget(draft.tree, state.before, text);
  const target = meant && draft.byName.get(meant.name);
  return target ? removed.has(target) : false;
}

/** The states an `initial` of `home` names, as draft states. */
export function initialOf(draft: DraftTree, home: DraftState, value: StateNode["initial"]): DraftState[] {
  const { before } = home;
  if (!before) return [];
  return initialTargets(value).flatMap((text) => {
    const meant = resolveInside(draft.tree, before, text);
    return (meant && draft.byName.get(meant.name)) ?? [];
  });
}
