/**
 * XState guards: names (placeholders in the chart), expressions, and the combinators Stately writes.
 */
import { isJsonObject, type Json } from "@/lib/base/json";
import type { Guard } from "@/lib/statechart/document";
import { nameOf, type Place } from "./place";
import { isText, type Reading } from "./reading";
import { codeText } from "./source-code";

/** Names that mean something else inside a guard; a guard so named stands as a placeholder in its own place. */
const reserved = new Set([
  "context",
  "event",
  "input",
  "params",
  "In",
  "set",
  "unset",
  "merge",
  "true",
  "false",
  "null",
]);

export function readGuard(reading: Reading, value: Json, place: Place, field: string): Guard | undefined {
  const { reports, expressions } = reading;
  const code = codeText(value);
  if (code !== undefined) return reports.placeholder("guard", code);
  if (isText(value)) return expressions.expression(value) ?? named(reading, value);
  if (isJsonObject(value) && isText(value.type)) {
    const kind = value.type.replace(/^(?:xstate|core)\.(?:guard:)?/, "");
    const parts = value.guards ?? (isJsonObject(value.params) ? value.params.guards : undefined);
    if ((kind === "and" || kind === "or" || kind === "not") && Array.isArray(parts)) {
      const guards = parts.flatMap(
        (part, index) => readGuard(reading, part, place, `${field}/${index}`) ?? [],
      );
      if (kind === "and") return { and: guards };
      if (kind === "or") return { or: guards };
      if (guards[0] !== undefined) return { not: guards[0] };
    }
    const state = isJsonObject(value.params) ? value.params.stateValue : undefined;
    if (kind === "stateIn" && isText(state)) {
      const target = reading.names.find(state.replace(/^#/, ""));
      if (target !== undefined) return { in: target };
    }
    const name = named(reading, value.type);
    for (const key of Object.keys(value))
      if (key !== "type" && key !== "params")
        reports.lose(`\`${key}\` of the guard \`${value.type}\` has no counterpart and was left out.`, {
          state: place.state,
        });
    if (value.params === undefined || !isText(name)) return name;
    return { type: name, params: expressions.value(value.params) };
  }
  reports.error("bad-shape", `The guard at ${field} of ${nameOf(place)} must be a name or {type, params}.`, {
    state: place.state,
    field,
  });
  return undefined;
}

export const canNameGuard = (name: string): boolean =>
  !reserved.has(name) && !name.startsWith("_") && name !== "";

function named(reading: Reading, name: string): Guard {
  if (!canNameGuard(name)) return reading.reports.placeholder(name || "guard");
  if (!reading.guards.has(name)) reading.guards.set(name, reading.reports.placeholder(name));
  return name;
}
