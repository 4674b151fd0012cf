/**
 * A chart as boxes and arrows with the texts they show: what the canvas draws and the layout places. Pure; it knows no
 * positions. It draws charts with errors too: an arrow to a missing target is left out (Problems names it).
 *
 * Holds: box ids are state names, `<name>#initial` for a dot; arrow ids are transition ids, with `>n` behind those of
 * the second and later targets. A box's parent stands before it.
 */
import type { Action, Chart } from "@/lib/statechart/document";
import { transitionId } from "@/lib/statechart/transition-id";
import {
  chartTree,
  initialTargets,
  invokesOf,
  many,
  resolveInside,
  type ChartTree,
  type TreeState,
  type TreeTransition,
} from "./chart-tree";
import { actionText, labelText, shorten } from "./label";

type BoxKind =
  "root" | "atomic" | "compound" | "parallel" | "region" | "final" | "history" | "deep-history" | "initial";

export interface Row {
  /** `entry`, `exit`, `invoke`, or the event of an internal transition. */
  label: string;
  text: string;
  /** An internal transition's id. */
  transition?: string;
}

export interface SceneBox {
  id: string;
  kind: BoxKind;
  title: string;
  rows: Row[];
  parent: string | null;
  children: string[];
  depth: number;
  /** A region that is itself parallel, or a parallel drawn as a box: its children tile it. */
  parallel: boolean;
  /** History circles that lie in its header, for want of a region. */
  inHeader: number;
  /** How many states a collapsed box hides. */
  hidden: number;
}

export interface SceneArrow {
  /** Route key. */
  id: string;
  /** Address of the transition, or of the `initial`. */
  transition: string;
  source: string;
  target: string;
  label: ArrowLabel | null;
}

export interface ArrowLabel {
  /** `1`, `2`, `else`-numbering, only where the event has several candidates. */
  branch: number | null;
  when: string;
  /** With brackets, or `else`; shortened with … only. */
  guard: string | null;
  /** `/ charge, notify`; shortened with … only. */
  actions: string | null;
  /** The actions stand on a second line. */
  twoLines: boolean;
}

export interface Scene {
  boxes: SceneBox[];
  box: Map<string, SceneBox>;
  arrows: SceneArrow[];
  tree: ChartTree;
}

export interface SceneOptions {
  /** Names of states whose inside is hidden. */
  collapsed?: ReadonlySet<string>;
  /** Shown when the root needs a frame of its own. */
  rootTitle?: string;
}

const dotOf = (state: string): string => `${state}#initial`;
export const arrowTransition = (arrowId: string): string => arrowId.replace(/>\d+$/, "");

const rowTextMax = 44;
const guardMax = 34;
const actionsMax = 30;
const oneLineMax = 24;

export function buildScene(chart: Chart, options: SceneOptions = {}): Scene {
  const tree = chartTree(chart);
  const collapsed = options.collapsed ?? new Set<string>();
  const boxes: SceneBox[] = [];
  const box = new Map<string, SceneBox>();
  const arrows: SceneArrow[] = [];
  const byState = new Map<TreeState, TreeTransition[]>();
  for (const transition of tree.transitions) {
    const group = byState.get(transition.source);
    if (group) group.push(transition);
    else byState.set(transition.source, [transition]);
  }
  /** The box that stands for a state: its own, or that of the collapsed state around it. */
  const standIn = new Map<TreeState, string>();

  const add = (item: SceneBox): void => {
    boxes.push(item);
    box.set(item.id, item);
    if (item.parent !== null) box.get(item.parent)?.children.push(item.id);
  };

  const place = (state: TreeState, parent: SceneBox | null, hiddenBy: string | null): void => {
    if (hiddenBy !== null) {
      standIn.set(state, hiddenBy);
      for (const child of state.children) place(child, parent, hiddenBy);
      return;
    }
    const isCollapsed = collapsed.has(state.name) && state.children.length > 0;
    const item: SceneBox = {
      id: state.name,
      kind: boxKind(state, parent),
      title: state.parent ? state.key : (options.rootTitle ?? ""),
      rows: rowsOf(state, byState.get(state) ?? []),
      parent: parent?.id ?? null,
      children: [],
      depth: parent ? parent.depth + 1 : 0,
      parallel: state.kind === "parallel" && !isCollapsed,
      inHeader:
        state.kind === "parallel" && !isCollapsed
          ? state.children.filter((child) => child.kind === "history").length
          : 0,
      hidden: isCollapsed ? countInside(state) : 0,
    };
    add(item);
    standIn.set(state, item.id);
    const shown = state.children.filter((child) => child.kind !== "history");
    if (!isCollapsed && shown.length > 0 && state.kind !== "parallel") {
      add({
        ...plainBox,
        id: dotOf(state.name),
        kind: "initial",
        parent: item.id,
        depth: item.depth + 1,
        rows: [],
        children: [],
      });
    }
    for (const child of state.children) place(child, item, isCollapsed ? item.id : null);
  };

  if (needsFrame(tree.root, byState.get(tree.root) ?? [])) place(tree.root, null, null);
  else {
    // The canvas itself is the root: its children have no parent box.
    if (tree.root.children.length > 0) {
      add({
        ...plainBox,
        id: dotOf(tree.root.name),
        kind: "initial",
        parent: null,
        depth: 0,
        rows: [],
        children: [],
      });
    }
    for (const child of tree.root.children) place(child, null, null);
  }

  for (const state of tree.states) arrows.push(...pseudoArrows(tree, state, standIn, box));
  for (const transition of tree.transitions) {
    const source = standIn.get(transition.source);
    transition.targets.forEach(({ state }, index) => {
      const target = state && standIn.get(state);
      if (source === undefined || !target) return;
      const insideCollapsed = source === target && collapsed.has(source) && transition.source.name !== source;
      if (insideCollapsed) return;
      const id = index === 0 ? transition.id : `${transition.id}>${index}`;
      arrows.push({ id, transition: transition.id, source, target, label: arrowLabel(transition) });
    });
  }
  return { boxes, box, arrows, tree };
}

