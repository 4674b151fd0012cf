import { expect, test } from "vitest";
import { readWorkerOptions } from "./worker-options";

test("a worker's flags say its share, its slots and how its claims are divided", () => {
  expect(readWorkerOptions([])).toEqual({});
  expect(
    readWorkerOptions([
      ...["--partitions", "0-31", "--slots", "12"],
      ...["--high-ratio", "0.95", "--priority-threshold", "3"],
    ]),
  ).toEqual({ partitions: { from: 0, to: 31 }, slots: 12, highRatio: 0.95, priorityThreshold: 3 });
  expect(readWorkerOptions(["--partitions", "7"])).toEqual({ partitions: { from: 7, to: 7 } });
});

test.each([
  [["--slots", "0"], "--slots must be a whole number from 1 to 1000, not 0."],
  [["--slots", "four"], "--slots must be a whole number from 1 to 1000, not four."],
  [["--high-ratio", "1.5"], "--high-ratio must be a number from 0 to 1, as 0.8, not 1.5."],
  [["--priority-threshold", "5"], "--priority-threshold must be a whole number from 0 to 4, not 5."],
  [["--partitions", "9-3"], "--partitions must be two numbers from 0 to 63, as 0-31, not 9-3."],
])("a wrong flag is refused with what would do: %j", (args, message) => {
  expect(() => readWorkerOptions(args)).toThrow(message);
});

test("a flag that is none is refused", () => {
  expect(() => readWorkerOptions(["--slot", "4"])).toThrow(/--slot/);
});
