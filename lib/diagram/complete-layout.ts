/**
 * Gives a place to what has none, and leaves the rest where it is: opening an imported chart lays it out whole; a chart
 * edited as text gets its new states put beside their siblings. Never moves what a person placed.
 *
 * Holds: afterwards every box of the scene has a place and every arrow a route; containers have grown around new
 * children, never shrunk.
 */
import { autoLayout, type AutoLayout, type ElkEngine } from "./auto-layout";
import { boxSize, headHeight, isContainer } from "./box-size";
import { bottom, contains, overlaps, right, union } from "./geometry";
import { type Box, type Layout } from "./layout";
import type { Measure } from "./measure";
import { finishParallels } from "./parallel-layout";
import { routeArrows } from "./route";
import type { Scene, SceneBox } from "./scene";

/** Is everything placed and routed already? */
export function isComplete(scene: Scene, layout: Layout): boolean {
  return (
    scene.boxes.every((box) => layout.states[box.id] !== undefined) &&
    scene.arrows.every((arrow) => layout.routes[arrow.id] !== undefined)
  );
}

/** Nothing a person placed is there to keep. */
const isUnplaced = (scene: Scene, layout: Layout): boolean =>
  !scene.boxes.some((box) => box.kind !== "initial" && layout.states[box.id] !== undefined);

export async function completeLayout(
  scene: Scene,
  layout: Layout,
  measure: Measure,
  elk: () => ElkEngine,
  window: { w: number; h: number },
): Promise<AutoLayout> {
  if (isComplete(scene, layout)) return { layout, failure: null };
  if (isUnplaced(scene, layout)) return autoLayout(scene, measure, elk(), { direction: "best", window });
  return { layout: placeMissing(scene, layout, measure), failure: null };
}

const gap = 40;

/** Puts boxes without a place beside their siblings, grows what must hold them, routes what has no route. */
export function placeMissing(scene: Scene, layout: Layout, measure: Measure): Layout {
  const states: Layout["states"] = { ...layout.states };
  const touched = new Set<string>();
  const isMissing = (box: SceneBox): boolean => states[box.id] === undefined;
  // A container around placed boxes (a frame that the root needs now) goes where they are.
  for (const box of [...scene.boxes].reverse()) {
    const inside = union(box.children.flatMap((id) => states[id] ?? []));
    if (!isMissing(box) || !inside) continue;
    const head = headHeight(box);
    states[box.id] = { x: inside.x - 20, y: inside.y - head - 16, w: inside.w + 40, h: inside.h + head + 36 };
    touched.add(box.id);
  }
  for (const box of scene.boxes) {
    if (!isMissing(box)) continue;
    const block = blockOf(scene, box, measure);
    const at = freePlace(scene, states, box, block[box.id] ?? { x: 0, y: 0, w: 0, h: 0 });
    for (const [id, own] of Object.entries(block)) {
      states[id] = { ...own, x: own.x + at.x, y: own.y + at.y };
      touched.add(id);
    }
  }
  const grown = growContainers(scene, { ...layout, states }, measure);
  for (const id of Object.keys(grown.states)) {
    const before = layout.states[id];
    const after = grown.states[id];
    if (
      before &&
      after &&
      (before.x !== after.x || before.y !== after.y || before.w !== after.w || before.h !== after.h)
    ) {
      touched.add(id);
    }
  }
  const open = scene.arrows.filter(
    (arrow) =>
      grown.routes[arrow.id] === undefined ||
      (touched.has(arrow.source) && !isContainerId(scene, arrow.source)) ||
      (touched.has(arrow.target) && !isContainerId(scene, arrow.target)) ||
      !stillAttached(grown, arrow),
  );
  return routeArrows(scene, grown, new Set(open.map((arrow) => arrow.id)), measure);
}

const isContainerId = (scene: Scene, id: string): boolean => {
  const box = scene.box.get(id);
  return box !== undefined && isContainer(box);
};

/** Do the route's ends still lie on the borders of its boxes? */
export function stillAttached(
  layout: Layout,
  arrow: { id: string; source: string; target: string },
): boolean {
  const points = layout.routes[arrow.id]?.points;
  const from = layout.states[arrow.source];
  const to = layout.states[arrow.target];
  const first = points?.[0];
  const last = points?.[points.length - 1];
  return Boolean(first && last && from && to && touches(from, first) && touches(to, last));
}

const touches = (box: Box, { x, y }: { x: number; y: number }): boolean => {
  const near = (a: number, b: number) => Math.abs(a - b) < 1.5;
  const inX = x > box.x - 1.5 && x < right(box) + 1.5;
  const inY = y > box.y - 1.5 && y < bottom(box) + 1.5;
  return (
    ((near(x, box.x) || near(x, right(box))) && inY) || ((near(y, box.y) || near(y, bottom(box))) && inX)
  );
};

