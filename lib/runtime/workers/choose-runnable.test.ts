import { expect, test } from "vitest";
import type { Runnable } from "@/lib/store/instances";
import { chooseRunnable, fairnessDefault } from "./choose-runnable";

const now = 10_000_000;
/** One that began to wait `waitedMs` ago. */
const runnable = (id: string, priority: number, waitedMs: number, servedMsAgo: number): Runnable => ({
  id,
  rank: now - waitedMs - priority * 60_000,
  servedAt: now - servedMsAgo,
});

test("a claim of the urgent takes high priority and long waits first, then who was served least recently", () => {
  const found = [
    runnable("normal-just-served", 0, 10, 1),
    runnable("normal-long-unserved", 0, 10, 900),
    runnable("high", 3, 5, 2),
    runnable("waited-three-minutes", 0, 180_000, 180_000),
  ];
  expect(chooseRunnable(found, now, 0.5, fairnessDefault)).toEqual([
    "high",
    "waited-three-minutes",
    "normal-long-unserved",
    "normal-just-served",
  ]);
});

test("any other claim goes by service alone, so that a stream of urgent ones leaves room for the rest", () => {
  const found = [runnable("high", 4, 5, 2), runnable("low", 0, 5, 50)];
  expect(chooseRunnable(found, now, 0.9, fairnessDefault)).toEqual(["low", "high"]);
  expect(chooseRunnable(found, now, 0.1, fairnessDefault)).toEqual(["high", "low"]);
});

test("the share of the urgent, and who is urgent, are the worker's to say", () => {
  const found = [runnable("high", 3, 5, 2), runnable("low", 0, 5, 50)];
  const first = (roll: number, over: object) =>
    chooseRunnable(found, now, roll, { ...fairnessDefault, ...over });
  expect(first(0.9, { highRatio: 1 })).toEqual(["high", "low"]);
  expect(first(0, { highRatio: 0 })).toEqual(["low", "high"]);
  expect(first(0.1, { priorityThreshold: 4 })).toEqual(["low", "high"]);
});
