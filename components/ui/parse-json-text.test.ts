import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonText } from "./parse-json-text";

test("blank is nothing given, JSON is its value", () => {
  expect(parseJsonText("  \n")).toEqual({ ok: true, value: undefined });
  expect(parseJsonText("null")).toEqual({ ok: true, value: null });
  expect(parseJsonText('{"a": [1]}')).toEqual({ ok: true, value: { a: [1] } });
});

test("an error names line and column", () => {
  expect(parseJsonText('{\n  "a": 1,\n  b: 2\n}')).toMatchObject({
    ok: false,
    error: expect.stringContaining("line 3, column 3") as string,
  });
  expect(parseJsonText('{"a": ')).toMatchObject({
    ok: false,
    error: expect.stringContaining("line 1") as string,
  });
});

test("any text is either a value or an error, never a throw", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const parsed = parseJsonText(text);
      if (!parsed.ok) expect(parsed.error).toMatch(/^Not JSON/);
    }),
  );
});
