/**
 * Expressions of a document in the terms of its datamodel, as a chart's CEL.
 *
 * cel: they are CEL already. ecmascript (also where none is named) and null: translated where the subset allows.
 * Any other language stands as a placeholder with its text.
 *
 * Holds: a text that is no expression of its language at all fails when it is reached, as SCXML asks, and so stays a
 *        CEL text that cannot be read; a text we cannot translate becomes a placeholder, counted and named as a loss.
 */
import type { Json } from "@/lib/base/json";
import type { Guard, Text, Value } from "@/lib/statechart/document";
import { celString, literalValue } from "../literal";
import type { Reports } from "../reports";
import type { TextPosition } from "../text-position";
import { translateEcmaScript, type Translation } from "./ecmascript";
import { celSelect } from "./cel-text";
import type { RootTypes } from "./root-types";

/** Where an expression stands: some translations depend on it. */
export interface ExpressionPlace extends TextPosition {
  /** An event is always being processed here (the transition has one), so `_event` is set. */
  eventBound?: boolean;
}

export class Expressions {
  private readonly language: string;

  constructor(
    readonly datamodel: string,
    private readonly reports: Reports,
    private readonly types: RootTypes,
  ) {
    this.language = datamodel === "" || datamodel === "null" ? "ecmascript" : datamodel;
  }

  value(text: string, at: ExpressionPlace): Value {
    return this.translate(text, "value", at, (translation) =>
      translation.literal === undefined ? translation.cel : literalValue(translation.literal),
    );
  }

  guard(text: string, at: ExpressionPlace): Guard {
    return this.translate<Guard>(text, "bool", at, (translation) => translation.cel);
  }

  /** A text attribute computed at run time (`eventexpr`, `targetexpr` …). */
  computedText(text: string, at: ExpressionPlace): Text {
    return this.translate<Text>(text, "value", at, (translation) =>
      typeof translation.literal === "string" ? translation.literal : { cel: translation.cel },
    ) as Text;
  }

  /** The first value of a data element: literal, or computed at start. */
  initial(text: string, at: ExpressionPlace): { literal: Json } | { cel: string } | { late: Value } {
    const value = this.translate<{ literal: Json } | { cel: string } | { late: Value }>(
      text,
      "value",
      at,
      (translation) =>
        translation.literal === undefined ? { cel: translation.cel } : { literal: translation.literal },
    );
    return "placeholder" in value ? { late: { ...value } } : value;
  }

  /** The value at a location (`location`, `namelist`). */
  atLocation(location: string, at: ExpressionPlace): Value {
    const path = location.trim();
    if (this.language === "ecmascript") return this.value(path, at);
    // `context.` in front of a name or path reads it in CEL too.
    return /^[A-Za-z_]/.test(path) ? `context.${path}` : celSelect("context", path);
  }

  private translate<T>(
    text: string,
    context: "value" | "bool",
    at: ExpressionPlace,
    build: (translation: Translated) => T,
  ): T | { placeholder: string; text: string } {
    if (this.language === "cel") return build({ cel: text.trim(), literal: undefined });
    if (this.language !== "ecmascript") {
      const same = sameInAnyLanguage(text);
      if (same !== null) return build(same);
      return this.placeholder(text, `it is ${this.language}, which is not translated`, at);
    }
    const translation = translateEcmaScript(text, {
      context,
      types: this.types,
      eventBound: at.eventBound === true,
    });
    if (translation.kind === "cel") return build(translation);
    if (translation.kind === "illegal") return build({ cel: illegalCel(text), literal: undefined });
    return this.placeholder(text, translation.reason, at);
  }

  placeholder(text: string, reason: string, at: TextPosition): { placeholder: string; text: string } {
    this.reports.lose(`\`${shorten(text)}\` stands as a placeholder: ${reason}.`, {
      line: at.line,
      column: at.column,
    });
    return { ...this.reports.placeholder(this.language, text), text };
  }
}

type Translated = Pick<Extract<Translation, { kind: "cel" }>, "cel" | "literal">;

/** Texts that mean the same in every expression language: numbers, true, false, In('id'). */
function sameInAnyLanguage(text: string): Translated | null {
  const trimmed = text.trim();
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(trimmed)) return { cel: trimmed, literal: Number(trimmed) };
  if (trimmed === "true" || trimmed === "false") return { cel: trimmed, literal: trimmed === "true" };
  const test = /^In\(\s*(["'])([^"'\\]+)\1\s*\)$/.exec(trimmed);
  return test?.[2] === undefined ? null : { cel: `In(${celString(test[2])})`, literal: undefined };
}

/** A CEL text that cannot be read, whatever `text` is, and still shows it. */
function illegalCel(text: string): string {
  return `not ecmascript: ${text.trim()}`;
}

export function shorten(text: string, lengthMax = 80): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line;
}