/** A box with all its missing inside, relative to its own corner: children in a row, the dot first. */
function blockOf(scene: Scene, box: SceneBox, measure: Measure): Record<string, Box> {
  const own = boxSize(box, measure);
  if (!isContainer(box)) return { [box.id]: { x: 0, y: 0, ...own } };
  const head = headHeight(box);
  const block: Record<string, Box> = {};
  const pad = box.parallel ? 0 : 24;
  let x = pad;
  let y = head + pad;
  let w = own.w;
  let h = own.h;
  for (const id of box.children) {
    const child = scene.box.get(id);
    if (!child) continue;
    const inside = blockOf(scene, child, measure);
    const size = inside[id] ?? { x: 0, y: 0, w: 0, h: 0 };
    const drop = child.kind === "initial" ? 12 : 0;
    for (const [key, item] of Object.entries(inside))
      block[key] = { ...item, x: item.x + x, y: item.y + y + drop };
    w = Math.max(w, x + size.w + pad);
    h = Math.max(h, y + size.h + drop + pad);
    if (box.parallel) y += size.h;
    else x += size.w + gap;
  }
  block[box.id] = { x: 0, y: 0, w, h };
  return block;
}

/** A free spot near the siblings: right of them, else below. */
function freePlace(
  scene: Scene,
  states: Layout["states"],
  box: SceneBox,
  own: Box,
): { x: number; y: number } {
  const parent = box.parent === null ? undefined : scene.box.get(box.parent);
  const parentBox = parent && states[parent.id];
  const siblingIds = parent
    ? parent.children
    : scene.boxes.filter((item) => item.parent === null).map((item) => item.id);
  const siblings = siblingIds.filter((id) => id !== box.id).flatMap((id) => states[id] ?? []);
  const pad = 24;
  const origin =
    parent && parentBox
      ? {
          x: parentBox.x + (parent.parallel ? 0 : pad),
          y: parentBox.y + headHeight(parent) + (parent.parallel ? 0 : pad),
        }
      : { x: 24, y: 24 };
  if (parent?.parallel) {
    const all = union(siblings);
    return { x: origin.x, y: all ? bottom(all) : origin.y };
  }
  if (box.kind === "initial") {
    const first = scene.arrows.find((arrow) => arrow.source === box.id);
    const target = first && states[first.target];
    if (target)
      return freeNear(siblings, { x: target.x - 46, y: target.y + target.h / 2 - 6, w: own.w, h: own.h });
  }
  const all = union(siblings);
  return freeNear(siblings, {
    x: all ? right(all) + gap : origin.x,
    y: all ? all.y : origin.y,
    w: own.w,
    h: own.h,
  });
}

function freeNear(siblings: Box[], wanted: Box): { x: number; y: number } {
  const place = { ...wanted };
  for (let tries = 0; tries < 200; tries++) {
    const hit = siblings.find((item) => overlaps(place, item, 8));
    if (!hit) break;
    place.y = bottom(hit) + 16;
  }
  return { x: place.x, y: place.y };
}

/** Lets every container reach around its children, outwards; siblings that come to overlap are pushed aside. */
export function growContainers(scene: Scene, layout: Layout, measure: Measure): Layout {
  const states = { ...layout.states };
  for (const box of [...scene.boxes].reverse()) {
    const own = states[box.id];
    if (!own || !isContainer(box)) continue;
    const head = headHeight(box);
    const least = boxSize(box, measure);
    const children = box.children.flatMap((id) => (isHeaderChild(scene, box, id) ? [] : (states[id] ?? [])));
    const pad = box.parallel ? 0 : 20;
    const inside = union(children);
    let { x, y } = own;
    let r = Math.max(right(own), x + least.w);
    let b = Math.max(bottom(own), y + least.h);
    if (inside) {
      x = Math.min(x, inside.x - pad);
      y = Math.min(y, inside.y - head - (box.parallel ? 0 : 12));
      r = Math.max(r, right(inside) + pad);
      b = Math.max(b, bottom(inside) + pad);
    }
    const grown = { ...own, x, y, w: r - x, h: b - y };
    if (contains(own, grown, 0)) continue;
    states[box.id] = grown;
  }
  const next = { ...layout, states };
  finishParallels(scene, next, measure);
  return next;
}

/** A history circle in the header of a parallel. */
const isHeaderChild = (scene: Scene, parent: SceneBox, id: string): boolean =>
  parent.parallel && scene.box.get(id)?.kind !== "region";
