/**
 * Places every box and arrow of a scene by ELK's layered algorithm, or by a grid when ELK fails.
 *
 * The options are the recipe of docs/editor: orthogonal edges with labels inline, model order on the root only (on a
 * compound it crashes ELK 0.12), network simplex up to 250 boxes (beyond, it takes seconds).
 *
 * Holds: siblings don't overlap, children lie inside their parent, the regions of a parallel state tile it.
 */
import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api";
import { boxSize, headHeight, isContainer, pillSize } from "./box-size";
import { bottom, right, simplify, union } from "./geometry";
import type { Box, Layout, Point } from "./layout";
import type { Measure } from "./measure";
import { routeArrows } from "./route";
import type { Scene, SceneArrow, SceneBox } from "./scene";

export interface ElkEngine {
  layout(graph: ElkNode): Promise<ElkNode>;
}

export interface AutoLayout {
  layout: Layout;
  /** ELK could not: boxes stand in a grid. Says which element it stumbled over, as far as known. */
  failure: string | null;
}

const networkSimplexMax = 250;

export async function autoLayout(
  scene: Scene,
  measure: Measure,
  elk: ElkEngine,
  direction: Layout["direction"],
): Promise<AutoLayout> {
  const arrows = scene.arrows.filter((arrow) => elkCanRoute(scene, arrow));
  try {
    const graph = await elk.layout(toElk(scene, arrows, measure, direction));
    return { layout: fromElk(scene, graph, measure, direction), failure: null };
  } catch (error) {
    const failure = await findCulprit(scene, measure, elk, direction, error);
    return { layout: gridLayout(scene, measure, direction), failure };
  }
}

/** The direction whose drawing shows larger in a window of this shape. */
export async function bestLayout(
  scene: Scene,
  measure: Measure,
  elk: ElkEngine,
  window: { w: number; h: number },
): Promise<AutoLayout> {
  const rightwards = await autoLayout(scene, measure, elk, "right");
  if (rightwards.failure !== null || scene.boxes.length > networkSimplexMax) return rightwards;
  const downwards = await autoLayout(scene, measure, elk, "down");
  const zoom = ({ layout }: AutoLayout): number => {
    const all = union(Object.values(layout.states));
    return all ? Math.min(1, window.w / all.w, window.h / all.h) : 1;
  };
  return downwards.failure === null && zoom(downwards) > zoom(rightwards) ? downwards : rightwards;
}

/** Arrows between regions would push the regions out of line, and history circles of a parallel lie in its header. */
function elkCanRoute(scene: Scene, arrow: SceneArrow): boolean {
  const chain = (id: string): string[] => {
    const ids: string[] = [];
    for (let at = scene.box.get(id); at; at = at.parent === null ? undefined : scene.box.get(at.parent))
      ids.push(at.id);
    return ids;
  };
  const source = chain(arrow.source);
  const target = chain(arrow.target);
  const common = source.find((id) => target.includes(id));
  if (common !== undefined && scene.box.get(common)?.parallel) {
    // Inside one parallel, but not in one region; or between the parallel and its own inside.
    return false;
  }
  return !isHeaderPseudo(scene, arrow.source) && !isHeaderPseudo(scene, arrow.target);
}

/** A history child of a parallel state has no region to lie in. */
function isHeaderPseudo(scene: Scene, id: string): boolean {
  const box = scene.box.get(id);
  const parent = box && box.parent !== null ? scene.box.get(box.parent) : undefined;
  return parent?.parallel === true && box?.kind !== "region";
}

const baseOptions = {
  "elk.algorithm": "layered",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.json.edgeCoords": "ROOT",
  "elk.json.shapeCoords": "ROOT",
  "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
  "elk.layered.nodePlacement.favorStraightEdges": "true",
  "elk.edgeLabels.placement": "CENTER",
  "elk.edgeLabels.inline": "true",
  "elk.layered.spacing.nodeNodeBetweenLayers": "36",
  "elk.layered.spacing.edgeNodeBetweenLayers": "18",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "14",
  "elk.spacing.nodeNode": "34",
  "elk.spacing.edgeNode": "20",
  "elk.spacing.edgeEdge": "16",
  "elk.spacing.edgeLabel": "6",
  "elk.spacing.labelNode": "8",
  "elk.spacing.nodeSelfLoop": "14",
};

