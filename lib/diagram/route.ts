/**
 * Routes chosen arrows of a laid-out scene around everything else; the rest of the drawing stays as it is.
 *
 * Used after a drag (only the moved state's own edges), for new transitions, and for what ELK leaves open.
 *
 * Holds: arrows not asked for keep their routes; a routed arrow starts and ends on the borders of its boxes and its pill
 * lies on its line; past `budgetMax` comparisons, the arrows left, the longest, are drawn plain, whatever lies there.
 */
import { headHeight, isContainer, pillSize, type Size } from "./box-size";
import { borders, bottom, centre, contains, grow, overlaps, right, simplify, union } from "./geometry";
import type { Box, Layout, Point } from "./layout";
import type { Measure } from "./measure";
import { placePill } from "./place-pill";
import type { Scene, SceneArrow } from "./scene";
import {
  laneBox,
  laneOf,
  searchPath,
  segmentCost,
  stub,
  type Budget,
  type Port,
  type Side,
  type Terrain,
} from "./search-path";

type Route = Layout["routes"][string];

/** A second or two of work; arrows across a grid take 50 million for 60, 1.2 billion for 180 in a dense one. */
const budgetMax = 200_000_000;

export function routeArrows(
  scene: Scene,
  layout: Layout,
  ids: ReadonlySet<string>,
  measure: Measure,
): Layout {
  const routes: Layout["routes"] = {};
  for (const arrow of scene.arrows) {
    const known = layout.routes[arrow.id];
    if (known && !ids.has(arrow.id)) routes[arrow.id] = known;
  }
  // Short ones first: they have the least choice.
  const open = scene.arrows
    .filter((arrow) => ids.has(arrow.id) || routes[arrow.id] === undefined)
    .map((arrow) => ({ arrow, length: reach(layout, arrow) }))
    .sort((a, b) => a.length - b.length);
  const budget: Budget = { left: budgetMax };
  for (const { arrow } of open) {
    const route = routeArrow(scene, { ...layout, routes }, arrow, measure, budget);
    if (route) routes[arrow.id] = route;
  }
  return { ...layout, routes };
}

/** Routes what ELK did not: arrows left out, and those that end on a stretched region. */
export function completeRoutes(scene: Scene, layout: Layout, measure: Measure): Layout {
  const isRegion = (id: string) => scene.box.get(id)?.kind === "region";
  const open = scene.arrows.filter(
    (arrow) => layout.routes[arrow.id] === undefined || isRegion(arrow.source) || isRegion(arrow.target),
  );
  return routeArrows(scene, layout, new Set(open.map((arrow) => arrow.id)), measure);
}

function reach(layout: Layout, arrow: SceneArrow): number {
  const from = layout.states[arrow.source];
  const to = layout.states[arrow.target];
  if (!from || !to) return Infinity;
  const a = centre(from);
  const b = centre(to);
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
}

function routeArrow(
  scene: Scene,
  layout: Layout,
  arrow: SceneArrow,
  measure: Measure,
  budget: Budget,
): Route | null {
  const from = layout.states[arrow.source];
  const to = layout.states[arrow.target];
  if (!from || !to) return null;
  const pill = arrow.label ? pillSize(arrow.label, measure) : null;
  const spent = budget.left <= 0;
  const ground = spent ? openGround(budget) : surroundings(scene, layout, arrow, from, to, budget);
  if (arrow.source === arrow.target) return selfLoop(from, pill, ground);
  if (spent) return plainRoute(from, to, pill, ground);
  const ends = endsIn(layout, arrow);
  const ports = (box: Box, other: Box, id: string, inward: boolean) =>
    portsOf(
      box,
      other,
      inward,
      ends.get(id) ?? [],
      scene.box.get(id)?.children.length ? headHeightOf(scene, id) : 0,
    );
  const sources = ports(from, to, arrow.source, contains(from, to));
  const targets = ports(to, from, arrow.target, contains(to, from));
  const first = bestOf(sources, targets, pill, ground);
  if (!first) return plainRoute(from, to, pill, ground);
  if (!pill || first.pillCost < 60) return first.route;
  // The pill has no good place on the shortest path: keep further from the boxes, or take other sides, and choose the
  // best of path and pill together.
  let best = first;
  const consider = (other: Candidate | null): void => {
    if (other && other.cost + other.pillCost < best.cost + best.pillCost) best = other;
  };
  const roomy = (margins: { marginX?: number; marginY?: number }): Ground => ({
    ...ground,
    terrain: { ...ground.terrain, ...margins },
  });
  const high = roomy({ marginY: pill.h / 2 + 8 });
  const wide = roomy({ marginX: pill.w / 2 + 10 });
  consider(bestOf(sources, targets, pill, high));
  consider(bestOf(sources, targets, pill, wide));
  if (best.pillCost < 60) return best.route;
  for (const side of sides) {
    consider(bestOf(onSide(sources, side), targets, pill, high));
    consider(bestOf(sources, onSide(targets, side), pill, high));
  }
  return best.route;
}

