/**
 * Commands on states: add, rename, move into another parent, delete, change the kind, set the initial child.
 *
 * Holds: a compound state that has children always has an initial child; references keep their meaning (draft-tree.ts);
 * the chart stays one that validateChart accepts.
 */
import { must } from "@/lib/base/assert";
import { many } from "@/lib/diagram/chart-tree";
import type { Point } from "@/lib/diagram/layout";
import type { OneOrMany, StateNode, StateType, Target, Transition } from "@/lib/statechart/document";
import {
  closeDraft,
  freeKey,
  initialOf,
  isInside,
  leadsInto,
  openDraft,
  walk,
  type DraftState,
  type DraftTree,
} from "./draft-tree";
import type { EditOutcome, EditorDocument } from "./document";

export type StateKind = "atomic" | "compound" | "parallel" | "final" | "history" | "deep-history";

/** Adds a state; the first child of a parent becomes its initial. */
export function addState(
  document: EditorDocument,
  command: { parent: string; key?: string; kind?: StateKind; at?: Point },
): EditOutcome {
  const draft = openDraft(document);
  const parent = draft.byName.get(command.parent);
  if (!parent) return gone(command.parent);
  const refused = cannotHold(parent);
  if (refused) return { refused };
  const kind = command.kind ?? "atomic";
  const base =
    command.key?.trim() || { history: "h", "deep-history": "h" }[kind as string] || defaultKey(parent);
  const problem = keyProblem(base);
  if (problem) return { refused: problem };
  const state = newState(freeKey(draft, parent, base), kind, parent);
  parent.children.push(state);
  if (kind === "compound" || kind === "parallel") fill(state, kind === "parallel" ? 2 : 1);
  adopt(parent, state);
  const closed = closeDraft(draft);
  const name = must(closed.nameOf.get(state), "the new state is in the tree");
  const { layout } = closed.document;
  const placed = command.at
    ? { ...layout, states: { ...layout.states, [name]: { ...command.at, w: 0, h: 0 } } }
    : layout;
  return { document: { ...closed.document, layout: placed }, select: name };
}

const defaultKey = (parent: DraftState): string => `State ${parent.children.length + 1}`;

function newState(key: string, kind: StateKind, parent: DraftState): DraftState {
  const node: StateNode =
    kind === "history"
      ? { type: "history", history: "shallow" }
      : kind === "deep-history"
        ? { type: "history", history: "deep" }
        : kind === "final" || kind === "parallel"
          ? { type: kind }
          : {};
  return { key, node, parent, children: [], before: null };
}

/** New containers come with children: an empty one could not be told from a leaf. */
function fill(state: DraftState, count: number): void {
  for (let n = 1; n <= count; n++) {
    const isRegion = state.node.type === "parallel";
    state.children.push(newState(isRegion ? `Region ${n}` : `State ${n}`, "atomic", state));
  }
  if (state.node.type !== "parallel")
    state.node = { ...state.node, initial: must(state.children[0], "filled").key };
}

/** A parent that got a child: a leaf becomes compound; a compound without initial starts in this child. */
function adopt(parent: DraftState, child: DraftState): void {
  if (parent.node.type === "atomic") {
    const { type: _type, ...node } = parent.node;
    parent.node = node;
  }
  if (parent.node.type === "parallel" || parent.node.initial !== undefined || child.node.type === "history")
    return;
  parent.node = { ...parent.node, initial: child.key };
}

function cannotHold(parent: DraftState): string | null {
  if (parent.node.type === "final")
    return `${parent.key} is final: make it compound before putting states inside.`;
  if (parent.node.type === "history") return "A history state can't hold states.";
  return null;
}

const gone = (name: string): { refused: string } => ({ refused: `There is no state ${name} any more.` });

/** Why a text can't be a state's key, or null. */
export function keyProblem(key: string): string | null {
  if (key === "") return "A state needs a name.";
  if (key.includes("#")) return "A state's name can't hold #: addresses of transitions use it.";
  if (key.includes(".")) return "A state's name can't hold a dot: paths are written with dots.";
  if (key === "__proto__") return "__proto__ can't be a state's name.";
  return null;
}

