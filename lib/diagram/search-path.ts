/**
 * The cheapest orthogonal path between two sets of ports past obstacles: A* on the grid of lines that obstacles and
 * ports span (a sparse one: only where something begins, ends or connects).
 *
 * Holds: the path starts and ends with a straight stub at its ports; running through an obstacle costs so much that it
 * happens only where there is no other way; the search visits at most `visitsMax` places, then gives up (null).
 */
import { bottom, containsPoint, right, simplify, union } from "./geometry";
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
  lanes: Lane[];
  /** Leaving this box costs; null: no bound. */
  within: Box | null;
  /** Counts down what has been compared: the same on every machine, unlike time. */
  budget: Budget;
  /** Room kept beside obstacles; more where a pill must fit between. */
  marginX?: number;
  marginY?: number;
}
export interface Budget {
  left: number;
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
const visitsMax = 25_000;

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
  const rows = ys.length;
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
  const goalArea = union(goals.map(({ at }) => ({ ...at, w: 0, h: 0 }))) ?? { x: 0, y: 0, w: 0, h: 0 };
  const estimate = (index: number): number => {
    const x = xs[index % columns] ?? 0;
    const y = ys[Math.floor(index / columns)] ?? 0;
    return (
      Math.max(0, goalArea.x - x, x - right(goalArea)) + Math.max(0, goalArea.y - y, y - bottom(goalArea))
    );
  };

  // Costs of the steps right and down from each grid point, as they are asked for.
  const stepCosts = new Float64Array(columns * rows * 2).fill(-1);
  const stepCost = (a: number, b: number): number => {
    const first = Math.min(a, b);
    const key = first * 2 + (Math.abs(a - b) === 1 ? 0 : 1);
    const known = stepCosts[key] ?? -1;
    if (known >= 0) return known;
    const cost = segmentCost(pointAt(a), pointAt(b), terrain);
    stepCosts[key] = cost;
    return cost;
  };

  // A place is a grid point and the direction it was reached in (0 → 1 ↓ 2 ← 3 ↑).
  const best = new Float64Array(columns * rows * 4).fill(Infinity);
  const cameFrom = new Int32Array(columns * rows * 4).fill(-1);
  const startOf = new Map<number, (typeof starts)[number]>();
  const queue = new Queue();
  for (const start of starts) {
    const place = indexOf(start.at) * 4 + directionOf(start.port.dx, start.port.dy);
    const cost = start.port.cost + segmentCost(start.port, start.at, terrain);
    if (cost >= (best[place] ?? Infinity)) continue;
    best[place] = cost;
    startOf.set(place, start);
    queue.push(place, cost + estimate(indexOf(start.at)), cost);
  }
  let found: { place: number; goal: (typeof goals)[number]; cost: number } | null = null;
  for (let visits = 0; visits < visitsMax; visits++) {
    const next = queue.pop();
    if (!next || (found && next.key >= found.cost)) break;
    const { place, cost } = next;
    if (cost > (best[place] ?? Infinity)) continue;
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
      if (nextColumn < 0 || nextRow < 0 || nextColumn >= columns || nextRow >= rows) continue;
      const neighbour = nextRow * columns + nextColumn;
      const nextCost = cost + stepCost(index, neighbour) + (turn === direction ? 0 : bendCost);
      const nextPlace = neighbour * 4 + turn;
      if (nextCost >= (best[nextPlace] ?? Infinity)) continue;
      best[nextPlace] = nextCost;
      cameFrom[nextPlace] = place;
      startOf.delete(nextPlace);
      queue.push(nextPlace, nextCost + estimate(neighbour), nextCost);
    }
  }
  if (!found) return null;
  const points: Point[] = [{ x: found.goal.port.x, y: found.goal.port.y }];
  for (let place = found.place; place >= 0; place = cameFrom[place] ?? -1) {
    points.push(pointAt(Math.floor(place / 4)));
    const start = startOf.get(place);
    if (!start) continue;
    points.push({ x: start.port.x, y: start.port.y });
    return { points: simplify(points.reverse()), cost: found.cost, from: start.port, to: found.goal.port };
  }
  return null;
}

const directionOf = (dx: number, dy: number): number => (dx > 0 ? 0 : dy > 0 ? 1 : dx < 0 ? 2 : 3);

/** Length plus what the segment runs through, along or across. */
export function segmentCost(a: Point, b: Point, { obstacles, lanes, within, budget }: Terrain): number {
  budget.left -= obstacles.length + lanes.length;
  const length = Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
  if (length === 0) return 0;
  const left = Math.min(a.x, b.x);
  const top = Math.min(a.y, b.y);
  const rightEnd = Math.max(a.x, b.x);
  const bottomEnd = Math.max(a.y, b.y);
  let cost = length;
  for (const obstacle of obstacles) {
    if (
      left - clear < obstacle.x + obstacle.w &&
      obstacle.x < rightEnd + clear &&
      top - clear < obstacle.y + obstacle.h &&
      obstacle.y < bottomEnd + clear
    ) {
      cost += blockedCost;
    }
  }
  if (within && !(containsPoint(within, a) && containsPoint(within, b))) cost += length * outsideCost;
  const horizontal = a.y === b.y;
  for (const lane of lanes) {
    if (lane.right < left - laneGap || lane.x > rightEnd + laneGap) continue;
    if (lane.bottom < top - laneGap || lane.y > bottomEnd + laneGap) continue;
    if (lane.horizontal === horizontal) {
      const apart = horizontal ? Math.abs(lane.y - a.y) : Math.abs(lane.x - a.x);
      if (apart >= laneGap) continue;
      const along = horizontal
        ? Math.min(rightEnd, lane.right) - Math.max(left, lane.x)
        : Math.min(bottomEnd, lane.bottom) - Math.max(top, lane.y);
      if (along > 1) cost += along * laneCost * (1 - apart / laneGap) + 20;
    } else if (lane.x <= rightEnd && left <= lane.right && lane.y <= bottomEnd && top <= lane.bottom)
      cost += crossCost;
  }
  return cost;
}

/** Air that a line keeps from what it passes. */
const clear = 3.5;

/** A straight piece of another edge. */
interface Lane {
  x: number;
  y: number;
  right: number;
  bottom: number;
  horizontal: boolean;
}

export const laneBox = (lane: Lane): Box => ({
  x: lane.x,
  y: lane.y,
  w: lane.right - lane.x,
  h: lane.bottom - lane.y,
});

export const laneOf = (a: Point, b: Point): Lane => ({
  x: Math.min(a.x, b.x),
  y: Math.min(a.y, b.y),
  right: Math.max(a.x, b.x),
  bottom: Math.max(a.y, b.y),
  horizontal: Math.abs(a.y - b.y) < 0.01,
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
