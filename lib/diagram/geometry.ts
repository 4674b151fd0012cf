/**
 * Rectangles and polylines, as far as layout and routing need them.
 */
import type { Box, Point } from "./layout";

export const right = (box: Box): number => box.x + box.w;
export const bottom = (box: Box): number => box.y + box.h;
export const centre = (box: Box): Point => ({ x: box.x + box.w / 2, y: box.y + box.h / 2 });

/** Do they share area, `gap` px of air included? Touching borders don't count. */
export const overlaps = (a: Box, b: Box, gap = 0): boolean =>
  a.x < right(b) + gap && b.x < right(a) + gap && a.y < bottom(b) + gap && b.y < bottom(a) + gap;

export const contains = (outer: Box, inner: Box, slack = 0.5): boolean =>
  inner.x >= outer.x - slack &&
  inner.y >= outer.y - slack &&
  right(inner) <= right(outer) + slack &&
  bottom(inner) <= bottom(outer) + slack;

export const containsPoint = (box: Box, { x, y }: Point): boolean =>
  x >= box.x && y >= box.y && x <= right(box) && y <= bottom(box);

export const grow = (box: Box, by: number): Box => ({
  x: box.x - by,
  y: box.y - by,
  w: box.w + 2 * by,
  h: box.h + 2 * by,
});

/** The four sides as thin boxes. */
export const borders = (box: Box): Box[] => [
  { x: box.x, y: box.y, w: box.w, h: 1 },
  { x: box.x, y: bottom(box), w: box.w, h: 1 },
  { x: box.x, y: box.y, w: 1, h: box.h },
  { x: right(box), y: box.y, w: 1, h: box.h },
];

export const shift = <T extends Point>(item: T, dx: number, dy: number): T => ({
  ...item,
  x: item.x + dx,
  y: item.y + dy,
});

export function union(boxes: readonly Box[]): Box | null {
  const [first, ...rest] = boxes;
  if (!first) return null;
  let { x, y } = first;
  let r = right(first);
  let b = bottom(first);
  for (const box of rest) {
    x = Math.min(x, box.x);
    y = Math.min(y, box.y);
    r = Math.max(r, right(box));
    b = Math.max(b, bottom(box));
  }
  return { x, y, w: r - x, h: b - y };
}

/** Drops points in the middle of straight runs and doubles. */
export function simplify(points: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const point of points) {
    const last = kept[kept.length - 1];
    if (last && Math.abs(last.x - point.x) < 0.01 && Math.abs(last.y - point.y) < 0.01) continue;
    const before = kept[kept.length - 2];
    if (
      last &&
      before &&
      ((Math.abs(before.x - last.x) < 0.01 && Math.abs(last.x - point.x) < 0.01) ||
        (Math.abs(before.y - last.y) < 0.01 && Math.abs(last.y - point.y) < 0.01))
    ) {
      kept.pop();
    }
    kept.push(point);
  }
  return kept;
}

/** SVG path of a polyline with rounded corners. */
export function roundedPath(points: readonly Point[], radius = 8): string {
  const [first, ...rest] = points;
  if (!first || rest.length === 0) return "";
  let path = `M${first.x},${first.y}`;
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1];
    const b = points[i];
    const c = points[i + 1];
    if (!a || !b) continue;
    if (!c) {
      path += `L${b.x},${b.y}`;
      continue;
    }
    const before = Math.hypot(b.x - a.x, b.y - a.y);
    const after = Math.hypot(c.x - b.x, c.y - b.y);
    const q = Math.min(radius, before / 2, after / 2);
    if (q < 0.5) {
      path += `L${b.x},${b.y}`;
      continue;
    }
    const from = { x: b.x - ((b.x - a.x) / before) * q, y: b.y - ((b.y - a.y) / before) * q };
    const to = { x: b.x + ((c.x - b.x) / after) * q, y: b.y + ((c.y - b.y) / after) * q };
    path += `L${from.x},${from.y}Q${b.x},${b.y} ${to.x},${to.y}`;
  }
  return path;
}

/** The point half way along a polyline. */
export function midpoint(points: readonly Point[]): Point {
  const lengths = points.slice(1).map((b, i) => {
    const a = points[i] ?? b;
    return Math.hypot(b.x - a.x, b.y - a.y);
  });
  let left = lengths.reduce((sum, length) => sum + length, 0) / 2;
  for (let i = 0; i < lengths.length; i++) {
    const a = points[i];
    const b = points[i + 1];
    const length = lengths[i] ?? 0;
    if (a && b && left <= length && length > 0) {
      return { x: a.x + ((b.x - a.x) * left) / length, y: a.y + ((b.y - a.y) * left) / length };
    }
    left -= length;
  }
  return points[0] ?? { x: 0, y: 0 };
}