/** Drawn when the search gives up (too crowded, no port fits, too many arrows): past nothing, but there. */
function plainRoute(from: Box, to: Box, pill: Size | null, ground: Ground): Route {
  const points = simplify(plainPoints(from, to));
  return pill
    ? { points, label: placePill(points, pill, ground.solid, ground.thin, ground.lines).box }
    : { points };
}

function plainPoints(from: Box, to: Box): Point[] {
  const a = centre(from);
  const b = centre(to);
  if (contains(from, to))
    return [
      { x: from.x, y: b.y },
      { x: to.x, y: b.y },
    ];
  if (contains(to, from))
    return [
      { x: from.x, y: a.y },
      { x: to.x, y: a.y },
    ];
  const upright = Math.abs(b.y - a.y) * (from.w + to.w) > Math.abs(b.x - a.x) * (from.h + to.h);
  if (upright) {
    const down = b.y >= a.y;
    const start = down ? bottom(from) : from.y;
    const end = down ? to.y : bottom(to);
    const middle = (start + end) / 2;
    return [
      { x: a.x, y: start },
      { x: a.x, y: middle },
      { x: b.x, y: middle },
      { x: b.x, y: end },
    ];
  }
  const rightwards = b.x >= a.x;
  const start = rightwards ? right(from) : from.x;
  const end = rightwards ? to.x : right(to);
  const middle = (start + end) / 2;
  return [
    { x: start, y: a.y },
    { x: middle, y: a.y },
    { x: middle, y: b.y },
    { x: end, y: b.y },
  ];
}

const sides: Side[] = ["right", "bottom", "left", "top"];
const onSide = (ports: Port[], side: Side): Port[] => ports.filter((port) => port.side === side);

interface Ground {
  terrain: Terrain;
  solid: Box[];
  thin: Box[];
  lines: Box[];
}

interface Candidate {
  route: Route;
  cost: number;
  pillCost: number;
}

function bestOf(sources: Port[], targets: Port[], pill: Size | null, ground: Ground): Candidate | null {
  const paths = [straight(sources, targets, ground.terrain), search(sources, targets, ground.terrain)];
  let best: Candidate | null = null;
  for (const path of paths) {
    if (!path) continue;
    const placed = pill && placePill(path.points, pill, ground.solid, ground.thin, ground.lines);
    const candidate: Candidate = {
      route: placed ? { points: path.points, label: placed.box } : { points: path.points },
      cost: path.cost,
      pillCost: placed?.cost ?? 0,
    };
    if (!best || candidate.cost + candidate.pillCost < best.cost + best.pillCost) best = candidate;
  }
  return best;
}

const search = (sources: Port[], targets: Port[], terrain: Terrain) =>
  sources.length > 0 && targets.length > 0 ? searchPath(sources, targets, terrain) : null;

/** One line between facing sides, however near they are. */
function straight(
  sources: Port[],
  targets: Port[],
  terrain: Terrain,
): { points: Point[]; cost: number } | null {
  let best: { points: Point[]; cost: number } | null = null;
  for (const a of sources) {
    for (const b of targets) {
      const facing =
        a.dx !== 0
          ? b.dx === -a.dx && a.y === b.y && (b.x - a.x) * a.dx > 0
          : b.dy === -a.dy && a.x === b.x && (b.y - a.y) * a.dy > 0;
      if (!facing) continue;
      const points = [
        { x: a.x, y: a.y },
        { x: b.x, y: b.y },
      ];
      const short = Math.max(0, 2 * stub - Math.abs(a.x - b.x) - Math.abs(a.y - b.y));
      const cost = a.cost + b.cost + short + segmentCost(a, b, terrain);
      if (!best || cost < best.cost) best = { points, cost };
    }
  }
  return best;
}

