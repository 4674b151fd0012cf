/**
 * The cheapest orthogonal path between two sets of ports past obstacles: A* on the grid of lines that obstacles and
 * ports span (a sparse one: only where something begins, ends or connects).
 *
 * Holds: the path starts and ends with a straight stub at its ports; running through an obstacle costs so much that it
 * happens only where there is no other way; the search visits at most `visitsMax` places, then gives up (null).
 */
import { bottom, containsPoint, grow, overlaps, right, simplify } from "./geometry";
import type { Box, Point } from "./layout";

export type Side = "left" | "right" | "top" | "bottom";
export interface Port extends Point {
  side: Side;
  /** Direction in which an edge leaves the port. */
  dx: -1 | 0 | 1;
  dy: -1 | 0 | 1;
  cost: number;
}
export interface Terrain {
  /** Not to be crossed. */
  obstacles: Box[];
  /** Segments of other edges: don't run along them, avoid crossing them. */
  lanes: { a: Point; b: Point }[];
  /** Leaving this box costs; null: no bound. */
  within: Box | null;
  /** Room kept beside obstacles; more where a pill must fit between. */
  marginX?: number;
  marginY?: number;
}
export interface FoundPath {
  points: Point[];
  cost: number;
  from: Port;
  to: Port;
}

/** Room before the first bend, so that the arrow's head shows. */
export const stub = 16;
const usualMargin = 14;
const bendCost = 26;
const crossCost = 14;
const laneCost = 4;
const blockedCost = 600;
const outsideCost = 3;
const laneGap = 13;
const visitsMax = 60_000;

export function searchPath(from: Port[], to: Port[], terrain: Terrain): FoundPath | null {
  const starts = from.map((port) => ({
    port,
    at: { x: port.x + port.dx * stub, y: port.y + port.dy * stub },
  }));
  const goals = to.map((port) => ({ port, at: { x: port.x + port.dx * stub, y: port.y + port.dy * stub } }));
  const { marginX = usualMargin, marginY = usualMargin } = terrain;
  const xs = lines([
    ...terrain.obstacles.flatMap((box) => [box.x - marginX, right(box) + marginX]),
    ...[...starts, ...goals].flatMap(({ at, port }) => [
      at.x,
      ...(port.dx === 0 ? [] : [at.x + port.dx * 24]),
    ]),
  ]);
  const ys = lines([
    ...terrain.obstacles.flatMap((box) => [box.y - marginY, bottom(box) + marginY]),
    ...[...starts, ...goals].flatMap(({ at, port }) => [
      at.y,
      ...(port.dy === 0 ? [] : [at.y + port.dy * 24]),
    ]),
  ]);
  const columns = xs.length;
  const indexOf = (at: Point): number => lineIndex(ys, at.y) * columns + lineIndex(xs, at.x);
  const pointAt = (index: number): Point => ({
    x: xs[index % columns] ?? 0,
    y: ys[Math.floor(index / columns)] ?? 0,
  });

  const goalsAt = new Map<number, typeof goals>();
  for (const goal of goals) {
    const index = indexOf(goal.at);
    goalsAt.set(index, [...(goalsAt.get(index) ?? []), goal]);
  }
  const estimate = (index: number): number => {
    const point = pointAt(index);
    return Math.min(...goals.map(({ at }) => Math.abs(at.x - point.x) + Math.abs(at.y - point.y)));
  };

  const stepCosts = new Map<number, number>();
  const places = columns * ys.length;
  const stepCost = (a: number, b: number): number => {
    const key = Math.min(a, b) * places + Math.max(a, b);
    const known = stepCosts.get(key);
    if (known !== undefined) return known;
    const cost = segmentCost(pointAt(a), pointAt(b), terrain);
    stepCosts.set(key, cost);
    return cost;
  };

  // A place is a grid point and the direction it was reached in (0 → 1 ↓ 2 ← 3 ↑).
  const best = new Map<number, number>();
  const cameFrom = new Map<number, { place: number } | { start: (typeof starts)[number] }>();
  const queue = new Queue();
  for (const start of starts) {
    const place = indexOf(start.at) * 4 + directionOf(start.port.dx, start.port.dy);
    const cost = start.port.cost + segmentCost(start.port, start.at, terrain);
    if (cost >= (best.get(place) ?? Infinity)) continue;
    best.set(place, cost);
    cameFrom.set(place, { start });
    queue.push(place, cost + estimate(indexOf(start.at)), cost);
  }
  let found: { place: number; goal: (typeof goals)[number]; cost: number } | null = null;
  for (let visits = 0; visits < visitsMax; visits++) {
    const next = queue.pop();
    if (!next || (found && next.key >= found.cost)) break;
    const { place, cost } = next;
    if (cost > (best.get(place) ?? Infinity)) continue;
    const index = Math.floor(place / 4);
    const direction = place % 4;
    for (const goal of goalsAt.get(index) ?? []) {
      const into = directionOf(-goal.port.dx, -goal.port.dy);
      if ((into + 2) % 4 === direction) continue;
      const total =
        cost +
        goal.port.cost +
        (into === direction ? 0 : bendCost) +
        segmentCost(goal.at, goal.port, terrain);
      if (!found || total < found.cost) found = { place, goal, cost: total };
    }
    const column = index % columns;
    const row = Math.floor(index / columns);
    for (let turn = 0; turn < 4; turn++) {
      if ((turn + 2) % 4 === direction) continue;
      const nextColumn = column + (turn === 0 ? 1 : turn === 2 ? -1 : 0);
      const nextRow = row + (turn === 1 ? 1 : turn === 3 ? -1 : 0);
      if (nextColumn < 0 || nextRow < 0 || nextColumn >= columns || nextRow >= ys.length) continue;
      const neighbour = nextRow * columns + nextColumn;
      const nextCost = cost + stepCost(index, neighbour) + (turn === direction ? 0 : bendCost);
      const nextPlace = neighbour * 4 + turn;
      if (nextCost >= (best.get(nextPlace) ?? Infinity)) continue;
      best.set(nextPlace, nextCost);
      cameFrom.set(nextPlace, { place });
      queue.push(nextPlace, nextCost + estimate(neighbour), nextCost);
    }
  }
  if (!found) return null;
  const points: Point[] = [{ x: found.goal.port.x, y: found.goal.port.y }];
  for (let place = found.place; ;) {
    points.push(pointAt(Math.floor(place / 4)));
    const before = cameFrom.get(place);
    if (!before) return null;
    if ("start" in before) {
      points.push({ x: before.start.port.x, y: before.start.port.y });
      return {
        points: simplify(points.reverse()),
        cost: found.cost,
        from: before.start.port,
        to: found.goal.port,
      };
    }
    place = before.place;
  }
}

