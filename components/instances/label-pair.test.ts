import { expect, test } from "vitest";
import { labelPair } from "./label-pair";

test("key and value become the filter that finds them, a colon in the key included, and come back", () => {
  const written = labelPair.write("team:a", "x:y");
  expect(written).toBe(String.raw`team\:a:x:y`);
  expect(labelPair.read(written)).toEqual(["team:a", "x:y"]);
  expect(labelPair.write("note", "")).toBe("note:");
});

test("who types key:value into one field is understood, also when it is escaped", () => {
  expect(labelPair.write("", "site:north")).toBe("site:north");
  expect(labelPair.write("site:north", "")).toBe("site:north");
  expect(labelPair.write("", String.raw`team\:a:x`)).toBe(String.raw`team\:a:x`);
  expect(labelPair.read("north")).toEqual(["", "north"]);
});
