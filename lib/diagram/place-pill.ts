/**
 * Where on its edge a label lies: clear of boxes and other pills, near the middle, with line showing at both ends.
 */
import type { Size } from "./box-size";
import { grow, overlaps } from "./geometry";
import type { Box, Point } from "./layout";

export interface PlacedPill {
  box: Box;
  /** 0 is a perfect place; from 1000 it lies on something. */
  cost: number;
}

const step = 10;

/** `solid`: leaves and pills, never to be covered; `thin`: headers and borders, better not; `lines`: of other arrows. */
export function placePill(
  points: readonly Point[],
  pill: Size,
  solid: readonly Box[],
  thin: readonly Box[],
  lines: readonly Box[] = [],
): PlacedPill {
  const total = points.slice(1).reduce((sum, b, i) => sum + distance(points[i] ?? b, b), 0);
  let best: PlacedPill | null = null;
  let walked = 0;
  points.slice(1).forEach((b, i) => {
    const a = points[i] ?? b;
    const length = distance(a, b);
    const horizontal = Math.abs(a.y - b.y) < 0.01;
    const span = horizontal ? pill.w : pill.h;
    const count = Math.max(1, Math.floor(length / step));
    for (let n = 0; n <= count; n++) {
      const t = count === 1 ? 0.5 : n / count;
      const x = a.x + (b.x - a.x) * t;
      const y = a.y + (b.y - a.y) * t;
      const box: Box = { x: x - pill.w / 2, y: y - pill.h / 2, w: pill.w, h: pill.h };
      // Line must show on both sides of the pill within its own segment: 12 px behind, 16 before the head.
      const before = length * t - span / 2;
      const after = length * (1 - t) - span / 2;
      let cost = (Math.abs(walked + length * t - total / 2) / Math.max(total, 1)) * 40;
      cost += Math.max(0, 12 - before) * 2 + Math.max(0, 18 - after) * 2.5;
      for (const item of solid) if (overlaps(box, item, 2)) cost += 1000;
      for (const item of thin) if (overlaps(grow(box, 1), item)) cost += 120;
      for (const item of lines) if (overlaps(box, item)) cost += 70;
      if (!best || cost < best.cost) best = { box, cost };
    }
    walked += length;
  });
  if (best) return best;
  const at = points[0] ?? { x: 0, y: 0 };
  return { box: { x: at.x - pill.w / 2, y: at.y - pill.h / 2, ...pill }, cost: 1000 };
}

const distance = (a: Point, b: Point): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
