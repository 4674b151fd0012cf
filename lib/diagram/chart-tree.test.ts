import fc from "fast-check";
import { expect, test } from "vitest";
import type { Chart, StateNode } from "@/lib/statechart/document";
import { readMachine } from "@/lib/statechart/read-machine";
import { chartTree, initialTargets, resolveInside } from "./chart-tree";

const key = fc.constantFrom("a", "b", "c", "10", "2", "a.b", "x y");
const target = fc.constantFrom(
  "a",
  "b",
  ".a",
  ".b.c",
  "#a",
  "#a.b",
  "#root",
  "#root.a",
  "#id1",
  "#id1.a",
  "a.b",
  "c.10",
  "#a.b.c",
  "nowhere",
);
const { state } = fc.letrec<{ state: StateNode }>((tie) => ({
  state: fc.record(
    {
      id: fc.constantFrom("id1", "id2", "a.b"),
      order: fc.integer({ min: -2, max: 5 }),
      type: fc.constantFrom("parallel", "final", "history"),
      initial: target,
      target,
      states: fc.dictionary(
        key,
        fc.oneof({ depthSize: "small", maxDepth: 3 }, fc.constant({}), tie("state")),
        { maxKeys: 3 },
      ),
      on: fc.dictionary(
        fc.constantFrom("e", "f"),
        fc.oneof(target, fc.array(fc.record({ target, guard: fc.constant("x") }), { maxLength: 2 })),
      ),
      after: fc.dictionary(fc.constantFrom("5s", "100"), target),
      always: target,
    },
    { requiredKeys: [] },
  ),
}));

test("names, order, transition addresses and targets are the engine's, for any chart whose names differ", () => {
  fc.assert(
    fc.property(state, fc.option(fc.constant("root"), { nil: undefined }), (node, id) => {
      const { id: _id, type: _type, ...rest } = node;
      const chart: Chart = { lockstep: 1, ...rest, ...(id === undefined ? {} : { id }) };
      const machine = readMachine(chart);
      const tree = chartTree(chart);
      // Of two states with one name each reader keeps the first; the engine refuses such a chart.
      fc.pre(!machine.problems.some((problem) => problem.code.includes("name")));
      expect(tree.states.map((item) => item.name)).toEqual(machine.ordered.map((item) => item.name));
      expect(tree.states.map((item) => item.kind)).toEqual(machine.ordered.map((item) => item.type));
      const mine = new Map(
        tree.transitions.map((item) => [item.id, item.targets.flatMap(({ state: to }) => to?.name ?? [])]),
      );
      const theirs = new Map(
        [...machine.transitions].map(([at, item]) => [at, (item.targets ?? []).map((to) => to.name)]),
      );
      expect(Object.fromEntries(mine)).toEqual(Object.fromEntries(theirs));
      for (const item of machine.ordered) {
        const own = tree.byName.get(item.name);
        if (item.type !== "compound" || !own || !item.initial) continue;
        const starts = initialTargets(own.node.initial).flatMap(
          (text) => resolveInside(tree, own, text)?.name ?? [],
        );
        // The engine leaves out those that aren't inside; the drawing shows where they lead.
        for (const to of item.initial.targets) expect(starts).toContain(to.name);
      }
    }),
    { numRuns: 500 },
  );
});