/** Where other arrows already touch each box. */
function endsIn(layout: Layout, arrow: SceneArrow): Map<string, Point[]> {
  const boxes = [arrow.source, arrow.target];
  const found = new Map<string, Point[]>(boxes.map((id) => [id, []]));
  for (const route of Object.values(layout.routes)) {
    for (const point of [route.points[0], route.points[route.points.length - 1]]) {
      if (!point) continue;
      for (const id of boxes) {
        const box = layout.states[id];
        if (box && onBorder(box, point)) found.get(id)?.push(point);
      }
    }
  }
  return found;
}

const onBorder = (box: Box, { x, y }: Point): boolean =>
  x > box.x - 2 &&
  x < right(box) + 2 &&
  y > box.y - 2 &&
  y < bottom(box) + 2 &&
  (Math.abs(x - box.x) < 2 ||
    Math.abs(x - right(box)) < 2 ||
    Math.abs(y - box.y) < 2 ||
    Math.abs(y - bottom(box)) < 2);

/** Ports on every side: the middle, steps from it, and those straight across from the other box. */
function portsOf(box: Box, other: Box, inward: boolean, taken: Point[], head: number): Port[] {
  const ports: Port[] = [];
  const inner = inward ? -1 : 1;
  const places = (from: number, length: number, otherFrom: number, otherLength: number): number[] => {
    const middle = from + length / 2;
    const edge = Math.min(10, length / 2);
    const values = [middle];
    const reach = Math.min(length / 2 - edge, 72);
    for (const offset of [12, 24, 48, 72]) if (offset <= reach) values.push(middle - offset, middle + offset);
    const low = Math.max(from + edge, otherFrom + Math.min(10, otherLength / 2));
    const high = Math.min(from + length - edge, otherFrom + otherLength - Math.min(10, otherLength / 2));
    if (low <= high) {
      const across = otherFrom + otherLength / 2;
      values.push((low + high) / 2, low, high);
      if (across >= low && across <= high) values.push(across, across - 12, across + 12);
    }
    return [...new Set(values)].filter(
      (value) => value >= from + edge - 0.01 && value <= from + length - edge + 0.01,
    );
  };
  const add = (side: Side, x: number, y: number, dx: Port["dx"], dy: Port["dy"], off: number) => {
    const near = Math.min(Infinity, ...taken.map((point) => Math.abs(point.x - x) + Math.abs(point.y - y)));
    const crowded = near < 8 ? 70 : near < 12 ? 30 : near < 20 ? 8 : 0;
    ports.push({ x, y, side, dx, dy, cost: off * 0.12 + crowded });
  };
  for (const x of places(box.x, box.w, other.x, other.w)) {
    const off = Math.abs(x - box.x - box.w / 2);
    if (!inward || head === 0) add("top", x, box.y, 0, inner > 0 ? -1 : 1, off);
    add("bottom", x, bottom(box), 0, inner > 0 ? 1 : -1, off);
  }
  for (const y of places(box.y, box.h, other.y, other.h)) {
    if (inward && y < box.y + head + 8) continue;
    const off = Math.abs(y - box.y - box.h / 2);
    add("left", box.x, y, inner > 0 ? -1 : 1, 0, off);
    add("right", right(box), y, inner > 0 ? 1 : -1, 0, off);
  }
  return ports;
}

const headHeightOf = (scene: Scene, id: string): number => {
  const box = scene.box.get(id);
  return box ? headHeight(box) : 0;
};

const nearbyMax = 60;

