import { expect, test } from "vitest";
import { emptyLayout } from "@/lib/diagram/layout";
import { coalesceMs, record, redo, startHistory, undo } from "./history";

const step = (initial: string) => ({
  document: { chart: { lockstep: 1 as const, initial }, layout: emptyLayout },
  selection: [],
});

test("typing into one field is one step until a pause", () => {
  let history = startHistory(step("").document);
  history = record(history, step("a"), { key: "guard", at: 0 });
  history = record(history, step("ab"), { key: "guard", at: 100 });
  history = record(history, step("abc"), { key: "guard", at: 200 + coalesceMs });
  expect(history.past).toHaveLength(2);
  history = undo(history);
  expect(history.present.document.chart.initial).toBe("ab");
  history = undo(history);
  expect(history.present.document.chart.initial).toBe("");
});

test("another field or a gesture starts a new step, and ends what could be redone", () => {
  let history = startHistory(step("").document);
  history = record(history, step("a"), { key: "guard", at: 0 });
  history = record(history, step("b"), { key: "target", at: 1 });
  history = record(history, step("c"), { at: 2 });
  expect(history.past).toHaveLength(3);
  history = record(undo(history), step("d"), { at: 3 });
  expect(redo(history)).toBe(history);
});
