/**
 * The layout after an edit: what is new gets a place, boxes fit their texts, containers hold their children, arrows
 * whose ends moved are routed anew. What the edit did not touch stays where it is.
 *
 * Holds: the result is complete for the chart; entries of elements that no longer exist are gone.
 */
import type { Chart } from "@/lib/statechart/document";
import { boxSize, headHeight, isContainer, pillSize } from "./box-size";
import { growContainers, placeMissing, stillAttached } from "./complete-layout";
import { borders, bottom, centre, overlaps, right, shift } from "./geometry";
import type { Layout } from "./layout";
import type { Measure } from "./measure";
import { placePill } from "./place-pill";
import { routeArrows } from "./route";
import { arrowTransition, buildScene, type Scene, type SceneBox } from "./scene";

interface Drawn {
  chart: Chart;
  layout: Layout;
}

export function settle(before: Drawn, after: Drawn, measure: Measure): Layout {
  const collapsed = new Set(
    Object.entries(after.layout.states).flatMap(([name, box]) => (box.collapsed ? [name] : [])),
  );
  const scene = buildScene(after.chart, { collapsed });
  const oldScene = before.chart === after.chart ? scene : buildScene(before.chart);
  let layout = withoutStrangers(scene, after.layout);
  layout = fitTexts(oldScene, scene, layout, measure);
  const frame = layout;
  layout = placeMissing(scene, layout, measure);
  layout = pushApart(scene, frame, growContainers(scene, layout, measure), measure);
  const loose = scene.arrows.filter((arrow) => !layout.routes[arrow.id] || !stillAttached(layout, arrow));
  layout = routeArrows(scene, layout, new Set(loose.map((arrow) => arrow.id)), measure);
  return fitPills(scene, layout, measure);
}

/** Drops places of states and arrows that the chart no longer has; hidden ones keep theirs. */
function withoutStrangers(scene: Scene, layout: Layout): Layout {
  const states = Object.entries(layout.states).filter(([id]) => {
    if (id.endsWith("#initial")) {
      const home = scene.tree.byName.get(id.slice(0, -"#initial".length));
      return (
        home !== undefined && home.children.length > 0 && (scene.box.has(id) || !scene.box.has(home.name))
      );
    }
    return scene.tree.byName.has(id) && (id !== scene.tree.root.name || scene.box.has(id));
  });
  const arrows = new Set(scene.arrows.map((arrow) => arrow.id));
  const known = new Set(scene.tree.transitions.map((transition) => transition.id));
  const routes = Object.entries(layout.routes).filter(
    ([id]) => arrows.has(id) || known.has(arrowTransition(id)),
  );
  return { ...layout, states: Object.fromEntries(states), routes: Object.fromEntries(routes) };
}

/** A box as large as its texts asked for follows them; one a person made larger only grows. */
function fitTexts(oldScene: Scene, scene: Scene, layout: Layout, measure: Measure): Layout {
  const states = { ...layout.states };
  for (const box of scene.boxes) {
    const own = states[box.id];
    if (!own || isContainer(box)) continue;
    const least = boxSize(box, measure);
    const old = oldScene.box.get(box.id);
    const was = old && old.children.length === 0 ? boxSize(old, measure) : null;
    const fitted = was !== null && Math.abs(own.w - was.w) < 1 && Math.abs(own.h - was.h) < 1;
    // What was a container and lost its children becomes a leaf's size.
    const emptied = old !== undefined && isContainer(old) && box.hidden === 0;
    const w =
      fitted || emptied || box.kind === "history" || box.kind === "deep-history"
        ? least.w
        : Math.max(own.w, least.w);
    const h =
      fitted || emptied || box.kind === "history" || box.kind === "deep-history"
        ? least.h
        : Math.max(own.h, least.h);
    if (w !== own.w || h !== own.h) states[box.id] = { ...own, w, h };
  }
  return { ...layout, states };
}

const air = 16;
const pushesMax = 200;

