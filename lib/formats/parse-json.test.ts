import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "./parse-json";

const fault = (text: string): string => {
  const parsed = parseJson(text);
  return parsed.ok ? "no fault" : `${parsed.at.line}:${parsed.at.column} ${parsed.message}`;
};

test("valid JSON reads as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 2), (text, indent) => {
      const value: unknown = JSON.parse(text);
      fc.pre(!text.includes("__proto__"));
      const parsed = parseJson(JSON.stringify(value, null, indent));
      expect(parsed.ok && parsed.value).toEqual(value);
    }),
  );
});

test("a text is refused exactly when JSON.parse refuses it (duplicate keys and endless numbers aside)", () => {
  const snippets = fc.constantFrom(
    ...'{ } [ ] , : " \\ 0 -1 1.5 1e3 01 .5 true false null tru a " \\u00e9 \\x \n \t'.split(" "),
    '"a"',
    '"b"',
  );
  fc.assert(
    fc.property(fc.array(snippets, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      const parsed = parseJson(text);
      if (!parsed.ok && /stands twice|too large for a number/.test(parsed.message)) return;
      expect({ text, ok: parsed.ok }).toEqual({ text, ok: valid });
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["", "1:1 expected a value, found the end of the text"],
  ['{\n  "a": 1,\n  "b": }', '3:8 expected a value, found "}"'],
  ['{"a": 1 "b": 2}', '1:9 expected "," or "}", found "\\""'],
  ["[1, 2", '1:6 expected "," or "]", found the end of the text'],
  ["{'a': 1}", '1:2 expected a key in double quotes, found "\'"'],
  ['{"a": "x\ny"}', "1:9 a line break or control character inside a string; write \\n"],
  ['{"a": "x', "1:7 the text ends inside this string"],
  ['{"a": 1}\r\n{', '2:1 nothing may follow the JSON value, but "{" does'],
  ['{"a": 1, "a": 2}', '1:10 the key "a" stands twice'],
  ['{"__proto__": {"x": 1}}', '1:2 the key "__proto__" is not allowed'],
  ['"\\q"', "1:2 \\q is not an escape of JSON"],
  ["1e999", "1:1 1e999 is too large for a number"],
  ['["\ud83d\ude00", nope]', '1:8 expected a value, found "n"'],
])("%j is refused at its place", (text, message) => {
  expect(fault(text)).toBe(message);
});

test("deep nesting and endless lists are refused instead of exhausting the stack or memory", () => {
  expect(fault("[".repeat(1_000_000))).toMatch(/^1:\d+ nested deeper than 128 levels$/);
  expect(fault(`[${"1,".repeat(300_000)}1]`)).toMatch(/more than 200000 values$/);
});

test("the written order of keys that JavaScript moves is kept beside the value", () => {
  const parsed = parseJson('{"z": 1, "10": 2, "2": 3, "a": {"b": 1}}');
  expect(parsed.ok && [...parsed.keyOrder.values()]).toEqual([["z", "10", "2", "a"]]);
});
