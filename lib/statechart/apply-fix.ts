/**
 * A diagnostic's fix, done to the chart: what the editor's button and `lockstep check --fix` do.
 *
 * An edit is one of
 *   {set, state, to}      the field gets a value; with `part`, an object there keeps all but that part
 *   {remove, state}       the field goes, and what held nothing else with it
 *   {rename, state, to}   the field's last key becomes another
 *   {declare, name, value} a name in the chart's guards, actions, delays, tasks or schemas.events
 * Fields are those of diagnostics: state name, then a path whose places in a list are there for a single item too. `path`, the
 * keys from the root, says which state is meant where two have one name. The chart may be one that validate.ts refuses.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import type { Chart } from "./document";
import { unescapeSegment } from "./transition-id";

/** Null: the edit does not fit this chart (any more). */
export function applyFix(chart: Chart, edit: JsonObject): Chart | null {
  const { set, remove, rename, declare } = edit;
  const change: Change = {
    set: edit.to ?? null,
    part: typeof edit.part === "string" ? edit.part : null,
    mode: remove !== undefined ? "remove" : rename !== undefined ? "rename" : "set",
  };
  if (typeof declare === "string" && typeof edit.name === "string") {
    const path = [...declare.split("/"), edit.name];
    return written(chart as unknown as JsonObject, path, { set: edit.value ?? {}, part: null, mode: "set" });
  }
  const field = set ?? remove ?? rename;
  if (typeof field !== "string" || typeof edit.state !== "string") return null;
  const given = Array.isArray(edit.path) ? edit.path.filter((key) => typeof key === "string") : null;
  const keys = given ?? keysOf(chart as unknown as JsonObject, edit.state, []);
  if (keys === null) return null;
  const path = [...keys.flatMap((key) => ["states", key]), ...field.split("/").map(unescapeSegment)];
  return written(chart as unknown as JsonObject, path, change);
}

/** From the root to the first state of that name, in the order written. */
function keysOf(node: JsonObject, name: string, keys: string[]): string[] | null {
  if ((typeof node.id === "string" ? node.id : keys.join(".")) === name) return keys;
  // The root is also "" to whoever speaks of the chart.
  if (name === "" && keys.length === 0) return keys;
  if (!isJsonObject(node.states)) return null;
  for (const [key, child] of Object.entries(node.states)) {
    const found = isJsonObject(child) ? keysOf(child, name, [...keys, key]) : null;
    if (found !== null) return found;
  }
  return null;
}

interface Change {
  mode: "set" | "remove" | "rename";
  set: Json;
  part: string | null;
}

function written(chart: JsonObject, path: readonly string[], change: Change): Chart | null {
  const made = changeAt(chart, path, change);
  return made === misfit || made === gone ? null : (made as unknown as Chart);
}

/** Nothing is left of it. */
const gone = Symbol("gone");
/** There is no such place. */
const misfit = Symbol("misfit");
type Made = Json | typeof gone | typeof misfit;

function changeAt(value: Json, path: readonly string[], change: Change): Made {
  const [segment, ...rest] = path;
  if (segment === undefined) {
    if (change.mode === "remove") return gone;
    const { part, set } = change;
    return part !== null && isJsonObject(value) && Object.hasOwn(value, part)
      ? { ...value, [part]: set }
      : set;
  }
  if (Array.isArray(value)) return inList(value, segment, rest, change);
  // The place of a single item that is written without a list.
  if (segment === "0" && !(isJsonObject(value) && Object.hasOwn(value, "0")))
    return changeAt(value, rest, change);
  // A transition written as its target.
  if (typeof value === "string")
    return segment === "target"
      ? changeAt(value, rest, change)
      : inObject({ target: value }, segment, rest, change);
  return isJsonObject(value) ? inObject(value, segment, rest, change) : misfit;
}

function inList(list: Json[], segment: string, rest: readonly string[], change: Change): Made {
  const index = Number(segment);
  const item = list[index];
  if (item === undefined) return misfit;
  const made = changeAt(item, rest, change);
  if (made === misfit) return misfit;
  if (made !== gone) return list.with(index, made);
  return list.length === 1 ? gone : list.toSpliced(index, 1);
}

function inObject(value: JsonObject, segment: string, rest: readonly string[], change: Change): Made {
  const has = Object.hasOwn(value, segment);
  if (change.mode === "rename" && rest.length === 0) {
    const to = change.set;
    if (!has || typeof to !== "string" || to === "__proto__") return misfit;
    if (Object.hasOwn(value, to)) return misfit;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key === segment ? to : key, item]));
  }
  if (segment === "__proto__") return misfit;
  if (!has && change.mode !== "set") return misfit;
  const made = changeAt(has ? (value[segment] as Json) : {}, rest, change);
  if (made === misfit) return misfit;
  if (made !== gone) return { ...value, [segment]: made };
  const { [segment]: _gone, ...others } = value;
  // A map of handlers without handlers goes too.
  return Object.keys(others).length === 0 ? gone : others;
}