/** Renames a state; every reference follows. */
export function renameState(document: EditorDocument, command: { state: string; key: string }): EditOutcome {
  const draft = openDraft(document);
  const state = draft.byName.get(command.state);
  if (!state?.parent) return gone(command.state);
  const key = command.key.trim();
  if (key === state.key) return { document, select: command.state };
  const problem = keyProblem(key);
  if (problem) return { refused: problem };
  if (freeKey(draft, state.parent, key, state) !== key) {
    return { refused: `${state.parent.key || "The chart"} already has a state ${key}: choose another name.` };
  }
  // An id that repeats the key (as importers write it) goes along; one of its own stays.
  if (state.node.id === state.key) {
    if (idTaken(draft, key, state))
      return { refused: `Another state has the name ${key}: choose another one.` };
    state.node = { ...state.node, id: key };
  }
  state.key = key;
  const closed = closeDraft(draft);
  return { document: closed.document, select: must(closed.nameOf.get(state), "a renamed state stays") };
}

function idTaken(draft: DraftTree, id: string, self: DraftState): boolean {
  return [...draft.byName].some(([name, state]) => state !== self && name === id);
}

/** Moves states into another parent with their meaning kept. */
export function reparentStates(
  document: EditorDocument,
  command: { states: string[]; parent: string },
): EditOutcome {
  const draft = openDraft(document);
  const parent = draft.byName.get(command.parent);
  if (!parent) return gone(command.parent);
  const refused = cannotHold(parent);
  if (refused) return { refused };
  let last: DraftState | null = null;
  for (const name of command.states) {
    const state = draft.byName.get(name);
    if (!state?.parent) return gone(name);
    if (isInside(parent, state)) return { refused: `${state.key} can't move into itself.` };
    if (state.parent === parent) continue;
    const home = state.parent;
    home.children = home.children.filter((child) => child !== state);
    state.parent = parent;
    state.key = freeKey(draft, parent, state.key, state);
    parent.children.push(state);
    releaseInitial(draft, home, new Set([state]));
    if (parent.children.length === 1 || parent.node.initial === undefined) adopt(parent, state);
    last = state;
  }
  if (!last) return { document };
  const closed = closeDraft(draft);
  return { document: closed.document, select: must(closed.nameOf.get(last), "a moved state stays") };
}

/** A home that lost states: its initial must lead to one it still has. */
function releaseInitial(draft: DraftTree, home: DraftState, lost: ReadonlySet<DraftState>): void {
  const first = home.children.find((child) => child.node.type !== "history");
  if (!first) {
    const { initial: _initial, ...node } = home.node;
    home.node = node;
    if (home.children.length === 0 && node.type === "compound") {
      const { type: _type, ...leaf } = node;
      home.node = leaf;
    }
    return;
  }
  if (home.node.initial === undefined) return;
  const starts = initialOf(draft, home, home.node.initial);
  if (starts.some((start) => [...lost].some((state) => isInside(start, state)))) {
    home.node = { ...home.node, initial: first.key };
  }
}

/** Deletes states with what is inside, the transitions that start or end there, and transitions by id. */
export function deleteElements(
  document: EditorDocument,
  command: { states: string[]; transitions: string[] },
): EditOutcome {
  const draft = openDraft(document);
  const removed = new Set<DraftState>();
  for (const name of command.states) {
    const state = draft.byName.get(name);
    if (state?.parent) walk(state, (inner) => removed.add(inner));
  }
  const asked = new Set(command.transitions.filter((id) => !id.endsWith("#initial")));
  let removedTransitions = 0;
  const homes = new Set<DraftState>();
  for (const state of removed) {
    if (!state.parent || removed.has(state.parent)) continue;
    state.parent.children = state.parent.children.filter((child) => child !== state);
    homes.add(state.parent);
  }
  for (const state of removed) removedTransitions += transitionsIn(draft, state);
  walk(draft.root, (state) => {
    removedTransitions += dropTransitions(draft, state, removed, asked);
    dropDefault(draft, state, removed);
  });
  for (const home of homes) releaseInitial(draft, home, removed);
  walk(draft.root, (state) => {
    if (
      state.node.initial !== undefined &&
      initialOf(draft, state, state.node.initial).some((to) => removed.has(to))
    ) {
      releaseInitial(draft, state, removed);
    }
  });
  const closed = closeDraft(draft);
  const routes = Object.fromEntries(
    Object.entries(closed.document.layout.routes).filter(([id]) => !isCandidateRoute(id)),
  );
  // Indexes of candidates shift: their routes are matched again by place in their list (shiftRoutes).
  const kept = shiftRoutes(draft, closed.document.layout.routes, asked, removed, closed.nameOf);
  return {
    document: { ...closed.document, layout: { ...closed.document.layout, routes: { ...routes, ...kept } } },
    removedTransitions,
  };
}

