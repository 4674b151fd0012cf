/**
 * Random machine configs of XState (the part of them that JSON can hold) run in XState and, imported, in our engine.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createMachine, initialTransition, transition, type AnyMachineSnapshot } from "xstate";
import type { JsonObject } from "@/lib/base/json";
import { compile } from "@/lib/statechart/compile";
import { macrostep } from "@/lib/statechart/macrostep";
import { start } from "@/lib/statechart/start";
import { stateValue } from "@/lib/statechart/state-value";
import { importChart } from "../import-chart";

interface Node {
  key: string;
  path: string[];
  id: string | null;
  type: "atomic" | "compound" | "parallel" | "final" | "history";
  children: Node[];
  parent: Node | null;
}

/** Draws whole numbers from a list that fast-check can shrink. */
type Draw = (below: number) => number;
const events = ["go", "a.b", "a.b.c", "x"];
const descriptors = [...events, "a.*", "a.b.*", "*"];

function buildTree(draw: Draw): Node {
  let ids = 0;
  const build = (key: string, path: string[], parent: Node | null, depth: number): Node => {
    const node: Node = { key, path, id: null, type: "atomic", children: [], parent };
    if (parent !== null && draw(4) === 0) node.id = `id${ids++}`;
    const branch = depth < 3 ? draw(5) : 0;
    if (parent === null || branch >= 2) node.type = branch === 4 && parent !== null ? "parallel" : "compound";
    else if (branch === 1 && parent.type !== "parallel") node.type = "final";
    if (node.type === "compound" || node.type === "parallel") {
      const count = 2 + draw(2);
      const keys = ["s", "10", "2", "z"];
      for (let i = 0; i < count; i++) {
        const child = keys[i] ?? "s";
        node.children.push(build(child, [...path, child], node, depth + 1));
      }
      // The first child is where a compound state starts.
      if (node.type === "compound" && node.children[0]?.type === "final") node.children[0].type = "atomic";
      // Not in a parallel state: without a default target XState finds none there, we take all regions.
      if (node.type === "compound" && draw(3) === 0)
        node.children.push({
          key: "h",
          path: [...path, "h"],
          id: null,
          type: "history",
          children: [],
          parent: node,
        });
    }
    return node;
  };
  return build("m", [], null, 0);
}

const all = (node: Node): Node[] => [node, ...node.children.flatMap(all)];

/** One of the ways to name `target` at `source`. */
function reference(source: Node, target: Node, draw: Draw): string {
  const ways = [`#m.${target.path.join(".")}`];
  if (target.id !== null) ways.push(`#${target.id}`);
  if (target.parent === source) ways.push(`.${target.key}`);
  if (source.parent !== null && target.parent === source.parent) ways.push(target.key);
  return ways[draw(ways.length)] ?? "";
}

function configOf(node: Node, everyone: Node[], draw: Draw): JsonObject {
  if (node.type === "history") return { type: "history", history: draw(2) === 0 ? "deep" : "shallow" };
  const config: JsonObject = node.type === "parallel" || node.type === "final" ? { type: node.type } : {};
  if (node.parent === null) config.id = "m";
  else if (node.id !== null) config.id = node.id;
  if (node.type === "compound") config.initial = node.children[0]?.key ?? "";
  if (node.type === "final") return config;
  const on: JsonObject = {};
  // `*` also matches done events: with final states about, XState would go round without end.
  const usable = everyone.some(({ type }) => type === "final") ? descriptors.slice(0, -1) : descriptors;
  for (let i = draw(4); i > 0; i--) {
    const descriptor = usable[draw(usable.length)] ?? "go";
    const target = everyone[1 + draw(everyone.length - 1)];
    if (target === undefined) continue;
    if (draw(6) === 0) on[descriptor] = {};
    else
      on[descriptor] = { target: reference(node, target, draw), ...(draw(4) === 0 ? { reenter: true } : {}) };
  }
  if (Object.keys(on).length > 0) config.on = on;
  // Only forward, so that no eventless cycle can arise.
  const siblings =
    node.parent?.type === "compound" ? node.parent.children.filter(({ type }) => type !== "history") : [];
  const later = siblings[siblings.indexOf(node) + 1];
  if (later !== undefined && node.type !== "atomic" && draw(2) === 0)
    config.onDone = reference(node, later, draw);
  else if (later !== undefined && draw(8) === 0) config.always = reference(node, later, draw);
  if (node.children.length > 0)
    config.states = Object.fromEntries(
      node.children.map((child) => [child.key, configOf(child, everyone, draw)]),
    );
  return config;
}

test("an imported machine moves as XState moves the same JSON", () => {
  let steps = 0;
  fc.assert(
    fc.property(
      fc.array(fc.nat(1_000_000), { minLength: 60, maxLength: 160 }),
      fc.array(fc.constantFrom(...events), { minLength: 1, maxLength: 12 }),
      (choices, sent) => {
        let next = 0;
        const draw: Draw = (below) => (choices[next++ % choices.length] ?? 0) % below;
        const tree = buildTree(draw);
        const config = configOf(tree, all(tree), draw);
        const { chart, diagnostics, losses } = importChart(JSON.stringify(config));
        expect({ diagnostics, losses }).toEqual({ diagnostics: [], losses: [] });
        if (chart === null) return;
        const machine = compile(chart);
        const reference = createMachine(config as Parameters<typeof createMachine>[0]);
        let [theirs] = initialTransition(reference) as [AnyMachineSnapshot, unknown];
        let ours = start(machine, { id: "s" }, { at: 0, seq: 1 }).snapshot;
        const compare = (after: string | null): void => {
          const value = stateValue(machine, ours.configuration);
          expect({ after, value, done: ours.status === "completed" }).toEqual({
            after,
            value: theirs.value as unknown,
            done: theirs.status === "done",
          });
        };
        compare(null);
        sent.forEach((type, index) => {
          if (theirs.status !== "active") return;
          [theirs] = transition(reference, theirs, { type }) as [AnyMachineSnapshot, unknown];
          ours = macrostep(machine, ours, { kind: "event", type }, { at: 0, seq: index + 2 }).snapshot;
          compare(type);
          steps++;
        });
      },
    ),
    { numRuns: 150 },
  );
  expect(steps).toBeGreaterThan(300);
});