/** A box that grew pushes the siblings it now covers away, along the side they were on. */
function pushApart(scene: Scene, before: Layout, layout: Layout, measure: Measure): Layout {
  let current = layout;
  const queue = scene.boxes.filter((box) => {
    const was = before.states[box.id];
    const now = layout.states[box.id];
    return was && now && (now.w > was.w || now.h > was.h || now.x < was.x || now.y < was.y);
  });
  for (let n = 0; queue.length > 0 && n < pushesMax; n++) {
    const grown = queue.shift();
    const own = grown && current.states[grown.id];
    const was = grown && (before.states[grown.id] ?? own);
    if (!grown || !own || !was || grown.kind === "region") continue;
    for (const sibling of siblingsOf(scene, grown)) {
      const other = current.states[sibling.id];
      if (!other || !overlaps(own, other, 2)) continue;
      const a = centre(was);
      const b = centre(other);
      const beside = Math.abs(b.x - a.x) / (was.w + other.w) > Math.abs(b.y - a.y) / (was.h + other.h);
      const by = beside
        ? { x: b.x >= a.x ? right(own) + air - other.x : own.x - air - right(other), y: 0 }
        : { x: 0, y: b.y >= a.y ? bottom(own) + air - other.y : own.y - air - bottom(other) };
      current = shifted(scene, current, sibling, by);
      queue.push(sibling);
    }
    const parent = grown.parent === null ? undefined : scene.box.get(grown.parent);
    if (parent) {
      const held = growContainers(scene, current, measure);
      if (held.states[parent.id] !== current.states[parent.id]) queue.push(parent);
      current = held;
    }
  }
  return current;
}

function siblingsOf(scene: Scene, box: SceneBox): SceneBox[] {
  const ids =
    box.parent === null
      ? scene.boxes.filter((item) => item.parent === null).map((item) => item.id)
      : (scene.box.get(box.parent)?.children ?? []);
  return ids.filter((id) => id !== box.id).flatMap((id) => scene.box.get(id) ?? []);
}

function shifted(scene: Scene, layout: Layout, box: SceneBox, by: { x: number; y: number }): Layout {
  const inside = new Set<string>();
  const collect = (id: string): void => {
    inside.add(id);
    for (const child of scene.box.get(id)?.children ?? []) collect(child);
  };
  collect(box.id);
  const states = { ...layout.states };
  for (const id of inside) {
    const own = states[id];
    if (own) states[id] = shift(own, by.x, by.y);
  }
  const routes = { ...layout.routes };
  for (const arrow of scene.arrows) {
    const route = routes[arrow.id];
    if (!route || !inside.has(arrow.source) || !inside.has(arrow.target)) continue;
    routes[arrow.id] = {
      points: route.points.map((point) => shift(point, by.x, by.y)),
      ...(route.label ? { label: shift(route.label, by.x, by.y) } : {}),
    };
  }
  return { ...layout, states, routes };
}

/** From here a pill lies on a border or a header, or hides its line's ends. */
const goodCost = 100;

/** Pills whose text changed size find their place on the same line again. */
function fitPills(scene: Scene, layout: Layout, measure: Measure): Layout {
  const routes = { ...layout.routes };
  const leaves = scene.boxes.filter((box) => !isContainer(box)).flatMap((box) => layout.states[box.id] ?? []);
  const frames = scene.boxes.flatMap((box) => {
    const own = isContainer(box) ? layout.states[box.id] : undefined;
    return own ? [{ ...own, h: headHeight(box) }, ...borders(own)] : [];
  });
  for (const arrow of scene.arrows) {
    const route = routes[arrow.id];
    if (!route) continue;
    if (!arrow.label) {
      if (route.label) routes[arrow.id] = { points: route.points };
      continue;
    }
    const pill = pillSize(arrow.label, measure);
    if (route.label && Math.abs(route.label.w - pill.w) < 1 && Math.abs(route.label.h - pill.h) < 1) continue;
    const others = Object.entries(routes).flatMap(([id, other]) =>
      id === arrow.id || !other.label ? [] : [other.label],
    );
    const placed = placePill(route.points, pill, [...leaves, ...others], frames);
    if (placed.cost < goodCost) {
      routes[arrow.id] = { points: route.points, label: placed.box };
      continue;
    }
    // No good room on its line: take another way.
    const again = routeArrows(scene, { ...layout, routes }, new Set([arrow.id]), measure);
    routes[arrow.id] = again.routes[arrow.id] ?? { points: route.points, label: placed.box };
  }
  return { ...layout, routes };
}
