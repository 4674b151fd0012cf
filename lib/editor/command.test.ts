import fc from "fast-check";
import { expect, test } from "vitest";
import { chartTree, initialTargets, resolveInside } from "@/lib/diagram/chart-tree";
import { isComplete } from "@/lib/diagram/complete-layout";
import { emptyLayout } from "@/lib/diagram/layout";
import { guessWidth } from "@/lib/diagram/measure";
import { buildScene } from "@/lib/diagram/scene";
import type { Chart } from "@/lib/statechart/document";
import { validateChart } from "@/lib/statechart/validate";
import { applyCommand, type Command } from "./command";
import { isRefusal, type EditorDocument } from "./document";
import { record, redo, startHistory, undo } from "./history";

const context = { measure: guessWidth };
const start = (chart: Chart): EditorDocument => ({ chart, layout: emptyLayout });

function run(document: EditorDocument, ...commands: Command[]): EditorDocument {
  return commands.reduce((current, command) => {
    const outcome = applyCommand(current, command, context);
    if (isRefusal(outcome)) throw new Error(`refused: ${outcome.refused}`);
    return outcome.document;
  }, document);
}

const order: Chart = {
  lockstep: 1,
  initial: "cart",
  states: {
    cart: { on: { pay: [{ target: "paid", guard: "In('cart') && !In(\"shop.open\")" }, "shop.open"] } },
    shop: {
      initial: "open",
      states: {
        open: { on: { close: "closed" } },
        closed: { on: { back: { target: "#cart" } } },
        h: { type: "history", target: "open" },
      },
      on: { reset: ".open", "done.state.shop": "cart" },
    },
    paid: { always: { target: "shop.h", guard: { in: "shop.open" } } },
  },
};

test("the first child of a parent becomes its initial state", () => {
  const { chart } = run(
    start({ lockstep: 1 }),
    { do: "add-state", parent: "", key: "a" },
    { do: "add-state", parent: "a", key: "b" },
  );
  expect(chart).toEqual({ lockstep: 1, initial: "a", states: { a: { initial: "b", states: { b: {} } } } });
});

test("a rename rewrites every reference: targets, initial, history, in, In(), done.state", () => {
  const { chart } = run(
    start(order),
    { do: "rename-state", state: "shop.open", key: "ready" },
    { do: "rename-state", state: "shop", key: "store" },
    { do: "rename-state", state: "cart", key: "basket" },
  );
  expect(chart).toEqual({
    lockstep: 1,
    initial: "basket",
    states: {
      basket: {
        on: { pay: [{ target: "paid", guard: "In('basket') && !In('store.ready')" }, "store.ready"] },
      },
      store: {
        initial: "ready",
        states: {
          ready: { on: { close: "closed" } },
          closed: { on: { back: { target: "#basket" } } },
          h: { type: "history", target: "ready" },
        },
        on: { reset: ".ready", "done.state.store": "basket" },
      },
      paid: { always: { target: "store.h", guard: { in: "store.ready" } } },
    },
  });
});

test("a move into another parent keeps what each transition means", () => {
  const document = run(start(order), { do: "reparent-states", states: ["paid"], parent: "shop" });
  const { transitions } = chartTree(document.chart);
  const ends = Object.fromEntries(
    transitions.map((item) => [item.id, item.targets.map((target) => target.state?.name)]),
  );
  expect(ends["cart#on/pay/0"]).toEqual(["shop.paid"]);
  expect(ends["shop.paid#always/0"]).toEqual(["shop.h"]);
});

test("a rename to a sibling's name is refused and changes nothing", () => {
  const outcome = applyCommand(start(order), { do: "rename-state", state: "paid", key: "cart" }, context);
  expect(outcome).toEqual({ refused: "The chart already has a state cart: choose another name." });
});

