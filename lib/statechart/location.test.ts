import { expect, test } from "vitest";
import { EvaluationFailure } from "./cel/evaluation-failure";
import { formatLocation, parseLocation, readAt, writeAt } from "./location";

test.each([
  ["zone", ["zone"]],
  ["zone.eta", ["zone", "eta"]],
  ["rows[2].qty", ["rows", 2, "qty"]],
  ['a["odd key"].b', ["a", "odd key", "b"]],
  ["a['x'][0]", ["a", "x", 0]],
  ["a['say \"x\"']", ["a", 'say "x"']],
  ["größe.x_1", ["größe", "x_1"]],
])("%s is a location, and formats back", (text, path) => {
  const parsed = parseLocation(text);
  expect(parsed).toEqual(path);
  expect(parseLocation(formatLocation(parsed ?? []))).toEqual(path);
});

test.each([
  "",
  " ",
  "a b",
  ".a",
  "a.",
  "a..b",
  "[0]",
  "a[x]",
  "a[-1]",
  "a[",
  "1a",
  "a.__proto__",
  "__proto__",
  "_event",
  "_x.y",
  "a + b",
])("%j is not", (text) => {
  expect(parseLocation(text)).toBeNull();
});

test("writing shares everything beside the path", () => {
  const before = { a: { b: [1, { c: 2 }] }, d: { e: 1 } };
  const after = writeAt(before, ["a", "b", 1, "c"], 3);
  expect(after).toEqual({ a: { b: [1, { c: 3 }] }, d: { e: 1 } });
  expect(before).toEqual({ a: { b: [1, { c: 2 }] }, d: { e: 1 } });
  expect(after.d).toBe(before.d);
});

test("undefined removes", () => {
  expect(writeAt({ a: 1, b: 2 }, ["a"], undefined)).toEqual({ b: 2 });
  expect(writeAt([1, 2, 3], [1], undefined)).toEqual([1, 3]);
});

test.each([
  [["a", "b", "c"], "there is no a.b to write into"],
  [["n", "x"], "n is a number, so there is no n.x to write"],
  [["l", 5], "there is no l[5]: the list has 1 items"],
  [["l", "x"], "there is no l.x: the list has 1 items"],
])("a missing parent at %j says so", (path, message) => {
  const write = (): unknown => writeAt({ a: {}, n: 1, l: [0] }, path as [string], 1);
  expect(write).toThrow(EvaluationFailure);
  expect(write).toThrow(message);
});

test("inherited properties are not there", () => {
  expect(readAt({}, ["constructor"])).toBeUndefined();
  expect(() => writeAt({}, ["constructor", "x"], 1)).toThrow(EvaluationFailure);
});
