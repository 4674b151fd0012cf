import { expect, test } from "vitest";
import { readChartFile } from "./read-chart-file";

const messageOf = async (bytes: Uint8Array<ArrayBuffer>) => {
  const read = await readChartFile(new Blob([bytes]));
  return read.ok ? "none" : read.refusal.diagnostics.map(({ message, at }) => ({ message, ...at }));
};

test("a file that is not text is refused at its first bad byte, never read with replacements", async () => {
  const bytes = new Uint8Array([...new TextEncoder().encode('{\n  "a": "'), 0xe9, 0x22, 0x7d]);
  expect(await messageOf(bytes)).toEqual([
    {
      message: "The file is not UTF-8 text (byte 0xE9); save it as UTF-8.",
      state: "",
      line: 2,
      column: 9,
    },
  ]);
});

test("an empty file says that it is empty, a blank one too", async () => {
  const empty = [{ message: "The file is empty.", state: "" }];
  expect(await messageOf(new Uint8Array())).toEqual(empty);
  expect(await messageOf(new TextEncoder().encode(" \r\n"))).toEqual(empty);
});

test("UTF-8 and UTF-16 with a mark are read as they are", async () => {
  const text = '{"größe": "😀"}';
  expect(await readChartFile(new Blob([text]))).toEqual({ ok: true, text });
  const utf16 = new Uint8Array(2 + text.length * 2);
  new DataView(utf16.buffer).setUint16(0, 0xfeff, true);
  for (let at = 0; at < text.length; at++)
    new DataView(utf16.buffer).setUint16(2 + at * 2, text.charCodeAt(at), true);
  expect(await readChartFile(new Blob([utf16]))).toEqual({ ok: true, text });
});
