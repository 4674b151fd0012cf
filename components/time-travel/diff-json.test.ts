import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "@/lib/base/json";
import { canonicalJson } from "@/lib/base/canonical";
import { diffJson } from "./diff-json";

test("names changed, added and removed places as the chart writes them", () => {
  const { lines, more } = diffJson(
    { zone: { eta: "14:08", id: "Z-14" }, rows: [1, 2], "odd key": 1 },
    { zone: { eta: null, id: "Z-14" }, rows: [1, 3, 4], waitingSince: 5 },
  );
  expect(more).toBe(false);
  expect(lines).toEqual([
    { path: "zone.eta", before: "14:08", after: null },
    { path: "rows[1]", before: 2, after: 3 },
    { path: "rows[2]", after: 4 },
    { path: '["odd key"]', before: 1 },
    { path: "waitingSince", after: 5 },
  ]);
});

test("no line exactly when the values are equal", () => {
  const value = fc.jsonValue() as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(diffJson(a, a).lines).toEqual([]);
      expect(diffJson(a, b).lines.length === 0).toBe(canonicalJson(a) === canonicalJson(b));
    }),
  );
});

test("a huge difference is cut and says so", () => {
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`k${index}`, index]));
  const { lines, more } = diffJson({}, many);
  expect(lines).toHaveLength(500);
  expect(more).toBe(true);
});