test("deleting a state takes its transitions, incoming ones too, and finds a new initial", () => {
  const outcome = applyCommand(start(order), { do: "delete", states: ["cart"], transitions: [] }, context);
  if (isRefusal(outcome)) throw new Error(outcome.refused);
  expect(outcome.document.chart.initial).toBe("shop");
  // Two that left it, two that led to it.
  expect(outcome.removedTransitions).toBe(4);
  expect(
    chartTree(outcome.document.chart).transitions.every((item) => item.targets.every(({ state }) => state)),
  ).toBe(true);
});

test("editing a label keeps what the label does not show", () => {
  const chart: Chart = {
    lockstep: 1,
    initial: "a",
    states: {
      a: {
        on: {
          go: {
            target: "b",
            guard: { type: "fits", params: { limit: 5 } },
            actions: [{ assign: { x: "1", y: "2" } }, { send: { type: "PING", to: "yard" } }, "note"],
            description: "kept",
          },
        },
      },
      b: {},
    },
  };
  const edited = run(start(chart), {
    do: "set-label",
    transition: "a#on/go/0",
    text: "start [fits(limit: 5)] / note, send PING, assign x +1",
  });
  // The printed guard is `fits({limit:5})`; another text makes it CEL. Actions keep their JSON, reordered.
  const spec = edited.chart.states?.a?.on?.start;
  expect(spec).toMatchObject({
    description: "kept",
    actions: ["note", { send: { type: "PING", to: "yard" } }, { assign: { x: "1", y: "2" } }],
  });
  const untouched = run(start(chart), {
    do: "set-label",
    transition: "a#on/go/0",
    text: "run [fits({limit:5})] / assign x +1, send PING, note",
  });
  expect(untouched.chart.states?.a?.on?.run).toEqual(chart.states?.a?.on?.go);
});

test("a transition can't start by a key that no document can hold", () => {
  const refused = { refused: 'the key "__proto__" is not allowed' };
  const transition = "shop.open#on/close/0";
  const of = (command: Command) => applyCommand(start(order), command, context);
  expect(of({ do: "set-label", transition, text: "__proto__" })).toEqual(refused);
  expect(
    of({ do: "edit-transition", transition, patch: { when: { kind: "event", event: "__proto__" } } }),
  ).toEqual(refused);
  expect(
    of({ do: "edit-transition", transition, patch: { when: { kind: "after", delay: "__proto__" } } }),
  ).toEqual(refused);
});

test("digit-like keys keep their place by order", () => {
  const { chart } = run(
    start({ lockstep: 1 }),
    { do: "add-state", parent: "", key: "z" },
    { do: "add-state", parent: "", key: "10" },
    { do: "add-state", parent: "", key: "2" },
  );
  expect(chartTree(chart).root.children.map((child) => child.key)).toEqual(["z", "10", "2"]);
  expect(chart.initial).toBe("z");
});

// --- any sequence of commands

/** A step names elements by number, so that it fits whatever the chart has become. */
const step = fc.record({
  kind: fc.constantFrom(
    "add",
    "add",
    "add",
    "connect",
    "connect",
    "rename",
    "move",
    "drag",
    "delete",
    "kind",
    "initial",
    "label",
    "remove",
    "collapse",
    "order",
    "retarget",
  ),
  a: fc.nat(1000),
  b: fc.nat(1000),
  text: fc.constantFrom("x", "y", "go", "10", "2", "A B", "it's", "paid"),
});
type RandomStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

