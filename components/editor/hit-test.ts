/**
 * What lies under a point of the drawing.
 */
import { headHeight, isContainer } from "@/lib/diagram/box-size";
import { containsPoint } from "@/lib/diagram/geometry";
import type { Layout, Point } from "@/lib/diagram/layout";
import type { Scene, SceneBox } from "@/lib/diagram/scene";

/** The innermost box at a point; dots don't count. */
export function boxAt(
  scene: Scene,
  layout: Layout,
  point: Point,
  except: ReadonlySet<string> = none,
): SceneBox | null {
  let best: SceneBox | null = null;
  for (const box of scene.boxes) {
    const own = layout.states[box.id];
    if (!own || box.kind === "initial" || except.has(box.id) || !containsPoint(own, point)) continue;
    if (!best || box.depth >= best.depth) best = box;
  }
  return best;
}

/** The innermost box at a point that holds others, or could as a region. null: the canvas. */
export function containerAt(
  scene: Scene,
  layout: Layout,
  point: Point,
  except: ReadonlySet<string> = none,
): SceneBox | null {
  for (
    let box = boxAt(scene, layout, point, except);
    box;
    box = box.parent === null ? null : (scene.box.get(box.parent) ?? null)
  ) {
    if (except.has(box.id)) continue;
    if (isContainer(box) || box.kind === "region")
      return box.parallel ? regionAt(scene, layout, box, point) : box;
  }
  return null;
}

/** Inside a parallel one always means one of its regions, unless its header is meant. */
function regionAt(scene: Scene, layout: Layout, box: SceneBox, point: Point): SceneBox {
  const region = box.children
    .flatMap((id) => scene.box.get(id) ?? [])
    .find((child) => {
      const own = layout.states[child.id];
      return child.kind === "region" && own && containsPoint(own, point);
    });
  return region ?? box;
}

/** Where an arrow dropped at a point ends: a state, or the empty inside of a container. */
export function dropAt(
  scene: Scene,
  layout: Layout,
  point: Point,
): { state: string } | { inside: string | null } {
  const box = boxAt(scene, layout, point);
  if (!box) return { inside: null };
  const own = layout.states[box.id];
  if (!isContainer(box) || !own) return { state: box.id };
  const edge = 12;
  const onHeader = box.kind !== "region" && point.y < own.y + headHeight(box);
  const onBorder =
    point.x < own.x + edge ||
    point.y < own.y + edge ||
    point.x > own.x + own.w - edge ||
    point.y > own.y + own.h - edge;
  return onHeader || onBorder ? { state: box.id } : { inside: box.id };
}

const none: ReadonlySet<string> = new Set();
