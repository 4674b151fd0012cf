import { expect, test } from "vitest";
import { decodeText } from "./decode-text";

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : Buffer.from(part))),
  );

test("UTF-8, with or without byte order mark, and marked UTF-16 are text", () => {
  expect(decodeText(bytes("héllo"))).toEqual({ ok: true, text: "héllo" });
  expect(decodeText(bytes([0xef, 0xbb, 0xbf], "x"))).toEqual({ ok: true, text: "x" });
  expect(decodeText(bytes([0xff, 0xfe, 0x41, 0x00]))).toEqual({ ok: true, text: "A" });
  expect(decodeText(bytes([0xfe, 0xff, 0x00, 0x41]))).toEqual({ ok: true, text: "A" });
});

test("bytes that are no UTF-8 are named with their line and column", () => {
  expect(decodeText(bytes("one\ntwo é", [0xe9], "x"))).toEqual({
    ok: false,
    message: "the file is not UTF-8 text (byte 0xE9); save it as UTF-8",
    at: { line: 2, column: 6 },
  });
  expect(decodeText(bytes("cut short ", [0xe2, 0x82]))).toMatchObject({ ok: false, at: { line: 1 } });
});
