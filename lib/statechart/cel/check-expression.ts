/**
 * One CEL text judged without running it.
 */
import type { Environment } from "@marcbachmann/cel-js";
import { prepare, type CelNode } from "./prepare";

export type CheckedExpression =
  | { ok: true }
  /** `at`: character, from 1. */
  | { ok: false; syntax: boolean; code: string; message: string; at: number | null };

export function checkExpression(text: string, environment: Environment): CheckedExpression {
  try {
    const parsed = environment.parse(text);
    prepare(parsed.ast as unknown as CelNode, null);
    const result = parsed.check();
    return result.valid ? { ok: true } : refused(text, result.error, false);
  } catch (error) {
    return refused(text, error, true);
  }
}

/** The syntax tree; null when the text has none. */
export function parseExpression(text: string, environment: Environment): CelNode | null {
  try {
    return environment.parse(text).ast as unknown as CelNode;
  } catch {
    return null;
  }
}

function refused(text: string, error: unknown, syntax: boolean): CheckedExpression {
  const known = error as { code?: string; summary?: string; message?: string; range?: { start: number } };
  const at = known.range === undefined ? null : known.range.start + 1;
  const where = at === null ? "" : `, at character ${at}`;
  return {
    ok: false,
    syntax,
    code: (known.code ?? "error").replaceAll("_", "-"),
    message: `${known.summary ?? known.message ?? String(error)}${where} in \`${text}\``,
    at,
  };
}