function toElk(
  scene: Scene,
  arrows: SceneArrow[],
  measure: Measure,
  direction: Layout["direction"],
): ElkNode {
  const options: Record<string, string> = {
    ...baseOptions,
    "elk.direction": direction === "right" ? "RIGHT" : "DOWN",
    "elk.layered.nodePlacement.strategy":
      scene.boxes.length > networkSimplexMax ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX",
  };
  const node = (box: SceneBox): ElkNode => {
    const { w, h } = boxSize(box, measure);
    if (!isContainer(box)) return { id: nodeId(box.id), width: w, height: h };
    const head = headHeight(box);
    const padding = box.parallel
      ? `[top=${head},left=0,bottom=0,right=0]`
      : `[top=${head + (box.kind === "region" ? 6 : 16)},left=20,bottom=20,right=20]`;
    const children = childBoxes(scene, box).filter((child) => !isHeaderPseudo(scene, child.id));
    return {
      id: nodeId(box.id),
      children: children.map((child, index) =>
        box.parallel
          ? withOptions(node(child), { "elk.position": `(${index * 1000},${index * 1000})` })
          : node(child),
      ),
      layoutOptions: {
        ...options,
        "elk.padding": padding,
        "elk.nodeSize.constraints": "MINIMUM_SIZE",
        "elk.nodeSize.minimum": `(${w},${head})`,
        ...(box.parallel
          ? { "elk.spacing.nodeNode": "0", "elk.layered.crossingMinimization.semiInteractive": "true" }
          : {}),
      },
    };
  };
  const edges: ElkExtendedEdge[] = arrows.map((arrow) => {
    const pill = arrow.label && pillSize(arrow.label, measure);
    return {
      id: arrow.id,
      sources: [nodeId(arrow.source)],
      targets: [nodeId(arrow.target)],
      labels: pill
        ? [
            {
              id: `${arrow.id} label`,
              text: arrow.label?.when ?? "",
              width: pill.w,
              height: pill.h,
              layoutOptions: { "elk.edgeLabels.inline": "true", "elk.edgeLabels.placement": "CENTER" },
            },
          ]
        : [],
    };
  });
  return {
    id: "canvas",
    layoutOptions: {
      ...options,
      "elk.padding": "[top=24,left=24,bottom=24,right=24]",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
    },
    children: scene.boxes.filter((box) => box.parent === null).map(node),
    edges,
  };
}

/** The root's name is empty, which ELK does not take for an id. */
const nodeId = (id: string): string => `s:${id}`;
const withOptions = (node: ElkNode, options: Record<string, string>): ElkNode => ({
  ...node,
  layoutOptions: { ...node.layoutOptions, ...options },
});

const childBoxes = (scene: Scene, box: SceneBox): SceneBox[] =>
  box.children.flatMap((id) => scene.box.get(id) ?? []);

function fromElk(scene: Scene, graph: ElkNode, measure: Measure, direction: Layout["direction"]): Layout {
  const layout: Layout = { direction, states: {}, routes: {} };
  const walk = (node: ElkNode): void => {
    for (const child of node.children ?? []) {
      const { x = 0, y = 0, width = 0, height = 0 } = child;
      layout.states[child.id.slice(2)] = { x, y, w: width, h: height };
      walk(child);
    }
    for (const edge of node.edges ?? []) {
      const points: Point[] = [];
      for (const { startPoint, bendPoints, endPoint } of edge.sections ?? []) {
        points.push(startPoint, ...(bendPoints ?? []), endPoint);
      }
      if (points.length < 2) continue;
      const label = edge.labels?.[0];
      layout.routes[edge.id] = {
        points: simplify(points),
        ...(label
          ? { label: { x: label.x ?? 0, y: label.y ?? 0, w: label.width ?? 0, h: label.height ?? 0 } }
          : {}),
      };
    }
  };
  walk(graph);
  finishParallels(scene, layout, measure);
  return completeRoutes(scene, layout, measure);
}

/**
 * Regions tile their parallel edge to edge (ELK leaves them ragged); its history circles go into the header. Writes into
 * `layout.states`, never into the boxes it holds.
 */
export function finishParallels(scene: Scene, layout: Layout, measure: Measure): void {
  for (const box of scene.boxes) {
    const own = layout.states[box.id];
    if (!box.parallel || !own) continue;
    const children = childBoxes(scene, box);
    let pseudoX = right(own) - 4;
    for (const child of children.filter((item) => item.kind !== "region")) {
      const { w, h } = boxSize(child, measure);
      pseudoX -= w + 6;
      layout.states[child.id] = { x: pseudoX - 70, y: own.y + 3, w, h };
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

/** Routes what ELK did not: arrows left out, and those that end on a stretched region. */
function completeRoutes(scene: Scene, layout: Layout, measure: Measure): Layout {
  const isRegion = (id: string) => scene.box.get(id)?.kind === "region";
  const open = scene.arrows.filter(
    (arrow) => layout.routes[arrow.id] === undefined || isRegion(arrow.source) || isRegion(arrow.target),
  );
  return routeArrows(scene, layout, new Set(open.map((arrow) => arrow.id)), measure);
}

/** Which arrow makes ELK fail? Named when leaving out that one lets the rest pass. Bounded: 40 tries. */
async function findCulprit(
  scene: Scene,
  measure: Measure,
  elk: ElkEngine,
  direction: Layout["direction"],
  error: unknown,
): Promise<string> {
  const arrows = scene.arrows.filter((arrow) => elkCanRoute(scene, arrow));
  for (const suspect of arrows.slice(0, 40)) {
    const rest = arrows.filter((arrow) => arrow !== suspect);
    const passed = await elk.layout(toElk(scene, rest, measure, direction)).then(
      () => true,
      () => false,
    );
    if (passed) return `Laying out failed at the transition ${suspect.transition}; states stand in a grid.`;
  }
  const reason = error instanceof Error ? error.message : String(error);
  return `Laying out failed (${reason.slice(0, 120)}); states stand in a grid.`;
}

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
