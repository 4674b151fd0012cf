/**
 * Lockstep JSON in: lossless, the text's own order of states and transitions included.
 *
 * Holds: where keys like "10" would lose their place in JavaScript's objects, `order` keeps it.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import { hasErrors, type Diagnostic } from "@/lib/statechart/diagnostic";
import { validateChart } from "@/lib/statechart/validate";
import type { ImportResult } from "../import-result";

export function readLockstep(
  value: Json,
  keyOrder: ReadonlyMap<JsonObject, readonly string[]>,
): ImportResult {
  if (keyOrder.size > 0 && isJsonObject(value)) keepStateOrder(value, keyOrder);
  const { chart, diagnostics } = validateChart(value);
  const usable = chart !== null && !hasErrors(diagnostics) ? chart : null;
  return {
    format: "lockstep",
    chart: usable,
    diagnostics,
    losses: [],
    placeholders: usable === null ? 0 : countPlaceholders(value),
    name: isJsonObject(value) && typeof value.id === "string" ? value.id : null,
  };
}

/** A text that claims lockstep of another number. */
export function unknownVersion(found: Json): Diagnostic {
  return {
    code: "unknown-version",
    severity: "error",
    at: { state: "", field: "lockstep" },
    message: `"lockstep" is ${JSON.stringify(found)}; this release reads version 1. Use a newer release, or write "lockstep": 1.`,
  };
}

/** Writes `order` into the states and transitions of every map whose written order JavaScript lost. */
function keepStateOrder(state: JsonObject, keyOrder: ReadonlyMap<JsonObject, readonly string[]>): void {
  for (const field of ["on", "after"]) {
    const map = state[field];
    const keys = isJsonObject(map) ? keyOrder.get(map) : undefined;
    if (!isJsonObject(map) || keys === undefined || sameOrder(keys, Object.keys(map))) continue;
    let next = 0;
    for (const key of keys) {
      const items = map[key];
      const list = Array.isArray(items) ? items : items === undefined ? [] : [items];
      const ordered = list.map((item) => withOrder(item, next++));
      map[key] = Array.isArray(items) ? ordered : (ordered[0] ?? null);
    }
  }
  const states = state.states;
  if (!isJsonObject(states)) return;
  const keys = keyOrder.get(states);
  if (keys !== undefined && !sameOrder(keys, Object.keys(states)))
    keys.forEach((key, index) => {
      const child = states[key];
      if (isJsonObject(child) && child.order === undefined) child.order = index;
    });
  for (const child of Object.values(states)) if (isJsonObject(child)) keepStateOrder(child, keyOrder);
}

function withOrder(transition: Json, order: number): Json {
  if (typeof transition === "string") return { order, target: transition };
  if (!isJsonObject(transition) || transition.order !== undefined) return transition;
  return { order, ...transition };
}

const sameOrder = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((key, index) => key === b[index]);

/** Objects `{placeholder: name}` anywhere but in literal data. */
function countPlaceholders(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countPlaceholders(item), 0);
  if (!isJsonObject(value)) return 0;
  if (typeof value.placeholder === "string") return 1;
  return Object.entries(value).reduce(
    (sum, [key, item]) =>
      key === "meta" || key === "context" || key === "schemas" ? sum : sum + countPlaceholders(item),
    0,
  );
}
