/**
 * The inside of parallel states: regions that tile, history circles in the header.
 */
import { boxSize, headHeight } from "./box-size";
import { bottom, right } from "./geometry";
import type { Box, Layout } from "./layout";
import { size, type Measure } from "./measure";
import type { Scene, SceneBox } from "./scene";

/**
 * Regions tile their parallel edge to edge (ELK leaves them ragged); its history circles go into the header. Writes into
 * `layout.states`, never into the boxes it holds.
 */
export function finishParallels(scene: Scene, layout: Layout, measure: Measure): void {
  for (const box of scene.boxes) {
    const own = layout.states[box.id];
    if (!box.parallel || !own) continue;
    const children = childBoxes(scene, box);
    const nameH = box.kind === "region" ? size.regionH : size.headH;
    let x = right(own) - (box.kind === "region" ? 8 : kindW);
    for (const child of children.filter((item) => item.kind !== "region")) {
      const { w, h } = boxSize(child, measure);
      x -= w + 6;
      layout.states[child.id] = { x, y: own.y + (nameH - h) / 2, w, h };
    }
    const regions = children.flatMap((item) => {
      const region = item.kind === "region" ? layout.states[item.id] : undefined;
      return region ? [{ id: item.id, box: { ...region } }] : [];
    });
    tile(
      own,
      headHeight(box),
      regions.map((region) => region.box),
    );
    for (const region of regions) layout.states[region.id] = region.box;
  }
}

/** The word "parallel" at the right end of the header. */
const kindW = 72;

/** Stretches `regions` (changed in place) so that they fill `own` below its header, side by side or stacked. */
function tile(own: Box, head: number, regions: Box[]): void {
  if (regions.length === 0) return;
  const overlap = (a0: number, a1: number, b0: number, b1: number) => Math.min(a1, b1) - Math.max(a0, b0);
  const sideBySide =
    regions.length > 1 &&
    regions.every((a, i) => regions.every((b, j) => i === j || overlap(a.x, right(a), b.x, right(b)) <= 1));
  regions.sort((a, b) => (sideBySide ? a.x - b.x : a.y - b.y));
  const top = own.y + head;
  regions.forEach((region, i) => {
    const next = regions[i + 1];
    if (sideBySide) {
      const from = i === 0 ? own.x : region.x;
      const to = next ? next.x : right(own);
      Object.assign(region, { x: from, y: top, w: to - from, h: bottom(own) - top });
    } else {
      const from = i === 0 ? top : region.y;
      const to = next ? next.y : bottom(own);
      Object.assign(region, { x: own.x, y: from, w: own.w, h: to - from });
    }
  });
}

export const childBoxes = (scene: Scene, box: SceneBox): SceneBox[] =>
  box.children.flatMap((id) => scene.box.get(id) ?? []);

/** A history child of a parallel state has no region to lie in: it is drawn in the header. */
export function isHeaderPseudo(scene: Scene, id: string): boolean {
  const box = scene.box.get(id);
  const parent = box && box.parent !== null ? scene.box.get(box.parent) : undefined;
  return parent?.parallel === true && box?.kind !== "region";
}
