/**
 * JSON as a person types it into a field: the value, or what is wrong and where.
 */
import type { Json } from "@/lib/base/json";

export type ParsedText = { ok: true; value: Json | undefined } | { ok: false; error: string };

/** Blank text is `undefined`: nothing was given. Errors carry line and column, from 1. */
export function parseJsonText(text: string): ParsedText {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: `Not JSON${placeOf(message, text)}: ${reasonOf(message)}` };
  }
}

function placeOf(message: string, text: string): string {
  const position = /position (\d+)/.exec(message);
  const offset =
    position?.[1] === undefined ? (/end of JSON/.test(message) ? text.length : null) : Number(position[1]);
  if (offset === null) return "";
  const before = text.slice(0, offset).split("\n");
  return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

const reasonOf = (message: string): string => {
  const short = message
    .replace(/ in JSON at position.*$/s, "")
    .replace(/, ".*" is not valid JSON$/s, "")
    .replace(/^Unexpected end of JSON input$/, "it ends too early");
  return `${short.charAt(0).toLowerCase()}${short.slice(1)}.`;
};
