/**
 * Places every box and arrow of a scene by ELK's layered algorithm.
 *
 * A container whose arrows stay inside is a unit: laid out by itself, rightwards or downwards, whichever comes out
 * nearer to the window's shape, then placed as one block. So a long chart fills the window instead of growing in one
 * direction. Parallel states are units in any case, their regions stacked or put side by side; arrows that leave them
 * are drawn by our router. Other containers that arrows cross are laid out together with what is around them.
 *
 * The options are those that were tried: orthogonal edges with labels inline, model order on the root only (on a compound
 * it crashes ELK 0.12), network simplex up to 250 boxes (beyond, it takes seconds).
 *
 * Holds: siblings don't overlap, children lie inside their parent, the regions of a parallel state tile it; if ELK
 * fails, boxes stand in a grid and `failure` says why.
 */
import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api";
import { boxSize, headHeight, isContainer, pillSize } from "./box-size";
import { shift, simplify } from "./geometry";
import { gridLayout } from "./grid-layout";
import type { Layout, Point } from "./layout";
import type { Measure } from "./measure";
import { childBoxes, finishParallels, isHeaderPseudo } from "./parallel-layout";
import { completeRoutes } from "./route";
import type { Scene, SceneArrow, SceneBox } from "./scene";

export interface ElkEngine {
  layout(graph: ElkNode): Promise<ElkNode>;
}

/** The engine gave up on a graph; asking again would take as long. */
export class LayoutTimeout extends Error {
  override name = "LayoutTimeout";
}

export interface AutoLayout {
  layout: Layout;
  /** ELK could not: boxes stand in a grid. Says which element it stumbled over, as far as known. */
  failure: string | null;
}

export interface LayoutWish {
  /** `best`: chosen for each unit by the window's shape. */
  direction: Layout["direction"] | "best";
  window: { w: number; h: number };
}

export async function autoLayout(
  scene: Scene,
  measure: Measure,
  elk: ElkEngine,
  wish: LayoutWish,
): Promise<AutoLayout> {
  const work = new Work(scene, measure, elk, wish);
  try {
    const { direction, states, routes } = await work.canvas();
    const layout: Layout = { direction, states, routes };
    finishParallels(scene, layout, measure);
    return { layout: completeRoutes(scene, layout, measure), failure: null };
  } catch (error) {
    const direction = wish.direction === "best" ? "right" : wish.direction;
    return { layout: gridLayout(scene, measure, direction), failure: await work.culprit(error) };
  }
}

/** An arrow in a unit's graph, with the boxes that stand for its ends there. */
interface UnitArrow {
  arrow: SceneArrow;
  source: string;
  target: string;
  lifted: boolean;
}

/** A laid-out unit, its corner at 0,0. */
interface Block {
  w: number;
  h: number;
  direction: Layout["direction"];
  states: Layout["states"];
  routes: Layout["routes"];
}

const networkSimplexMax = 250;
/** Up to here every mix of directions is tried; beyond, asking ELK twice for each unit would take seconds. */
const mixedMax = 150;
/** How often ELK is asked again to find the arrow it fails at. */
const culpritTriesMax = 40;

class Work {
  /** Containers that no arrow leaves or enters, other than at their border; parallel states and regions in any case. */
  private readonly separable: ReadonlySet<string>;
  private readonly innermost = new Map<string, Promise<Block>>();
  private readonly chains = new Map<string, readonly string[]>();

  constructor(
    private readonly scene: Scene,
    private readonly measure: Measure,
    private readonly elk: ElkEngine,
    private readonly wish: LayoutWish,
  ) {
    for (const box of scene.boxes) {
      const above = box.parent === null ? [] : (this.chains.get(box.parent) ?? []);
      this.chains.set(box.id, [box.id, ...above]);
    }
    const crossed = new Set<string>();
    for (const { source, target } of scene.arrows) {
      const from = this.chain(source);
      const to = this.chain(target);
      for (const id of from.slice(1)) if (!to.includes(id)) crossed.add(id);
      for (const id of to.slice(1)) if (!from.includes(id)) crossed.add(id);
    }
    const tiled = (box: SceneBox): boolean => box.parallel || box.kind === "region";
    this.separable = new Set(
      scene.boxes
        .filter((box) => isContainer(box) && (tiled(box) || !crossed.has(box.id)))
        .map((box) => box.id),
    );
  }

