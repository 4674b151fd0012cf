import ELK from "elkjs/lib/elk.bundled.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Chart, StateNode } from "@/lib/statechart/document";
import { autoLayout, type ElkEngine } from "./auto-layout";
import { headHeight } from "./box-size";
import { completeLayout, isComplete } from "./complete-layout";
import { contains, overlaps } from "./geometry";
import { gridLayout } from "./grid-layout";
import { emptyLayout, type Layout } from "./layout";
import { guessWidth } from "./measure";
import { buildScene, type Scene } from "./scene";

const elk = new ELK() as unknown as ElkEngine;
const window = { w: 1000, h: 640 };

/** What every layout must hold; the failed place is named. */
function check(scene: Scene, layout: Layout): void {
  expect(isComplete(scene, layout), "each box has a place, each arrow a route").toBe(true);
  for (const box of scene.boxes) {
    const own = layout.states[box.id];
    if (!own) throw new Error(`${box.id} has no place`);
    const parent = box.parent === null ? undefined : layout.states[box.parent];
    if (parent) expect(contains(parent, own, 1), `${box.id} lies inside ${box.parent}`).toBe(true);
    const siblings = scene.boxes.filter((other) => other.parent === box.parent && other.id > box.id);
    for (const other of siblings) {
      const place = layout.states[other.id];
      // A history circle of a parallel lies in its header, above the regions.
      if (place) expect(overlaps(own, place, -0.5), `${box.id} and ${other.id} don't overlap`).toBe(false);
    }
    if (!box.parallel) continue;
    const regions = box.children
      .filter((id) => scene.box.get(id)?.kind === "region")
      .map((id) => layout.states[id]);
    const area = regions.reduce((sum, region) => sum + (region ? region.w * region.h : 0), 0);
    if (regions.length > 0)
      expect(area, `regions tile ${box.id}`).toBeCloseTo(own.w * (own.h - headHeight(box)), 0);
  }
  for (const arrow of scene.arrows) {
    const points = layout.routes[arrow.id]?.points ?? [];
    for (const [i, b] of points.entries()) {
      const a = points[i - 1];
      if (a)
        expect(Math.abs(a.x - b.x) < 0.51 || Math.abs(a.y - b.y) < 0.51, `${arrow.id} is orthogonal`).toBe(
          true,
        );
    }
    const pill = layout.routes[arrow.id]?.label;
    if (pill) {
      const middle = { x: pill.x + pill.w / 2, y: pill.y + pill.h / 2 };
      const near = points.some((b, i) => {
        const a = points[i - 1];
        if (!a) return false;
        return (
          middle.x > Math.min(a.x, b.x) - pill.w / 2 - 1 &&
          middle.x < Math.max(a.x, b.x) + pill.w / 2 + 1 &&
          middle.y > Math.min(a.y, b.y) - pill.h / 2 - 1 &&
          middle.y < Math.max(a.y, b.y) + pill.h / 2 + 1
        );
      });
      expect(near, `the pill of ${arrow.id} lies on its line`).toBe(true);
    }
  }
}

// --- random charts: up to three levels, regions, histories, arrows anywhere, some that lead nowhere

const leaf = fc.constantFrom<StateNode>(
  {},
  {},
  { entry: ["prepare", "announce"] },
  { type: "final" },
  { type: "history" },
);
const { node } = fc.letrec<{ node: StateNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.boolean(), fc.array(tie("node"), { minLength: 1, maxLength: 3 }))
      .map(([parallel, children]): StateNode => {
        const states = Object.fromEntries(children.map((child, index) => [`s${index}`, child]));
        return parallel ? { type: "parallel", states } : { initial: "s0", states };
      }),
  ),
}));
const chart = fc
  .tuple(
    fc.array(node, { minLength: 1, maxLength: 5 }),
    fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { maxLength: 12 }),
  )
  .map(([children, arrows]): Chart => {
    const draft: Chart = {
      lockstep: 1,
      initial: "s0",
      states: Object.fromEntries(children.map((child, index) => [`s${index}`, { ...child }])),
    };
    const copy = structuredClone(draft);
    const names: string[] = [];
    const nodes: StateNode[] = [];
    const walk = (state: StateNode, path: string[]): void => {
      for (const [key, child] of Object.entries(state.states ?? {})) {
        names.push([...path, key].join("."));
        nodes.push(child);
        walk(child, [...path, key]);
      }
    };
    walk(copy, []);
    arrows.forEach(([from, to], index) => {
      const source = nodes[from % nodes.length];
      if (!source || source.type === "final" || source.type === "history") return;
      const target = to % 13 === 0 ? "nowhere" : `#${names[to % names.length]}`;
      source.on = {
        ...source.on,
        [`event ${index}`]: { target, guard: "context.total > 100", actions: index % 2 ? [] : "note" },
      };
    });
    return copy;
  });