const directionOf = (dx: number, dy: number): number => (dx > 0 ? 0 : dy > 0 ? 1 : dx < 0 ? 2 : 3);

/** Length plus what the segment runs through, along or across. */
export function segmentCost(a: Point, b: Point, { obstacles, lanes, within }: Terrain): number {
  const length = Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
  if (length === 0) return 0;
  const box: Box = {
    x: Math.min(a.x, b.x),
    y: Math.min(a.y, b.y),
    w: Math.abs(a.x - b.x),
    h: Math.abs(a.y - b.y),
  };
  let cost = length;
  for (const obstacle of obstacles) if (overlaps(grow(box, 0.5), obstacle, 3)) cost += blockedCost;
  if (within && !(containsPoint(within, a) && containsPoint(within, b))) cost += length * outsideCost;
  const horizontal = a.y === b.y;
  for (const lane of lanes) {
    const laneHorizontal = Math.abs(lane.a.y - lane.b.y) < 0.01;
    if (laneHorizontal === horizontal) {
      const apart = horizontal ? Math.abs(lane.a.y - a.y) : Math.abs(lane.a.x - a.x);
      if (apart >= laneGap) continue;
      const along = horizontal
        ? shared(box.x, right(box), Math.min(lane.a.x, lane.b.x), Math.max(lane.a.x, lane.b.x))
        : shared(box.y, bottom(box), Math.min(lane.a.y, lane.b.y), Math.max(lane.a.y, lane.b.y));
      if (along > 1) cost += along * laneCost * (1 - apart / laneGap) + 20;
    } else if (crosses(box, lane)) cost += crossCost;
  }
  return cost;
}

const shared = (a0: number, a1: number, b0: number, b1: number): number =>
  Math.min(a1, b1) - Math.max(a0, b0);
const crosses = (box: Box, { a, b }: { a: Point; b: Point }): boolean =>
  overlaps(grow(box, 0.5), {
    x: Math.min(a.x, b.x),
    y: Math.min(a.y, b.y),
    w: Math.abs(a.x - b.x),
    h: Math.abs(a.y - b.y),
  });

/** Sorted, equal ones once. */
const lines = (values: number[]): number[] => [...new Set(values)].sort((a, b) => a - b);
function lineIndex(values: number[], value: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((values[mid] ?? 0) < value) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** A binary heap by `key`. */
class Queue {
  private readonly items: { place: number; key: number; cost: number }[] = [];

  push(place: number, key: number, cost: number): void {
    const { items } = this;
    let at = items.push({ place, key, cost }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.keyAt(parent) <= key) break;
      this.swap(at, parent);
      at = parent;
    }
  }

  pop(): { place: number; key: number; cost: number } | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (!top || !last || items.length === 0) return top;
    items[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const least = this.keyAt(left + 1) < this.keyAt(left) ? left + 1 : left;
      if (this.keyAt(least) >= last.key) return top;
      this.swap(at, least);
      at = least;
    }
  }

  private keyAt(at: number): number {
    return this.items[at]?.key ?? Infinity;
  }

  private swap(a: number, b: number): void {
    const one = this.items[a];
    const other = this.items[b];
    if (!one || !other) return;
    this.items[a] = other;
    this.items[b] = one;
  }
}
