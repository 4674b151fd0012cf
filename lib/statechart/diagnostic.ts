/**
 * The first kind of wrong: the author's chart. Returned, never thrown.
 */
import type { JsonObject } from "@/lib/base/json";

export type Severity = "error" | "warning" | "info";

export interface Diagnostic {
  /** Stable kebab-case name, e.g. `bad-target`. */
  code: string;
  severity: Severity;
  at: {
    /** State name ("" is the root). */
    state: string;
    /** Field path inside the state, JSON pointer style without the leading slash, e.g. `on/pay/0/guard`. */
    field?: string;
    /** Position in an imported text, from 1. */
    line?: number;
    column?: number;
  };
  /** What is wrong, where, and what to do. */
  message: string;
  /** A mend a tool can offer: apply-fix.ts does it, and says what an `edit` may be. */
  fix?: { title: string; edit?: JsonObject };
}

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((diagnostic) => diagnostic.severity === "error");
