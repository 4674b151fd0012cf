/**
 * Boxes in rows: what is drawn when ELK fails, so that there is always a drawing.
 */
import { boxSize, headHeight } from "./box-size";
import type { Layout, Point } from "./layout";
import type { Measure } from "./measure";
import { childBoxes, finishParallels, isHeaderPseudo } from "./parallel-layout";
import { completeRoutes } from "./route";
import type { Scene, SceneBox } from "./scene";

/** Rows of about a square, inside out. */
export function gridLayout(scene: Scene, measure: Measure, direction: Layout["direction"]): Layout {
  const layout: Layout = { direction, states: {}, routes: {} };
  const sizes = new Map<string, { w: number; h: number }>();
  const offsets = new Map<string, Point>();
  const gap = 60;
  const arrange = (
    children: SceneBox[],
    columns: number,
    left: number,
    top: number,
    space: number,
  ): { w: number; h: number } => {
    let x = left;
    let y = top;
    let rowH = 0;
    let w = 0;
    children.forEach((child, index) => {
      const own = sizes.get(child.id) ?? { w: 0, h: 0 };
      if (index > 0 && index % columns === 0) {
        x = left;
        y += rowH + space;
        rowH = 0;
      }
      offsets.set(child.id, { x, y });
      x += own.w + space;
      rowH = Math.max(rowH, own.h);
      w = Math.max(w, x - space);
    });
    return { w, h: y + rowH };
  };
  for (const box of [...scene.boxes].reverse()) {
    const own = boxSize(box, measure);
    const children = childBoxes(scene, box).filter((child) => !isHeaderPseudo(scene, child.id));
    const pad = box.parallel ? 0 : 24;
    const space = box.parallel ? 0 : gap;
    const columns = box.parallel ? 1 : Math.ceil(Math.sqrt(children.length));
    const inside =
      children.length > 0 ? arrange(children, columns, pad, headHeight(box) + pad, space) : { w: 0, h: 0 };
    sizes.set(box.id, { w: Math.max(own.w, inside.w + pad), h: Math.max(own.h, inside.h + pad) });
  }
  const top = scene.boxes.filter((box) => box.parent === null);
  arrange(top, Math.ceil(Math.sqrt(top.length)), 24, 24, gap);
  for (const box of scene.boxes) {
    const offset = offsets.get(box.id);
    const own = sizes.get(box.id);
    const parent = box.parent === null ? { x: 0, y: 0 } : layout.states[box.parent];
    if (offset && own && parent)
      layout.states[box.id] = { x: parent.x + offset.x, y: parent.y + offset.y, ...own };
  }
  finishParallels(scene, layout, measure);
  return completeRoutes(scene, layout, measure);
}