const isCandidateRoute = (id: string): boolean => /\/\d+(?:>\d+)?$/.test(id);

/** Routes of the transitions that stay, under their new index. */
function shiftRoutes(
  draft: DraftTree,
  routes: EditorDocument["layout"]["routes"],
  asked: ReadonlySet<string>,
  removed: ReadonlySet<DraftState>,
  nameOf: Map<DraftState, string>,
): EditorDocument["layout"]["routes"] {
  const kept: EditorDocument["layout"]["routes"] = {};
  const counters = new Map<string, number>();
  for (const transition of draft.tree.transitions) {
    const source = draft.byName.get(transition.source.name);
    const name = source && nameOf.get(source);
    if (!source || name === undefined) continue;
    const gone =
      asked.has(transition.id) ||
      (transition.targets.length > 0 &&
        transition.targets.every(({ state }) => {
          const target = state && draft.byName.get(state.name);
          return target ? removed.has(target) : false;
        }));
    const before = name + transition.id.slice(transition.id.indexOf("#"));
    const field = before.slice(0, before.lastIndexOf("/"));
    if (gone) continue;
    const index = counters.get(field) ?? 0;
    counters.set(field, index + 1);
    transition.targets.forEach((_, target) => {
      const suffix = target === 0 ? "" : `>${target}`;
      const route = routes[`${before}${suffix}`];
      if (route) kept[`${field}/${index}${suffix}`] = route;
    });
  }
  return kept;
}

const transitionsIn = (draft: DraftTree, state: DraftState): number =>
  draft.tree.transitions.filter((transition) => transition.source === state.before).length;

/** Removes asked-for transitions and those that lead only into removed states; the count of the latter. */
function dropTransitions(
  draft: DraftTree,
  state: DraftState,
  removed: ReadonlySet<DraftState>,
  asked: ReadonlySet<string>,
): number {
  const { before } = state;
  if (!before) return 0;
  let count = 0;
  const filter = (
    path: string,
    list: OneOrMany<Transition> | undefined,
  ): OneOrMany<Transition> | undefined => {
    if (list === undefined) return undefined;
    const kept = many<Transition>(list).flatMap((transition, index): Transition[] => {
      if (asked.has(`${before.name}#${path}/${index}`)) return [];
      const targets = many<Target>(typeof transition === "string" ? transition : transition?.target);
      const left = targets.filter((target) => !leadsInto(draft, state, target, removed));
      if (left.length === targets.length) return [transition];
      if (left.length === 0) {
        count++;
        return [];
      }
      return [
        {
          ...(typeof transition === "string" ? {} : transition),
          target: left.length === 1 ? must(left[0], "one") : left,
        },
      ];
    });
    if (kept.length === 0) return undefined;
    return Array.isArray(list) ? kept : must(kept[0], "one transition is left");
  };
  state.node = mapTransitions(state.node, filter);
  return count;
}

/** Every list of transitions of a node through `change`; an emptied one goes, with the field that held it. */
function mapTransitions(
  node: StateNode,
  change: (path: string, list: OneOrMany<Transition> | undefined) => OneOrMany<Transition> | undefined,
): StateNode {
  const next = { ...node };
  const escape = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1");
  for (const field of ["on", "after"] as const) {
    const map = next[field];
    if (!map) continue;
    const entries = Object.entries(map).flatMap(([key, list]) => {
      const kept = change(`${field}/${escape(key)}`, list);
      return kept === undefined ? [] : [[key, kept] as const];
    });
    if (entries.length === 0) delete next[field];
    else next[field] = Object.fromEntries(entries);
  }
  for (const field of ["always", "onDone"] as const) {
    const kept = change(field, next[field]);
    if (kept === undefined) delete next[field];
    else next[field] = kept;
  }
  if (next.invoke !== undefined) {
    const invokes = many(next.invoke).map((invoke, index) => {
      const copy = { ...invoke };
      for (const field of ["onDone", "onError", "onEvent"] as const) {
        const kept = change(`invoke/${index}/${field}`, copy[field]);
        if (kept === undefined) delete copy[field];
        else copy[field] = kept;
      }
      return copy;
    });
    next.invoke = Array.isArray(next.invoke) ? invokes : must(invokes[0], "one invocation");
  }
  return next;
}

