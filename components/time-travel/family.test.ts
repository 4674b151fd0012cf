import { expect, test } from "vitest";
import type { TaskView } from "@/lib/contract/tasks";
import { chartTree } from "@/lib/diagram/chart-tree";
import { asksForChildren, doneWords, familiesOf, familyWords, recount, type Family } from "./family";

const task = (over: Partial<TaskView>): TaskView => ({
  instanceId: "p",
  taskId: "1:legs",
  invokeId: "legs",
  generation: 1,
  state: "moving",
  kind: "each",
  type: "each",
  status: "running",
  input: { chart: "leg" },
  priority: 0,
  attempt: 1,
  attemptsMax: 1,
  readyAt: 0,
  waits: null,
  worker: null,
  leaseUntil: null,
  attemptUntil: null,
  dueAt: null,
  progress: { total: 10_000, started: 9_515, succeeded: 9_412, failed: 3 },
  concurrencyKey: null,
  result: null,
  error: null,
  createdAt: 0,
  startedAt: 0,
  updatedAt: 0,
  endedAt: null,
  ...over,
});
const wordsOf = (over: Partial<TaskView>) => familiesOf([task(over)]).map(familyWords);

test("a family of 10,000 in words: what is not there is not said", () => {
  expect(wordsOf({})).toEqual(["9,412 of 10,000 succeeded · 3 failed · 100 running · 485 not begun yet"]);
  expect(wordsOf({ status: "succeeded" })).toEqual([
    "9,412 of 10,000 succeeded · 3 failed · 100 ended early · 485 never begun",
  ]);
  expect(wordsOf({ progress: { total: 0, started: 0, succeeded: 0, failed: 0 } })).toEqual(["no items"]);
  expect(wordsOf({ progress: null, status: "failed" })).toEqual(["no items"]);
});

test("an invocation of chart is a family of one; other tasks are none", () => {
  const one: Partial<TaskView> = { kind: "chart", progress: { instanceId: "c" } };
  expect(wordsOf(one)).toEqual(["1 running"]);
  expect(wordsOf({ ...one, progress: null })).toEqual(["1 not begun yet"]);
  expect(wordsOf({ ...one, status: "succeeded" })).toEqual(["1 succeeded"]);
  expect(wordsOf({ ...one, status: "cancelled" })).toEqual(["1 ended early"]);
  expect(familiesOf([task({ kind: "http" }), task({ kind: "lock" })])).toEqual([]);
});

test("the parts of a family add up to its total, also when it is counted again", () => {
  const sum = ({ running, succeeded, failed, ended, waiting }: ReturnType<typeof recount>) =>
    running + succeeded + failed + ended + waiting;
  const [family] = familiesOf([task({})]);
  if (!family) throw new Error("a family");
  expect(sum(family)).toBe(10_000);
  const later = recount(family, { running: 90, succeeded: 9_420, failed: 4, cancelled: 1, orphan: 2 });
  expect(sum(later)).toBe(10_000);
  expect(familyWords(later)).toBe(
    "9,420 of 10,000 succeeded · 4 failed · 90 running · 3 ended early · 483 not begun yet",
  );
  expect(recount(family, { running: 0, succeeded: 0, failed: 0, cancelled: 0, orphan: 0 })).toBe(family);
});

test("charts that invoke chart or each ask for children, others do not", () => {
  const withInvoke = (src: string) =>
    chartTree({ lockstep: 1, initial: "a", states: { a: { invoke: [{ src: "http" }, { src }] } } });
  expect(asksForChildren(withInvoke("each"))).toBe(true);
  expect(asksForChildren(withInvoke("chart"))).toBe(true);
  expect(asksForChildren(withInvoke("charge"))).toBe(false);
});

test("a child is done however it ended; a family of none yet is not counted", () => {
  const family = { total: 40, succeeded: 9, failed: 1, ended: 1 } as Family;
  expect(doneWords(family)).toBe("11 of 40 children done");
  expect(doneWords({ ...family, total: 1, succeeded: 0, failed: 0, ended: 0 })).toBe("0 of 1 child done");
  expect(doneWords({ ...family, total: 0 })).toBeNull();
});
