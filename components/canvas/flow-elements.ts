/**
 * Scene, layout and marks as React Flow's nodes and edges.
 *
 * Holds: a node's data changes only when its looks do (memoised nodes stay still); parents come before children.
 */
import { Position, type Edge, type Node } from "@xyflow/react";
import type { Box, Layout, Point } from "@/lib/diagram/layout";
import type { Marks, StateMark, TransitionMark } from "@/lib/diagram/marks";
import { headHeight } from "@/lib/diagram/box-size";
import { type Scene, type SceneArrow, type SceneBox } from "@/lib/diagram/scene";

interface StateData extends Record<string, unknown> {
  box: SceneBox;
  mark: StateMark;
  selected: boolean;
  /** Drop target of a drag. */
  highlighted: boolean;
  /** Where a region borders on the one before it. */
  divider: "top" | "left" | null;
  head: number;
}
interface ArrowData extends Record<string, unknown> {
  arrow: SceneArrow;
  points: Point[];
  label: Box | null;
  mark: TransitionMark;
  selected: boolean;
}
export type StateFlowNode = Node<StateData, "state">;
export type ArrowFlowEdge = Edge<ArrowData, "transition">;

export interface FlowOptions {
  marks: Marks;
  /** State names and transition ids. */
  selection: ReadonlySet<string>;
  highlighted?: string | null;
  draggable?: boolean;
}

const nothing: StateMark & TransitionMark = {};

export function flowNodes(scene: Scene, layout: Layout, options: FlowOptions): StateFlowNode[] {
  return scene.boxes.flatMap((box) => {
    const own = layout.states[box.id];
    if (!own) return [];
    const parent = box.parent === null ? undefined : layout.states[box.parent];
    const node: StateFlowNode = {
      id: box.id,
      type: "state",
      position: { x: own.x - (parent?.x ?? 0), y: own.y - (parent?.y ?? 0) },
      width: own.w,
      height: own.h,
      measured: { width: own.w, height: own.h },
      // Leaves lie above edges, containers below them.
      zIndex: box.children.length > 0 ? box.depth : 150,
      draggable: options.draggable === true && box.kind !== "root",
      focusable: box.kind !== "initial",
      ariaRole: "group",
      handles: [
        { type: "source", position: Position.Right, x: own.w, y: own.h / 2, width: 1, height: 1 },
        { type: "target", position: Position.Left, x: 0, y: own.h / 2, width: 1, height: 1 },
      ],
      data: {
        box,
        mark: options.marks.states[box.id] ?? nothing,
        selected: options.selection.has(box.id),
        highlighted: options.highlighted === box.id,
        divider: dividerOf(scene, layout, box),
        head: headHeight(box),
      },
      ariaLabel: stateLabel(box, options.marks.states[box.id] ?? nothing),
      ...(box.parent === null ? {} : { parentId: box.parent }),
    };
    return [node];
  });
}

/** Hands out the objects it gave before where they would come out the same: React Flow re-renders only what changed. */
export class Unchanged<T extends { id: string }> {
  private known = new Map<string, T>();

  keep(after: T[]): T[] {
    const kept = after.map((item) => {
      const old = this.known.get(item.id);
      return old && same(old, item, 3) ? old : item;
    });
    this.known = new Map(kept.map((item) => [item.id, item]));
    return kept;
  }
}

function same(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (depth === 0 || typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) =>
    same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], depth - 1),
  );
}

export function flowEdges(scene: Scene, layout: Layout, options: FlowOptions): ArrowFlowEdge[] {
  return scene.arrows.flatMap((arrow) => {
    const route = layout.routes[arrow.id];
    if (!route || !layout.states[arrow.source] || !layout.states[arrow.target]) return [];
    const mark = options.marks.transitions[arrow.transition] ?? nothing;
    const selected = options.selection.has(arrow.transition);
    const edge: ArrowFlowEdge = {
      id: arrow.id,
      type: "transition",
      source: arrow.source,
      target: arrow.target,
      zIndex: mark.taken ? 120 : selected ? 115 : mark.refused ? 105 : 100,
      focusable: false,
      data: { arrow, points: route.points, label: route.label ?? null, mark, selected },
    };
    return [edge];
  });
}

function dividerOf(scene: Scene, layout: Layout, box: SceneBox): "top" | "left" | null {
  if (box.kind !== "region" || box.parent === null) return null;
  const own = layout.states[box.id];
  const parent = layout.states[box.parent];
  const parentBox = scene.box.get(box.parent);
  if (!own || !parent || !parentBox) return null;
  if (own.x > parent.x + 1) return "left";
  return own.y > parent.y + headHeight(parentBox) + 1 ? "top" : null;
}

/** What a screen reader says: "state Idle, active". */
function stateLabel(box: SceneBox, mark: StateMark): string {
  if (box.kind === "initial") return "initial state";
  const kinds: Partial<Record<SceneBox["kind"], string>> = {
    parallel: "parallel state",
    compound: "compound state",
    final: "final state",
    history: "history",
    "deep-history": "deep history",
    region: "region",
    root: "chart",
  };
  const words = (["active", "entered", "exited", "failed", "ignored"] as const).filter((word) => mark[word]);
  const problem =
    mark.problem === undefined ? [] : [mark.problem === "error" ? "has an error" : "has a warning"];
  return [`${kinds[box.kind] ?? "state"} ${box.title}`.trim(), ...words, ...problem].join(", ");
}
