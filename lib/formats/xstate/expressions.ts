/**
 * Values of Stately's dialect: a string wholly in `{{ }}` is an expression in the document's `queryLanguage`.
 *
 * Holds: CEL is taken over, any other language survives word for word in a placeholder; all other JSON is literal.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import type { Placeholder, Value } from "@/lib/statechart/document";
import { celString, literalValue } from "../literal";
import type { Reports } from "../reports";
import { codeText } from "./source-code";

export class Expressions {
  private readonly language: string;

  constructor(
    private readonly reports: Reports,
    queryLanguage: Json | undefined,
  ) {
    this.language = typeof queryLanguage === "string" && queryLanguage !== "" ? queryLanguage : "expression";
  }

  value(json: Json): Value {
    if (typeof json === "string") return this.expression(json) ?? celString(json);
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) return json.map((item) => this.value(item));
    const code = codeText(json);
    if (code !== undefined) return this.reports.placeholder("function", code);
    if (Object.hasOwn(json, "placeholder")) return literalValue(json);
    const object: JsonObject = {};
    for (const [key, item] of Object.entries(json)) object[key] = this.value(item);
    return object;
  }

  isExpression(text: string): boolean {
    const trimmed = text.trim();
    return trimmed.startsWith("{{") && trimmed.endsWith("}}") && trimmed.length >= 4;
  }

  /** CEL text or a placeholder when `text` is an expression, else null. */
  expression(text: string): string | (Placeholder & { [key: string]: string }) | null {
    if (!this.isExpression(text)) return null;
    if (this.language === "cel") return text.trim().slice(2, -2).trim();
    return this.reports.placeholder(this.language, text);
  }
}
