/**
 * The smallest size of each box and pill: from its texts, by a Measure.
 */
import { size, type Measure } from "./measure";
import type { ArrowLabel, SceneBox } from "./scene";

export interface Size {
  w: number;
  h: number;
}

/** Height of the strip with name and compartments above a box's children. */
export function headHeight(box: SceneBox): number {
  if (box.kind === "region")
    return size.regionH + (box.rows.length > 0 ? box.rows.length * size.rowH + 4 : 0);
  return size.headH + (box.rows.length > 0 ? box.rows.length * size.rowH + size.headRowsPad : 0);
}

/** The box without its children: a leaf's whole size, a container's smallest. */
export function boxSize(box: SceneBox, measure: Measure): Size {
  if (box.kind === "initial") return { w: size.dot, h: size.dot };
  if (box.kind === "history" || box.kind === "deep-history") return { w: size.history, h: size.history };
  const rowsW = box.rows.map((row) => measure(`${row.label} / ${row.text}`, "mono") + 2 * size.leafX + 4);
  if (isContainer(box)) {
    const titleW =
      box.kind === "region"
        ? measure(box.title.toUpperCase(), "caps") + 40 + box.inHeader * (size.history + 6)
        : measure(box.title, "title") + 100 + box.inHeader * (size.history + 6);
    return { w: Math.ceil(Math.max(titleW, ...rowsW)), h: headHeight(box) };
  }
  // Room for the active mark's dot in front of the name, and for "+3 states" behind it.
  const titleW = measure(box.title, "title") + 2 * size.leafX + 16 + (box.hidden > 0 ? 76 : 0);
  const w = Math.ceil(Math.max(size.leafMinW, titleW, ...rowsW));
  if (box.kind === "region") return { w: w + 40, h: headHeight(box) + 20 };
  const rowsH = box.rows.length * size.rowH;
  const h = size.leafTop + size.titleH + rowsH + size.leafBottom;
  return box.kind === "final" ? { w: w + 4, h: h + 2 } : { w, h };
}

export const isContainer = (box: SceneBox): boolean => box.children.length > 0;

export function pillSize(label: ArrowLabel, measure: Measure): Size {
  const head =
    (label.branch === null ? 0 : size.branchW) +
    measure(label.when, "pill") +
    (label.guard === null ? 0 : measure(` ${label.guard}`, "pill"));
  const actions = label.actions === null ? 0 : measure(label.actions, "mono");
  const inner = label.twoLines ? Math.max(head, actions) : head + (actions > 0 ? actions + 6 : 0);
  const lines = label.twoLines ? 2 : 1;
  return { w: Math.ceil(inner + 2 * size.pillX + 2), h: lines * size.pillLineH + 2 * size.pillY + 2 };
}
