/**
 * Literal JSON as a chart's Value, where a string would otherwise be read as CEL.
 */
import type { Json } from "@/lib/base/json";
import type { Value } from "@/lib/statechart/document";

/** The Value that always gives `json`. */
export function literalValue(json: Json): Value {
  if (typeof json === "string") return celString(json);
  if (json === null || typeof json !== "object") return json;
  if (Array.isArray(json)) return json.map(literalValue);
  // An object with this key would be read as a placeholder: write it as a CEL map instead.
  if (Object.hasOwn(json, "placeholder")) return celLiteral(json);
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, literalValue(item)]));
}

/** The CEL string literal of `text`, in single quotes. */
export function celString(text: string): string {
  return `'${text.replace(/[\\'\u0000-\u001f\u007f]/g, escapeChar)}'`;
}

/** The CEL expression of a JSON value. */
export function celLiteral(json: Json): string {
  if (typeof json === "string") return celString(json);
  if (json === null || typeof json !== "object") return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(celLiteral).join(", ")}]`;
  const fields = Object.entries(json).map(([key, item]) => `${celString(key)}: ${celLiteral(item)}`);
  return `{${fields.join(", ")}}`;
}

function escapeChar(char: string): string {
  if (char === "\\" || char === "'") return `\\${char}`;
  if (char === "\n") return "\\n";
  if (char === "\r") return "\\r";
  if (char === "\t") return "\\t";
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
