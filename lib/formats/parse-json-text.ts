/**
 * JSON as a person types it into a field: the value, or what is wrong and where.
 *
 * Holds: a value it gives is the one that is kept: what an import refuses (`__proto__`, a key twice) and numbers that
 *        JSON can't carry exactly are errors.
 */
import type { Json } from "@/lib/base/json";
import { parseJson } from "./parse-json";

export type ParsedText = { ok: true; value: Json | undefined } | { ok: false; error: string };

/** Blank text is `undefined`: nothing was given. Errors carry line and column, from 1. */
export function parseJsonText(text: string): ParsedText {
  if (text.trim() === "") return { ok: true, value: undefined };
  const parsed = parseJson(text, { exactNumbers: true });
  if (parsed.ok) return { ok: true, value: parsed.value };
  const { line, column } = parsed.at;
  return { ok: false, error: `At line ${line}, column ${column}: ${parsed.message}.` };
}
