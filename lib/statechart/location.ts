/**
 * Locations: where in the context a value is written: a name or a path, `zone.eta`, `rows[2].qty`, `a["odd key"]`.
 *
 * Holds: writing copies the spine and shares the rest, so snapshots never see a later write; a missing parent is an
 *        EvaluationFailure; nothing outside the context can be reached.
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import { EvaluationFailure } from "./cel/evaluation-failure";

export type Location = readonly [root: string, ...rest: (string | number)[]];

const segment = /(?:^|\.)([\p{L}_$][\p{L}\p{N}_$-]*)|\[(\d{1,9})\]|\["([^"\\]*)"\]|\['([^'\\]*)'\]/uy;

// What SCXML 5.10 protects; a chart may read them, never write them.
const systemVariables = new Set(["_event", "_sessionid", "_name", "_ioprocessors", "_x"]);

// A chart writes the same few places over and over; texts computed at run time must not fill the memory.
const known = new Map<string, Location | null>();
const knownMax = 1_000;

/** The path's segments, or null when `text` is not a location that may be written. */
export function parseLocation(text: string): Location | null {
  let location = known.get(text);
  if (location === undefined) {
    location = parse(text);
    if (known.size >= knownMax) known.clear();
    known.set(text, location);
  }
  return location;
}

function parse(text: string): Location | null {
  const path: (string | number)[] = [];
  segment.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    segment.lastIndex = at;
    const match = segment.exec(text);
    if (match === null) return null;
    const [whole, name, index, quoted, single] = match;
    path.push(index === undefined ? (name ?? quoted ?? single ?? "") : Number(index));
    at += whole.length;
  }
  const [root, ...rest] = path;
  if (typeof root !== "string" || text.startsWith(".") || text.startsWith("[")) return null;
  if (systemVariables.has(root) || path.includes("__proto__")) return null;
  return [root, ...rest];
}

export function formatLocation(path: readonly (string | number)[]): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part)) return `[${quoted(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}

/** As a location reads it; a key that no location can name is only shown. */
function quoted(key: string): string {
  if (key.includes("\\") || (key.includes('"') && key.includes("'"))) return JSON.stringify(key);
  return key.includes('"') ? `'${key}'` : `"${key}"`;
}

/** `target` with `value` at `path`; undefined removes it. Throws EvaluationFailure when a parent is missing. */
export function writeAt<T extends Json>(
  target: T,
  path: readonly (string | number)[],
  value: Json | undefined,
): T {
  return write(target, path, 0, value) as T;
}

/** The value at `path`, or undefined. */
export function readAt(target: Json, path: readonly (string | number)[]): Json | undefined {
  let at: Json | undefined = target;
  for (const part of path) {
    if (Array.isArray(at)) at = typeof part === "number" ? at[part] : undefined;
    else if (isJsonObject(at)) at = Object.hasOwn(at, part) ? at[part] : undefined;
    else return undefined;
  }
  return at;
}

function write(
  target: Json,
  path: readonly (string | number)[],
  depth: number,
  value: Json | undefined,
): Json {
  const part = path[depth] as string | number;
  const last = depth === path.length - 1;
  const where = (): string => formatLocation(path.slice(0, depth + 1));
  if (Array.isArray(target)) {
    if (typeof part !== "number" || part >= target.length) {
      throw new EvaluationFailure(
        "bad-location",
        `there is no ${where()}: the list has ${target.length} items`,
      );
    }
    const copy = target.slice();
    if (!last) copy[part] = write(target[part] as Json, path, depth + 1, value);
    else if (value === undefined) copy.splice(part, 1);
    else copy[part] = value;
    return copy;
  }
  if (!isJsonObject(target)) {
    const parent = formatLocation(path.slice(0, depth)) || "the value";
    throw new EvaluationFailure(
      "bad-location",
      `${parent} is ${kindOf(target)}, so there is no ${where()} to write`,
    );
  }
  if (!last) {
    const inner = Object.hasOwn(target, part) ? target[part] : undefined;
    if (inner === undefined)
      throw new EvaluationFailure("bad-location", `there is no ${where()} to write into`);
    return { ...target, [part]: write(inner, path, depth + 1, value) };
  }
  if (value !== undefined) return { ...target, [part]: value };
  const copy: JsonObject = { ...target };
  delete copy[part];
  return copy;
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}
