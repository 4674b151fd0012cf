/** What is no JSON is found where it is; what has no fault is what JSON makes of it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical";
import type { Json } from "./json";
import { findJsonFault } from "./json-fault";

class Money {
  constructor(readonly cents: number) {}
}
const itself: unknown[] = [];
itself.push(itself);
/** The hole is what is tested. */
const holed = [1, , 2];
const faults: [unknown, string, string | null][] = [
  [{ a: new Date(0) }, ".a", "a Date"],
  [{ a: [1, { b: new Money(5) }] }, ".a.1.b", "a Money"],
  [{ a: { toJSON: () => 1 } }, ".a", "an object with toJSON"],
  [{ a: holed }, ".a.1", "undefined"],
  [[undefined], ".0", "undefined"],
  [{ n: 1n }, ".n", "a bigint"],
  [Number.NaN, "", "NaN"],
  [{ n: -Infinity }, ".n", "-Infinity"],
  [{ f: () => 1 }, ".f", "a function"],
  [{ s: Symbol("s") }, ".s", "a symbol"],
  [new Map([[1, 2]]), "", "a Map"],
  [Object.assign([1], { toJSON: () => 2 }), "", "an array with toJSON"],
  [[[[[1]]]], ".0.0.0.0", null],
  [itself, ".0.0.0.0", null],
];

test("a value outside JSON is found by its path, and so is what is nested too deep", () => {
  for (const [value, path, found] of faults) expect(findJsonFault(value, 3)).toEqual({ path, found });
});

test("a value outside JSON has no canonical text", () => {
  for (const [value, , found] of faults) {
    if (found === null || found.includes("toJSON")) continue;
    expect(() => canonicalJson(value as Json), found).toThrow(TypeError);
  }
});

test("I5: what has no fault comes back from its text as it was, and has that text's hash", () => {
  fc.assert(
    fc.property(
      fc.anything({ withNullPrototype: true, withSparseArray: true, withDate: true, withBigInt: true }),
      (value) => {
        if (findJsonFault(value, 100) !== null) return;
        const back = JSON.parse(JSON.stringify(value)) as Json;
        expect(findJsonFault(back, 100)).toBeNull();
        expect(canonicalJson(back)).toBe(canonicalJson(value as Json));
      },
    ),
  );
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(findJsonFault(value, 100)).toBeNull();
    }),
  );
});
