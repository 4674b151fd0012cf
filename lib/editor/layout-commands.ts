/**
 * Commands on places: move, resize, collapse, a whole new layout. The chart stays as it is.
 */
import { shift } from "@/lib/diagram/geometry";
import type { Box, Layout, Point } from "@/lib/diagram/layout";
import { buildScene, type Scene } from "@/lib/diagram/scene";
import type { EditOutcome, EditorDocument } from "./document";

/** Moves states with all that is inside them; arrows wholly inside go along, the others are routed anew. */
export function moveStates(
  document: EditorDocument,
  command: { places: Record<string, Point> },
): EditOutcome {
  return { document: { ...document, layout: movedLayout(document, command.places) } };
}

export function movedLayout(
  { chart, layout }: EditorDocument,
  places: Record<string, Point>,
  scene = buildScene(chart),
): Layout {
  const states = { ...layout.states };
  const delta = new Map<string, Point>();
  for (const [id, place] of Object.entries(places)) {
    const box = layout.states[id];
    if (!box) continue;
    const by = { x: place.x - box.x, y: place.y - box.y };
    if (by.x === 0 && by.y === 0) continue;
    for (const inner of insideOf(scene, id)) delta.set(inner, by);
  }
  for (const [id, by] of delta) {
    const box = states[id];
    if (box) states[id] = shift(box, by.x, by.y);
  }
  const routes: Layout["routes"] = {};
  const ends = new Map(scene.arrows.map((arrow) => [arrow.id, arrow]));
  for (const [id, route] of Object.entries(layout.routes)) {
    const arrow = ends.get(id);
    const from = arrow && delta.get(arrow.source);
    const to = arrow && delta.get(arrow.target);
    if (!from && !to) routes[id] = route;
    else if (from && to && from.x === to.x && from.y === to.y) {
      routes[id] = {
        points: route.points.map((point) => shift(point, from.x, from.y)),
        ...(route.label ? { label: shift(route.label, from.x, from.y) } : {}),
      };
    }
  }
  return { ...layout, states, routes };
}

/** A box and everything inside it. */
export function insideOf(scene: Scene, id: string): string[] {
  const box = scene.box.get(id);
  return box ? [id, ...box.children.flatMap((child) => insideOf(scene, child))] : [id];
}

export function resizeState(document: EditorDocument, command: { state: string; box: Box }): EditOutcome {
  const { layout } = document;
  const before = layout.states[command.state];
  if (!before) return { document };
  const states = { ...layout.states, [command.state]: { ...before, ...command.box } };
  return { document: { ...document, layout: { ...layout, states } }, select: command.state };
}

/** Hides or shows what is inside a state. */
export function toggleCollapsed(document: EditorDocument, command: { state: string }): EditOutcome {
  const { layout } = document;
  const before = layout.states[command.state];
  if (!before) return { document };
  const { collapsed, ...box } = before;
  const states = { ...layout.states, [command.state]: collapsed ? box : { ...box, collapsed: true } };
  return { document: { ...document, layout: { ...layout, states } }, select: command.state };
}

export function setLayout(document: EditorDocument, command: { layout: Layout }): EditOutcome {
  return { document: { ...document, layout: command.layout } };
}
