import { expect, test } from "vitest";
import { chartTree } from "@/lib/diagram/chart-tree";
import { stateLanes } from "./state-lanes";

const tree = chartTree({
  lockstep: 1,
  initial: "idle",
  states: {
    idle: { id: "idle" },
    work: {
      id: "work",
      type: "parallel",
      states: {
        drive: { id: "drive", states: { lifting: { id: "lifting" }, waiting: { id: "waiting" } } },
        battery: { id: "battery", states: { normal: { id: "normal" }, low: { id: "low" } } },
      },
    },
  },
});
const entries = [
  { exited: [], entered: ["idle"] },
  { exited: ["idle"], entered: ["work", "drive", "lifting", "battery", "normal"] },
  { exited: [], entered: [] },
  { exited: ["lifting"], entered: ["waiting"] },
  // Left and entered again: still waiting.
  { exited: ["waiting"], entered: ["waiting"] },
  { exited: ["normal"], entered: ["low"] },
];
const expected = [
  {
    label: "drive",
    spans: [
      { state: "idle", from: 0, to: 1 },
      { state: "lifting", from: 1, to: 3 },
      { state: "waiting", from: 3, to: 6 },
    ],
  },
  {
    label: "battery",
    spans: [
      { state: "normal", from: 1, to: 5 },
      { state: "low", from: 5, to: 6 },
    ],
  },
];

test.each([
  [0, ["idle"]],
  [2, ["lifting", "normal"]],
  [5, ["waiting", "low"]],
])("known at entry %i, the lanes are the same", (anchor, known) => {
  expect(stateLanes(tree, entries, anchor, known)).toEqual(expected);
});

test("a chart without regions has one lane", () => {
  const flat = chartTree({ lockstep: 1, states: { a: { id: "a" }, b: { id: "b" } } });
  expect(stateLanes(flat, [{ exited: ["a"], entered: ["b"] }], 0, ["b"])).toEqual([
    { label: "State", spans: [{ state: "b", from: 0, to: 1 }] },
  ]);
});