  /** The whole: of the ways to mix directions, the one that shows largest. */
  async canvas(): Promise<Block> {
    const { direction } = this.wish;
    if (direction !== "best" || this.separable.size === 0) return this.unit(null, direction);
    if (this.scene.boxes.length > mixedMax) return this.unit(null, "best", "right");
    let best = await this.unit(null, "best");
    for (const inner of ["right", "down"] as const) {
      const other = await this.unit(null, "best", inner);
      if (this.badness(other) < this.badness(best)) best = other;
    }
    return best;
  }

  /** Lays out the inside of `box`, or the canvas; units inside it by `inner`. */
  private async unit(
    box: SceneBox | null,
    direction: LayoutWish["direction"],
    inner = direction,
  ): Promise<Block> {
    const blocks = new Map<string, Block>();
    for (const part of this.unitsIn(box)) blocks.set(part.id, await this.unit(part, inner));
    if (box?.parallel) {
      const regions = childBoxes(this.scene, box).filter((child) => child.kind === "region");
      if (regions.every((region) => blocks.has(region.id) || !isContainer(region)))
        return this.tiled(box, regions, blocks, direction);
    }
    if (direction !== "best") return this.layered(box, blocks, direction);
    const rightwards = await this.layered(box, blocks, "right");
    const downwards = await this.layered(box, blocks, "down");
    return this.badness(downwards) < this.badness(rightwards) ? downwards : rightwards;
  }

  /** How much the window would have to shrink it: the smaller the better. */
  private badness({ w, h }: { w: number; h: number }): number {
    const { window } = this.wish;
    return Math.max(w / window.w, h / window.h);
  }

  /** The nearest units below: inside containers that belong to this unit's own graph too. */
  private unitsIn(box: SceneBox | null): SceneBox[] {
    const children = box
      ? childBoxes(this.scene, box)
      : this.scene.boxes.filter((item) => item.parent === null);
    return children.flatMap((child) => {
      if (!isContainer(child)) return [];
      return this.separable.has(child.id) ? [child] : this.unitsIn(child);
    });
  }

  private tiled(
    box: SceneBox,
    regions: SceneBox[],
    blocks: ReadonlyMap<string, Block>,
    direction: LayoutWish["direction"],
  ): Block {
    const head = headHeight(box);
    const least = boxSize(box, this.measure);
    const block = (region: SceneBox): Block => {
      const size = boxSize(region, this.measure);
      return (
        blocks.get(region.id) ?? {
          ...size,
          direction: "right",
          states: { [region.id]: { x: 0, y: 0, ...size } },
          routes: {},
        }
      );
    };
    const sizes = regions.map(block);
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    const stacked = {
      w: Math.max(least.w, ...sizes.map(({ w }) => w)),
      h: head + sum(sizes.map(({ h }) => h)),
    };
    const beside = {
      w: Math.max(least.w, sum(sizes.map(({ w }) => w))),
      h: head + Math.max(0, ...sizes.map(({ h }) => h)),
    };
    const stack =
      direction === "best" ? this.badness(stacked) <= this.badness(beside) : direction === "right";
    const { w, h } = stack ? stacked : beside;
    const whole: Block = {
      w,
      h,
      direction: stack ? "right" : "down",
      states: { [box.id]: { x: 0, y: 0, w, h } },
      routes: {},
    };
    let at = stack ? head : 0;
    for (const region of sizes) {
      put(whole, region, stack ? 0 : at, stack ? at : head);
      at += stack ? region.h : region.w;
    }
    return whole;
  }