/** A history's default that leads to a removed state goes. */
function dropDefault(draft: DraftTree, state: DraftState, removed: ReadonlySet<DraftState>): void {
  const home = state.parent;
  if (state.node.target === undefined || !home) return;
  if (!initialOf(draft, home, state.node.target).some((to) => removed.has(to))) return;
  const { target: _target, ...node } = state.node;
  state.node = node;
}

/** Changes what kind of state it is; what the new kind can't have is removed or, for children, refused. */
export function setKind(document: EditorDocument, command: { state: string; kind: StateKind }): EditOutcome {
  const draft = openDraft(document);
  const state = draft.byName.get(command.state);
  if (!state) return gone(command.state);
  const { kind } = command;
  const hasChildren = state.children.length > 0;
  if (!state.parent && kind !== "compound" && kind !== "parallel") {
    return { refused: "The chart itself is compound or parallel." };
  }
  if (hasChildren && kind !== "compound" && kind !== "parallel") {
    return { refused: `${state.key} holds states: move or delete them before making it ${kind}.` };
  }
  const { type: _type, history: _history, initial, target, ...rest } = state.node;
  const type: StateType | undefined =
    kind === "parallel" || kind === "final"
      ? kind
      : kind === "history" || kind === "deep-history"
        ? "history"
        : undefined;
  state.node = { ...rest, ...(type === undefined ? {} : { type }) };
  if (type === "history") {
    state.node = {
      type,
      history: kind === "deep-history" ? "deep" : "shallow",
      ...(rest.id === undefined ? {} : { id: rest.id }),
      ...(rest.description === undefined ? {} : { description: rest.description }),
      ...(target === undefined ? {} : { target }),
    };
    const home = must(state.parent, "the root is no history");
    if (initialOf(draft, home, home.node.initial).includes(state)) releaseStart(home, state);
  } else if (type === "final") {
    // A final state is left by its parent's transitions alone.
    const {
      on: _on,
      after: _after,
      always: _always,
      onDone: _onDone,
      invoke: _invoke,
      ...final
    } = state.node;
    state.node = final;
  } else if (kind === "compound") {
    if (!hasChildren) fill(state, 1);
    else {
      const first = state.children.find((child) => child.node.type !== "history");
      const starts = initialOf(draft, state, initial);
      if (initial !== undefined && starts.length > 0) state.node = { ...state.node, initial };
      else if (first) state.node = { ...state.node, initial: first.key };
    }
  } else if (kind === "parallel" && !hasChildren) fill(state, 2);
  // What was a history may be the only state its parent can start in.
  if (type !== "history" && state.parent) adopt(state.parent, state);
  const closed = closeDraft(draft);
  return { document: closed.document, select: must(closed.nameOf.get(state), "the state stays") };
}

function releaseStart(home: DraftState, lost: DraftState): void {
  const first = home.children.find((child) => child !== lost && child.node.type !== "history");
  const { initial: _initial, ...node } = home.node;
  home.node = first ? { ...node, initial: first.key } : node;
}

/** Makes a state the initial one of its parent. */
export function setInitial(document: EditorDocument, command: { state: string }): EditOutcome {
  const draft = openDraft(document);
  const state = draft.byName.get(command.state);
  const home = state?.parent;
  if (!state || !home) return gone(command.state);
  if (home.node.type === "parallel") return { refused: "All regions of a parallel state start together." };
  if (state.node.type === "history") return { refused: "Draw the arrow of the history state instead." };
  const { initial } = home.node;
  const actions =
    initial !== undefined && typeof initial === "object" && !Array.isArray(initial)
      ? initial.actions
      : undefined;
  home.node = { ...home.node, initial: actions === undefined ? state.key : { target: state.key, actions } };
  const { document: next } = closeDraft(draft);
  const route = `${home.before?.name ?? ""}#initial`;
  const { [route]: _route, ...routes } = next.layout.routes;
  return { document: { ...next, layout: { ...next.layout, routes } }, select: command.state };
}