const plainBox = { title: "", parallel: false, inHeader: 0, hidden: 0 } as const;

function boxKind(state: TreeState, parent: SceneBox | null): BoxKind {
  if (!state.parent) return "root";
  if (state.kind === "history") return state.node.history === "deep" ? "deep-history" : "history";
  if (parent?.parallel) return "region";
  return state.kind === "compound" && state.children.length === 0 ? "atomic" : state.kind;
}

/** The root gets a box only where it says something: regions, compartments or transitions of its own. */
function needsFrame(root: TreeState, transitions: TreeTransition[]): boolean {
  const { node } = root;
  return (
    root.kind === "parallel" ||
    root.kind === "final" ||
    transitions.length > 0 ||
    [node.entry, node.exit, node.invoke].some((field) => many<unknown>(field).length > 0)
  );
}

const countInside = (state: TreeState): number =>
  state.children.reduce((sum, child) => sum + 1 + countInside(child), 0);

function rowsOf(state: TreeState, transitions: TreeTransition[]): Row[] {
  const { node } = state;
  if (state.kind === "history") return [];
  const rows: Row[] = [];
  for (const label of ["entry", "exit"] as const) {
    const actions = many<Action>(node[label]);
    if (actions.length > 0)
      rows.push({ label, text: shorten(actions.map(actionText).join(", "), rowTextMax) });
  }
  for (const invoke of invokesOf(node)) {
    const src = typeof invoke?.src === "string" ? invoke.src : (invoke?.src?.placeholder ?? "");
    rows.push({ label: "invoke", text: shorten(src, rowTextMax) });
  }
  for (const transition of transitions) {
    if (transition.targets.length > 0) continue;
    const label = labelText(transition.when, transition.spec, invokesOf(node));
    const guard = label.guard === null ? "" : ` [${label.guard}]`;
    const text = transition.forbidden ? "forbidden" : label.actions.join(", ");
    rows.push({
      label: shorten(label.when + guard, guardMax),
      text: shorten(text, rowTextMax),
      transition: transition.id,
    });
  }
  return rows;
}

function arrowLabel({ when, spec, source, index, count }: TreeTransition): ArrowLabel {
  const text = labelText(when, spec, invokesOf(source.node));
  const last = index === count - 1 && count > 1;
  const guard = text.guard !== null ? `[${shorten(text.guard, guardMax)}]` : last ? "else" : null;
  const shown =
    text.actions.slice(0, 2).join(", ") + (text.actions.length > 2 ? ` +${text.actions.length - 2}` : "");
  const actions = text.actions.length > 0 ? `/ ${shorten(shown, actionsMax)}` : null;
  const head = [text.when, guard].filter(Boolean).join(" ");
  const twoLines = actions !== null && head.length + actions.length + 1 > oneLineMax;
  return {
    branch: count > 1 ? index + 1 : null,
    when: shorten(text.when, guardMax),
    guard,
    actions,
    twoLines,
  };
}

/** The arrows from initial dots and from history states to their defaults. */
function pseudoArrows(
  tree: ChartTree,
  state: TreeState,
  standIn: Map<TreeState, string>,
  box: Map<string, SceneBox>,
): SceneArrow[] {
  const dot = dotOf(state.name);
  if (box.has(dot)) {
    const written = initialTargets(state.node.initial).map((text) => resolveInside(tree, state, text));
    return arrowsTo(transitionId(state.name, "initial"), dot, written, standIn);
  }
  const home = state.kind === "history" && standIn.get(state) === state.name ? state.parent : null;
  if (!home) return [];
  const defaults = initialTargets(state.node.target).map((text) => resolveInside(tree, home, text));
  return arrowsTo(transitionId(state.name, "target"), state.name, defaults, standIn);
}

function arrowsTo(
  transition: string,
  source: string,
  targets: (TreeState | null)[],
  standIn: Map<TreeState, string>,
): SceneArrow[] {
  return targets.flatMap((state, index) => {
    const target = state && standIn.get(state);
    if (!target || target === source) return [];
    const id = index === 0 ? transition : `${transition}>${index}`;
    return [{ id, transition, source, target, label: null }];
  });
}
