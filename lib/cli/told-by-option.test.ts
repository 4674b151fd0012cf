import { expect, test } from "vitest";
import { LockstepError } from "@/lib/base/errors";
import { toldByOption } from "./told-by-option";

const told = (message: string, fields: string[], names = {}) => {
  const issues = fields.map((field) => ({ field, message: "" }));
  const details = { field: fields[0] ?? "", issues };
  return toldByOption(new LockstepError("bad-request", message, { details }), names);
};

test("a field is told as its option, wherever the API has it", () => {
  expect(told("body.expectedSeq: Too small.", ["body.expectedSeq"])).toBe("--expected-seq: Too small.");
  expect(told("query.status: Invalid option.", ["query.status"])).toBe("--status: Invalid option.");
  expect(told("Idempotency-Key: Too big.", ["Idempotency-Key"])).toBe("--idempotency-key: Too big.");
  expect(told("body.seq: Too small; body.priority: Too big.", ["body.seq", "body.priority"])).toBe(
    "--seq: Too small; --priority: Too big.",
  );
});

test("a field that is called otherwise, or is a word of the call, is told so; what is within it stays", () => {
  const names = { chartId: "--chart", "body.chartId": "CHART", "path.key": "KEY", labels: "--label" };
  expect(told("query.chartId: bad.", ["query.chartId"], names)).toBe("--chart: bad.");
  expect(told("body.chartId: bad.", ["body.chartId"], names)).toBe("CHART: bad.");
  expect(told("path.key: bad.", ["path.key"], names)).toBe("KEY: bad.");
  expect(told("body.fences.0.key: bad.", ["body.fences.0.key"], names)).toBe("--fences.0.key: bad.");
  expect(told("body.action.labels.site: bad.", ["body.action.labels.site"], names)).toBe(
    "--label.site: bad.",
  );
  const inFilter = "body.selection.filter.chartId";
  expect(told(`${inFilter}: bad.`, [inFilter], names)).toBe("--chart: bad.");
});

test("only what names a field is told otherwise: values and the sentence stay", () => {
  expect(told("to (A) must be later: come to B; to begin, wait.", ["to"])).toBe(
    "--to (A) must be later: come to B; --to begin, wait.",
  );
  expect(told("There is no instance expectedSeq.", [])).toBe("There is no instance expectedSeq.");
  expect(told("input.total is NaN.", ["input.total"])).toBe("--input.total is NaN.");
  expect(told("inputs: bad.", ["input"])).toBe("inputs: bad.");
});
