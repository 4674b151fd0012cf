/**
 * What in a value is no JSON, by its path: said to who gave it, before it would be stored as something else.
 *
 * Holds: a value without a fault and what JSON makes of it are the same, but for properties that are undefined: those go.
 */
import { isPlainObject } from "./json";

export interface JsonFault {
  /** Below the value: `.a.0.b`; "" is the value itself. */
  path: string;
  /** What is there, as `a Date`; null: something nested too deep. */
  found: string | null;
}

/** The first one; null when there is none. `depthMax`: deeper data overflows the stacks of those who walk it by recursion. */
export function findJsonFault(value: unknown, depthMax: number): JsonFault | null {
  if (depthMax < 0) return { path: "", found: null };
  switch (typeof value) {
    case "string":
    case "boolean":
      return null;
    case "number":
      return Number.isFinite(value) ? null : { path: "", found: String(value) };
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? faultInArray(value, depthMax) : faultInObject(value, depthMax);
    default:
      return { path: "", found: typeof value === "undefined" ? "undefined" : `a ${typeof value}` };
  }
}

function faultInArray(items: readonly unknown[], depthMax: number): JsonFault | null {
  if ("toJSON" in items) return { path: "", found: "an array with toJSON" };
  for (let at = 0; at < items.length; at += 1) {
    const fault = findJsonFault(items[at], depthMax - 1);
    if (fault) return { ...fault, path: `.${at}${fault.path}` };
  }
  return null;
}

function faultInObject(value: object, depthMax: number): JsonFault | null {
  if (!isPlainObject(value)) return { path: "", found: `a ${value.constructor?.name || "class instance"}` };
  if ("toJSON" in value && typeof value.toJSON === "function")
    return { path: "", found: "an object with toJSON" };
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    const fault = findJsonFault(item, depthMax - 1);
    if (fault) return { ...fault, path: `.${key}${fault.path}` };
  }
  return null;
}