  /** A unit without units in it comes out the same in every mix: ELK is asked once for each direction. */
  private layered(
    box: SceneBox | null,
    blocks: ReadonlyMap<string, Block>,
    direction: Layout["direction"],
  ): Promise<Block> {
    if (blocks.size > 0) return this.askElk(box, blocks, direction);
    const key = `${direction} ${box?.id ?? ""}`;
    const known = this.innermost.get(key) ?? this.askElk(box, blocks, direction);
    this.innermost.set(key, known);
    return known;
  }

  private async askElk(
    box: SceneBox | null,
    blocks: ReadonlyMap<string, Block>,
    direction: Layout["direction"],
  ): Promise<Block> {
    const arrows = this.arrowsOf(box, blocks);
    const lifted = new Set(arrows.flatMap((item) => (item.lifted ? [item.arrow.id] : [])));
    const graph = await this.elk
      .layout(this.graph(box, blocks, arrows, direction))
      // Arrows between a container and its own inside are what ELK stumbles over most; our router can do them.
      .catch((error: unknown) => {
        if (error instanceof LayoutTimeout) throw error;
        return this.elk.layout(
          this.graph(
            box,
            blocks,
            arrows.filter((arrow) => !this.isInward(arrow)),
            direction,
          ),
        );
      });
    const least = box ? boxSize(box, this.measure) : { w: 0, h: 0 };
    const whole: Block = {
      w: Math.max(graph.width ?? 0, least.w),
      h: Math.max(graph.height ?? 0, least.h),
      direction,
      states: {},
      routes: {},
    };
    if (box) whole.states[box.id] = { x: 0, y: 0, w: whole.w, h: whole.h };
    const walk = (node: ElkNode): void => {
      for (const child of node.children ?? []) {
        const { x = 0, y = 0, width = 0, height = 0 } = child;
        const id = child.id.slice(nodePrefix.length);
        const block = blocks.get(id);
        if (block) put(whole, block, x, y);
        else whole.states[id] = { x, y, w: width, h: height };
        walk(child);
      }
      for (const edge of node.edges ?? []) {
        const points: Point[] = [];
        for (const { startPoint, bendPoints, endPoint } of edge.sections ?? []) {
          points.push(startPoint, ...(bendPoints ?? []), endPoint);
        }
        // ELK keeps room for a loop, but puts its label beside the line: the router draws it, into that room.
        const isLoop = edge.sources[0] === edge.targets[0];
        if (points.length < 2 || isLoop || lifted.has(edge.id)) continue;
        const label = edge.labels?.[0];
        whole.routes[edge.id] = {
          points: simplify(points),
          ...(label
            ? { label: { x: label.x ?? 0, y: label.y ?? 0, w: label.width ?? 0, h: label.height ?? 0 } }
            : {}),
        };
      }
    };
    walk(graph);
    return whole;
  }

  /**
   * Arrows of this unit's own graph. One that starts or ends inside a block starts or ends at the block here (`lifted`):
   * ELK makes room for it and its label, the router draws it. Not those between regions, which would push these apart.
   */
  private arrowsOf(unit: SceneBox | null, blocks: ReadonlyMap<string, Block>): UnitArrow[] {
    const standIn = (id: string): string | null => {
      const chain = this.chain(id);
      const end = unit === null ? chain.length : chain.indexOf(unit.id);
      if (end <= 0 || isHeaderPseudo(this.scene, id)) return null;
      const outer = chain.slice(0, end).findLast((inner) => blocks.has(inner));
      return outer ?? id;
    };
    return this.scene.arrows.flatMap((arrow): UnitArrow[] => {
      const source = standIn(arrow.source);
      const target = standIn(arrow.target);
      if (source === null || target === null) return [];
      const lifted = source !== arrow.source || target !== arrow.target;
      if (lifted && (source === target || this.isInward({ source, target }))) return [];
      const targets = this.chain(target);
      const common = this.chain(source).find((id) => targets.includes(id));
      const between = source !== target && common !== undefined && this.scene.box.get(common)?.parallel;
      return between ? [] : [{ arrow, source, target, lifted }];
    });
  }

  private isInward({ source, target }: { source: string; target: string }): boolean {
    return source !== target && (this.chain(source).includes(target) || this.chain(target).includes(source));
  }

