/**
 * Pieces of program among the JSON of a machine that was written as source: what only code can say, with its text.
 *
 * Holds: a piece is known by identity alone, so that no data of a document's can pass for one.
 */
import type { Json, JsonObject } from "@/lib/base/json";

const texts = new WeakMap<JsonObject, string>();

export function sourceCode(text: string): JsonObject {
  const piece: JsonObject = {};
  texts.set(piece, text);
  return piece;
}

/** The text of a piece of program; undefined for data. */
export function codeText(value: Json | undefined): string | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? texts.get(value) : undefined;
}
