/**
 * Bytes of a file → text: UTF-8, or UTF-16 where a byte order mark says so.
 *
 * Holds: bytes that are no such text are named by place, never replaced silently.
 */
import { importBounds } from "./import-result";
import { positionAt, type TextPosition } from "./text-position";

export type DecodedText = { ok: true; text: string } | { ok: false; message: string; at: TextPosition };

export function decodeText(bytes: Uint8Array): DecodedText {
  // Two bytes a character at the least bound what UTF-16 can hold; a longer file is too long either way.
  if (bytes.length > importBounds.charsMax * 4)
    return {
      ok: false,
      message: `the file has ${bytes.length} bytes, more than can be a chart`,
      at: { line: 1, column: 1 },
    };
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    return { ok: true, text: new TextDecoder(encoding, { fatal: true }).decode(bytes) };
  } catch {
    const text = validPrefix(bytes, encoding);
    // Where the valid text ends: a cut character's first byte, not the byte that cuts it.
    const bom = bytes[0] === 0xef && bytes[1] === 0xbb ? 3 : 0;
    const offset = encoding === "utf-8" ? bom + new TextEncoder().encode(text).length : 2 + text.length * 2;
    const hex = `0x${(bytes[offset] ?? 0).toString(16).toUpperCase().padStart(2, "0")}`;
    return {
      ok: false,
      message: `the file is not ${encoding.toUpperCase()} text (byte ${hex}); save it as UTF-8`,
      at: positionAt(text, text.length),
    };
  }
}

/** The longest prefix that decodes, by bisection: decoding is monotone in the prefix up to a cut character. */
function validPrefix(bytes: Uint8Array, encoding: string): string {
  const decode = (length: number): string | null => {
    try {
      // `stream` keeps a character cut at the end from failing.
      return new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
    } catch {
      return null;
    }
  };
  let low = 0;
  let high = bytes.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (decode(middle) === null) high = middle;
    else low = middle;
  }
  return decode(low) ?? "";
}