  private chain(id: string): readonly string[] {
    return this.chains.get(id) ?? [];
  }

  private graph(
    unit: SceneBox | null,
    blocks: ReadonlyMap<string, Block>,
    arrows: UnitArrow[],
    direction: Layout["direction"],
  ): ElkNode {
    const { scene, measure } = this;
    const options: Record<string, string> = {
      ...baseOptions,
      "elk.direction": direction === "right" ? "RIGHT" : "DOWN",
      "elk.layered.nodePlacement.strategy":
        scene.boxes.length > networkSimplexMax ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX",
    };
    const node = (box: SceneBox): ElkNode => {
      const block = blocks.get(box.id);
      const { w, h } = block ?? boxSize(box, measure);
      if (block || !isContainer(box)) return { id: nodePrefix + box.id, width: w, height: h };
      const children = childBoxes(scene, box).filter((child) => !isHeaderPseudo(scene, child.id));
      return {
        id: nodePrefix + box.id,
        children: children.map((child, index) => {
          const inner = node(child);
          if (!box.parallel) return inner;
          return {
            ...inner,
            layoutOptions: { ...inner.layoutOptions, "elk.position": `(${index * 1000},${index * 1000})` },
          };
        }),
        layoutOptions: {
          ...options,
          "elk.padding": padding(box),
          "elk.nodeSize.constraints": "MINIMUM_SIZE",
          "elk.nodeSize.minimum": `(${w},${headHeight(box)})`,
          ...(box.parallel
            ? { "elk.spacing.nodeNode": "0", "elk.layered.crossingMinimization.semiInteractive": "true" }
            : {}),
        },
      };
    };
    const inside = unit ? childBoxes(scene, unit) : scene.boxes.filter((box) => box.parent === null);
    return {
      id: "unit",
      layoutOptions: {
        ...options,
        "elk.padding": unit ? padding(unit) : "[top=24,left=24,bottom=24,right=24]",
        "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      },
      children: inside.filter((box) => !isHeaderPseudo(scene, box.id)).map(node),
      edges: arrows.map((arrow) => this.edge(arrow)),
    };
  }

  private edge({ arrow, source, target }: UnitArrow): ElkExtendedEdge {
    const pill = arrow.label && pillSize(arrow.label, this.measure);
    return {
      id: arrow.id,
      sources: [nodePrefix + source],
      targets: [nodePrefix + target],
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
  }

  /** Which arrow makes ELK fail? Named when leaving out that one lets the rest of the canvas pass. */
  async culprit(error: unknown): Promise<string> {
    const blocks = new Map<string, Block>();
    const arrows = error instanceof LayoutTimeout ? [] : this.arrowsOf(null, blocks);
    for (const suspect of arrows.slice(0, culpritTriesMax)) {
      const rest = arrows.filter((item) => item !== suspect);
      const passed = await this.elk.layout(this.graph(null, blocks, rest, "right")).then(
        () => true,
        () => false,
      );
      if (passed)
        return `Laying out failed at the transition ${suspect.arrow.transition}; states stand in a grid.`;
    }
    const reason = error instanceof Error ? error.message : String(error);
    return `Laying out failed (${reason.slice(0, 120)}); states stand in a grid.`;
  }
}

/** The root's name is empty, which ELK does not take for an id. */
const nodePrefix = "s:";

const padding = (box: SceneBox): string => {
  const head = headHeight(box);
  if (box.parallel) return `[top=${head},left=0,bottom=0,right=0]`;
  return `[top=${head + (box.kind === "region" ? 6 : 16)},left=20,bottom=20,right=20]`;
};

function put(whole: Block, part: Block, x: number, y: number): void {
  for (const [id, box] of Object.entries(part.states)) whole.states[id] = shift(box, x, y);
  for (const [id, route] of Object.entries(part.routes)) {
    whole.routes[id] = {
      points: route.points.map((point) => shift(point, x, y)),
      ...(route.label ? { label: shift(route.label, x, y) } : {}),
    };
  }
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
