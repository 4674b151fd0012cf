import fc from "fast-check";
import { expect, test } from "vitest";
import { labelFilterOf, readLabelFilter } from "./label-filter";

test("the key ends at the first colon; one within it is escaped, the value is as it is", () => {
  for (const [text, key, value] of [
    ["site:north", "site", "north"],
    ["dock:3:b", "dock", "3:b"],
    ["note:", "note", ""],
    [String.raw`team\:a:x\:y`, "team:a", String.raw`x\:y`],
    [String.raw`back\\:v`, "back\\", "v"],
    // As it was before colons were escaped.
    [String.raw`c\d:v`, String.raw`c\d`, "v"],
    ["line\nbreak:a\nb", "line\nbreak", "a\nb"],
  ] as const) {
    expect([text, readLabelFilter(text)]).toEqual([text, { key, value }]);
  }
  for (const none of ["", "site", ":north", String.raw`team\:a`]) expect(readLabelFilter(none)).toBeNull();
});

test("whatever the key and the value hold, what is written is read", () => {
  const odd = fc.string({ unit: fc.constantFrom("a", ":", "\\", "=", " ", "\n", "ü") });
  fc.assert(
    fc.property(odd, odd, (key, value) => {
      fc.pre(key !== "");
      expect(readLabelFilter(labelFilterOf(key, value))).toEqual({ key, value });
    }),
  );
});
