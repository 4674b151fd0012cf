import { expect, test } from "vitest";
import { chartTree } from "@/lib/diagram/chart-tree";
import type { Chart } from "@/lib/statechart/document";
import type { Candidate, Microstep } from "@/lib/statechart/trace";
import { marksAt } from "./marks-at";

const chart: Chart = {
  lockstep: 1,
  initial: "idle",
  states: {
    idle: { id: "idle", on: { GO: "work" } },
    work: {
      id: "work",
      type: "parallel",
      states: {
        drive: {
          id: "drive",
          initial: "lifting",
          states: {
            lifting: { id: "lifting", on: { ARRIVED: [{ target: "lowering", guard: "free" }, "waiting"] } },
            lowering: { id: "lowering" },
            waiting: { id: "waiting" },
          },
        },
        battery: { id: "battery", initial: "normal", states: { normal: { id: "normal" } } },
      },
    },
  },
};
const tree = chartTree(chart);
const step = (over: Partial<Microstep>): Microstep => ({
  index: 1,
  event: { type: "ARRIVED" },
  candidates: [],
  taken: [],
  exited: [],
  entered: [],
  actions: [],
  changes: [],
  ...over,
});
const candidate = (over: Partial<Candidate>): Candidate => ({
  atomic: "lifting",
  transition: "lifting#on/ARRIVED/0",
  guard: "free",
  verdict: "false",
  reads: [],
  selected: false,
  ...over,
});

test("active are the configuration and every state around it, never the root", () => {
  expect(marksAt(tree, ["lifting", "normal"], null)).toEqual({
    states: {
      lifting: { active: true },
      drive: { active: true },
      work: { active: true },
      normal: { active: true },
      battery: { active: true },
    },
    transitions: {},
  });
});

test("a refused candidate, the taken one, what was left and what was entered", () => {
  const microsteps = [
    step({
      candidates: [
        candidate({}),
        candidate({ transition: "lifting#on/ARRIVED/1", guard: null, verdict: "true", selected: true }),
      ],
      taken: ["lifting#on/ARRIVED/1"],
      exited: ["lifting"],
      entered: ["waiting"],
    }),
  ];
  const marks = marksAt(tree, ["waiting", "normal"], {
    outcome: "moved",
    exited: ["lifting"],
    entered: ["waiting"],
    microsteps,
  });
  expect(marks.transitions).toEqual({
    "lifting#on/ARRIVED/0": { refused: "false" },
    "lifting#on/ARRIVED/1": { taken: true },
  });
  expect(marks.states["lifting"]).toEqual({ exited: true });
  expect(marks.states["waiting"]).toEqual({ active: true, entered: true });
  expect(marks.states["normal"]).toEqual({ active: true });
});

test("a state passed through is exited, a state left and entered again is entered", () => {
  const marks = marksAt(tree, ["lifting", "normal"], {
    outcome: "moved",
    exited: ["lifting", "waiting"],
    entered: ["waiting", "lifting"],
    microsteps: [],
  });
  expect(marks.states["waiting"]).toEqual({ exited: true });
  expect(marks.states["lifting"]).toEqual({ active: true, entered: true });
});

test("an ignored event marks the state whose guards said no, and not its neighbour", () => {
  const marks = marksAt(tree, ["lifting", "normal"], {
    outcome: "ignored",
    exited: [],
    entered: [],
    microsteps: [step({ candidates: [candidate({})] })],
  });
  expect(marks.states["lifting"]).toEqual({ active: true, ignored: true });
  expect(marks.states["normal"]).toEqual({ active: true });
});

test("an event without any handler is ignored by every active state", () => {
  const marks = marksAt(tree, ["lifting", "normal"], {
    outcome: "ignored",
    exited: [],
    entered: [],
    microsteps: [step({})],
  });
  expect(marks.states["lifting"]?.ignored).toBe(true);
  expect(marks.states["normal"]?.ignored).toBe(true);
});

test("taken wins over refused when a later microstep takes what an earlier one refused", () => {
  const marks = marksAt(tree, ["lowering", "normal"], {
    outcome: "moved",
    exited: ["lifting"],
    entered: ["lowering"],
    microsteps: [
      step({ candidates: [candidate({})] }),
      step({
        index: 2,
        taken: ["lifting#on/ARRIVED/0"],
        candidates: [candidate({ verdict: "true", selected: true })],
      }),
    ],
  });
  expect(marks.transitions["lifting#on/ARRIVED/0"]).toEqual({ taken: true });
});

test("a failed step marks the state whose action failed", () => {
  const marks = marksAt(tree, ["lifting", "normal"], {
    outcome: "failed",
    exited: [],
    entered: [],
    microsteps: [
      step({ actions: [{ state: "drive", block: "entry", text: "assign x", error: "no such key" }] }),
    ],
  });
  expect(marks.states["drive"]).toEqual({ active: true, failed: true });
  expect(marks.states["lifting"]).toEqual({ active: true });
});

test("a state this version does not know is kept by name and disturbs nothing", () => {
  expect(marksAt(tree, ["gone", "normal"], null).states["gone"]).toEqual({ active: true });
});