describe("random charts", () => {
  test("ELK: siblings don't overlap, children lie inside, regions tile, pills lie on their lines", async () => {
    await fc.assert(
      fc.asyncProperty(chart, fc.constantFrom("best", "right", "down"), async (document, direction) => {
        const scene = buildScene(document);
        const { layout, failure } = await autoLayout(scene, guessWidth, elk, { direction, window });
        expect(failure).toBeNull();
        check(scene, layout);
      }),
      // Shrinking would lay out hundreds of charts more: the failing one is told as it is.
      { numRuns: Number(process.env["RUNS"] ?? 8), endOnFailure: true },
    );
  });

  test("the grid that stands in for ELK holds the same", () => {
    fc.assert(
      fc.property(chart, (document) => {
        const scene = buildScene(document);
        check(scene, gridLayout(scene, guessWidth, "right"));
      }),
      { numRuns: Number(process.env["RUNS"] ?? 40) },
    );
  });
});

test("arrows beyond the router's budget, some hundred in a dense grid, hold the same", () => {
  const count = 200;
  const states = Object.fromEntries(
    Array.from({ length: count }, (_, i): [string, StateNode] => [
      `s${i}`,
      { on: { a: `s${(7 * i + 1) % count}`, b: `s${(7 * i + 14) % count}`, c: `s${(7 * i + 27) % count}` } },
    ]),
  );
  const scene = buildScene({ lockstep: 1, initial: "s0", states });
  // Without a budget this takes longer than the test may.
  check(scene, gridLayout(scene, guessWidth, "right"));
}, 50_000);

test("when ELK fails, the arrow it fails at is named and the boxes stand in a grid", async () => {
  const scene = buildScene({
    lockstep: 1,
    initial: "a",
    states: { a: { on: { bad: "b", good: "b" } }, b: {} },
  });
  const broken: ElkEngine = {
    layout: (graph) =>
      graph.edges?.some((edge) => edge.id === "a#on/bad/0")
        ? Promise.reject(new Error("reading 'a'"))
        : elk.layout(graph),
  };
  const { layout, failure } = await autoLayout(scene, guessWidth, broken, { direction: "right", window });
  expect(failure).toBe("Laying out failed at the transition a#on/bad/0; states stand in a grid.");
  check(scene, layout);
});

test("a chart that is placed stays as it is; only what has no place gets one", async () => {
  const before: Chart = { lockstep: 1, initial: "a", states: { a: { on: { go: "b" } }, b: {} } };
  const placed = await completeLayout(buildScene(before), emptyLayout, guessWidth, () => elk, window);
  const after: Chart = { ...before, states: { ...before.states, c: { on: { back: "a" } } } };
  const scene = buildScene(after);
  const { layout } = await completeLayout(scene, placed.layout, guessWidth, () => elk, window);
  check(scene, layout);
  for (const [id, box] of Object.entries(placed.layout.states)) expect(layout.states[id]).toEqual(box);
  expect(layout.routes["a#on/go/0"]).toEqual(placed.layout.routes["a#on/go/0"]);
  const again = await completeLayout(scene, layout, guessWidth, () => elk, window);
  expect(again.layout).toBe(layout);
});