function commandFor({ chart, layout }: EditorDocument, { kind, a, b, text }: RandomStep): Command | null {
  const tree = chartTree(chart);
  const any = tree.states[a % tree.states.length];
  const other = tree.states[b % tree.states.length];
  const transition = tree.transitions[a % Math.max(1, tree.transitions.length)];
  const kinds = ["atomic", "compound", "parallel", "final", "history", "deep-history"] as const;
  if (!any || !other) return null;
  switch (kind) {
    case "add":
      return {
        do: "add-state",
        parent: any.name,
        key: text,
        ...(b % 2 ? { kind: kinds[b % 6] ?? "atomic" } : { at: { x: a, y: b } }),
      };
    case "connect":
      return { do: "add-transition", source: any.name, target: b % 5 === 0 ? null : other.name };
    case "rename":
      return { do: "rename-state", state: any.name, key: text };
    case "move":
      return { do: "reparent-states", states: [any.name], parent: other.name };
    case "drag":
      return layout.states[any.name] ? { do: "move-states", places: { [any.name]: { x: a, y: b } } } : null;
    case "delete":
      return b % 3 === 0 && any.parent ? { do: "delete", states: [any.name], transitions: [] } : null;
    case "kind":
      return { do: "set-kind", state: any.name, kind: kinds[b % 6] ?? "atomic" };
    case "initial":
      return { do: "set-initial", state: any.name };
    case "collapse":
      return { do: "toggle-collapsed", state: any.name };
    case "label":
      return transition
        ? {
            do: "set-label",
            transition: transition.id,
            text:
              [
                `${text.replace(" ", "")} [In('${other.name.replaceAll("'", "")}')] / note, send PING`,
                "after 5s",
                "always [true]",
                "done / log 1",
              ][b % 4] ?? "x",
          }
        : null;
    case "remove":
      return transition ? { do: "delete", states: [], transitions: [transition.id] } : null;
    case "order":
      return transition ? { do: "move-candidate", transition: transition.id, to: b % 3 } : null;
    case "retarget":
      return transition
        ? {
            do: "edit-transition",
            transition: transition.id,
            patch: { target: other.name, guard: b % 2 ? "context.n > 1" : null },
          }
        : null;
  }
}

test("any sequence of commands keeps the chart valid, its references whole and its layout complete; undo restores exactly", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      let history = startHistory(start({ lockstep: 1 }));
      const trail = [history.present.document];
      for (const item of steps) {
        const before = history.present.document;
        const command = commandFor(before, item);
        if (!command) continue;
        const frozen = JSON.stringify(before);
        const outcome = applyCommand(before, command, context);
        expect(JSON.stringify(before)).toBe(frozen);
        if (isRefusal(outcome) || outcome.document === before) continue;
        history = record(history, { document: outcome.document, selection: [] }, { at: 0 });
        trail.push(outcome.document);
        const { chart, layout } = outcome.document;
        expect(validateChart(JSON.parse(JSON.stringify(chart))).diagnostics, JSON.stringify(command)).toEqual(
          [],
        );
        const tree = chartTree(chart);
        for (const transition of tree.transitions) {
          for (const target of transition.targets)
            expect(
              target.state,
              `${transition.id} → ${target.text} after ${JSON.stringify(command)}`,
            ).not.toBeNull();
        }
        for (const state of tree.states) {
          const inner = state.children.filter((child) => child.kind !== "history");
          if (state.kind === "compound" && inner.length > 0) {
            const starts = initialTargets(state.node.initial).map((text) => resolveInside(tree, state, text));
            expect(
              starts.length,
              `initial of ${state.name} after ${JSON.stringify(command)}`,
            ).toBeGreaterThan(0);
            for (const to of starts) expect(to && to !== state).toBeTruthy();
          }
        }
        const collapsed = new Set(
          Object.entries(layout.states).flatMap(([name, box]) => (box.collapsed ? [name] : [])),
        );
        expect(isComplete(buildScene(chart, { collapsed }), layout), JSON.stringify(command)).toBe(true);
      }
      for (const document of [...trail].reverse().slice(1)) {
        history = undo(history);
        expect(history.present.document).toBe(document);
      }
      for (const document of trail.slice(1)) {
        history = redo(history);
        expect(history.present.document).toBe(document);
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 300) },
  );
});

test("a command that changes names alone changes no meaning: renaming twice comes back to the same chart", () => {
  const there = run(start(order), { do: "rename-state", state: "shop", key: "x" });
  const back = run(there, { do: "rename-state", state: "x", key: "shop" });
  expect(back.chart).toEqual({
    ...order,
    states: {
      ...order.states,
      cart: { on: { pay: [{ target: "paid", guard: "In('cart') && !In('shop.open')" }, "shop.open"] } },
    },
  });
});