/** What lies in the way of an arrow: foreign boxes, headers of the containers it runs in, other pills and edges. */
function surroundings(
  scene: Scene,
  layout: Layout,
  arrow: SceneArrow,
  from: Box,
  to: Box,
  budget: Budget,
): Ground {
  const around = new Set<string>();
  const chain = (id: string): string[] => {
    const ids: string[] = [];
    for (let at = scene.box.get(id); at; at = at.parent === null ? undefined : scene.box.get(at.parent))
      ids.push(at.id);
    return ids;
  };
  const sourceChain = chain(arrow.source);
  const targetChain = chain(arrow.target);
  for (const id of [...sourceChain, ...targetChain]) around.add(id);
  const common = sourceChain.find(
    (id) => targetChain.includes(id) && (id !== arrow.source || id !== arrow.target),
  );
  const area = grow(union([from, to]) ?? from, 320);

  const obstacles: Box[] = [];
  const solid: Box[] = [];
  const thin: Box[] = [];
  for (const item of scene.boxes) {
    const box = layout.states[item.id];
    if (!box || !overlaps(box, area)) continue;
    const leaf = !isContainer(item);
    if (leaf) solid.push(box);
    else {
      thin.push({ ...box, h: headHeight(item) });
      thin.push(...borders(box));
    }
    if (around.has(item.id)) {
      const ownEnd = item.id === arrow.source || item.id === arrow.target;
      if (leaf || (ownEnd && !contains(box, item.id === arrow.source ? to : from)))
        obstacles.push(inset(box));
      else if (item.kind !== "region" || item.rows.length > 0)
        obstacles.push(inset({ ...box, h: headHeight(item) }));
    } else if (item.parent === null || around.has(item.parent)) obstacles.push(box);
  }
  const lanes: Terrain["lanes"] = [];
  for (const route of Object.values(layout.routes)) {
    if (route.label && overlaps(route.label, area)) {
      obstacles.push(route.label);
      solid.push(route.label);
    }
    route.points.slice(1).forEach((b, i) => {
      const a = route.points[i];
      if (!a) return;
      const lane = laneOf(a, b);
      if (overlaps(laneBox(lane), area, 1)) lanes.push(lane);
    });
  }
  const bound = common === undefined ? undefined : layout.states[common];
  const near = centre(union([from, to]) ?? from);
  obstacles.sort((a, b) => gapTo(a, near) - gapTo(b, near));
  return {
    terrain: { obstacles: obstacles.slice(0, nearbyMax), lanes, within: bound ?? null, budget },
    solid,
    thin,
    lines: lanes.map(laneBox),
  };
}

/** Where nothing is looked at. */
const openGround = (budget: Budget): Ground => ({
  terrain: { obstacles: [], lanes: [], within: null, budget },
  solid: [],
  thin: [],
  lines: [],
});

/** The arrow may touch its own boxes' borders, not run through them. */
const inset = (box: Box): Box => grow(box, -4);
const gapTo = (box: Box, point: Point): number => {
  const at = centre(box);
  return Math.abs(at.x - point.x) + Math.abs(at.y - point.y);
};

/** A loop over one side, wide enough for its pill. */
function selfLoop(box: Box, pill: Size | null, { terrain, solid, thin }: Ground): Route {
  const middle = centre(box);
  let best: Candidate | null = null;
  for (const side of ["top", "right", "bottom", "left"] as const) {
    const upright = side === "top" || side === "bottom";
    const out = (side === "right" || side === "bottom" ? 1 : -1) * (upright ? 26 : (pill?.w ?? 20) / 2 + 18);
    const half = Math.min((upright ? box.w : box.h) / 2 - 8, 22);
    for (const off of [0, -30, 30]) {
      const limit = (upright ? box.w : box.h) / 2 - 8;
      if (Math.abs(off) + half > limit) continue;
      const points = upright
        ? [
            { x: middle.x + off - half, y: side === "top" ? box.y : bottom(box) },
            { x: middle.x + off - half, y: (side === "top" ? box.y : bottom(box)) + out },
            { x: middle.x + off + half, y: (side === "top" ? box.y : bottom(box)) + out },
            { x: middle.x + off + half, y: side === "top" ? box.y : bottom(box) },
          ]
        : [
            { x: side === "left" ? box.x : right(box), y: middle.y + off - half },
            { x: (side === "left" ? box.x : right(box)) + out, y: middle.y + off - half },
            { x: (side === "left" ? box.x : right(box)) + out, y: middle.y + off + half },
            { x: side === "left" ? box.x : right(box), y: middle.y + off + half },
          ];
      const cost =
        points.slice(1).reduce((sum, b, i) => sum + segmentCost(points[i] ?? b, b, terrain), 0) +
        Math.abs(off);
      const top = points[1];
      const far = points[2];
      const label =
        pill && top && far
          ? { x: (top.x + far.x) / 2 - pill.w / 2, y: (top.y + far.y) / 2 - pill.h / 2, w: pill.w, h: pill.h }
          : undefined;
      const pillCost = label
        ? solid.filter((item) => overlaps(label, item, 2)).length * 1000 +
          thin.filter((item) => overlaps(label, item)).length * 120
        : 0;
      if (!best || cost + pillCost < best.cost + best.pillCost) {
        best = { route: label ? { points, label } : { points }, cost, pillCost };
      }
    }
  }
  return best?.route ?? { points: [middle, middle] };
}
