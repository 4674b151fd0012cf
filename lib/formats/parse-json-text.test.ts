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

test("what a saved draft could not hold is refused in place", () => {
  const error = (text: string): string => {
    const parsed = parseJsonText(text);
    return parsed.ok ? "none" : parsed.error;
  };
  expect(error('{"a": {"__proto__": 1}}')).toBe('At line 1, column 8: the key "__proto__" is not allowed.');
  expect(error('{"\\u005f_proto__": 1}')).toContain('the key "__proto__" is not allowed');
  expect(error('{"a": 1, "a": 2}')).toContain('the key "a" stands twice');
});

test("a number that JSON can't keep is refused by name", () => {
  const error = (text: string): string => {
    const parsed = parseJsonText(text);
    return parsed.ok ? "none" : parsed.error;
  };
  expect(error('{"n": 1e999}')).toBe("At line 1, column 7: 1e999 is too large for a number.");
  expect(error("[-9007199254740992]")).toBe(
    "At line 1, column 2: -9007199254740992 can't be kept exactly: whole numbers go to ±9007199254740991; write it as text.",
  );
  expect(error("1e20")).toContain("can't be kept exactly");
  expect(error("[9007199254740991, -9007199254740991, 0.1, 1e-9]")).toBe("none");
});

test("any text is either a value or an error, never a throw", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const parsed = parseJsonText(text);
      if (!parsed.ok) expect(parsed.error).toMatch(/^At line \d+, column \d+: /);
    }),
  );
});
