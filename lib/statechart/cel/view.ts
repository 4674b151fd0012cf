/**
 * JSON seen as CEL values, and CEL values turned back into JSON.
 *
 * JSON numbers that are whole and within ±(2⁵³−1) are CEL ints (bigint), all others doubles. Objects are seen through a
 * lazy Map, so that no key (`constructor`, `__proto__`) can be confused with a property of JavaScript.
 *
 * Holds: toJson(toCel(x)) is x itself for an object or list; what is not JSON (NaN, bytes, a duration, a larger int) is
 *        an EvaluationFailure, never a silent change. Lists' views are kept by identity: JSON values are never mutated.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { charge } from "./budget";
import { EvaluationFailure } from "./evaluation-failure";
import { isDuration, isUint } from "./library-types";

export type CelValue = unknown;

// 100 levels: deeper data is a mistake or an attack, and recursion must stay within any browser's stack.
const depthMax = 100;

// Lists are converted item by item, so they are kept; a map's view is one small object, cheaper to make than to find.
const listViews = new WeakMap<readonly Json[], CelValue[]>();
/** The JSON behind a list's view. */
const source = Symbol("source");

export function toCel(value: Json): CelValue {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return new JsonMap(value);
  let view = listViews.get(value);
  if (view === undefined) {
    view = value.map(toCel);
    Object.defineProperty(view, source, { value });
    listViews.set(value, view);
  }
  return view;
}

export function toJson(value: CelValue, depth = 0): Json {
  switch (typeof value) {
    case "string":
      charge(1 + (value.length >> 6));
      return value;
    case "boolean":
      return value;
    case "bigint": {
      const number = Number(value);
      if (!Number.isSafeInteger(number)) {
        throw new EvaluationFailure(
          "not-json",
          `the integer ${value} is outside ±(2^53-1) and cannot be stored`,
        );
      }
      return number;
    }
    case "number":
      if (!Number.isFinite(value)) throw new EvaluationFailure("not-json", `${value} is not a JSON number`);
      return value === 0 ? 0 : value;
    case "object":
      break;
    default:
      throw new EvaluationFailure("not-json", `a value of type ${typeof value} is not JSON`);
  }
  if (value === null) return null;
  if (value instanceof JsonMap) return value.json;
  if (depth > depthMax)
    throw new EvaluationFailure("too-deep", `the value is nested deeper than ${depthMax} levels`);
  if (Array.isArray(value)) {
    const known = (value as { [source]?: Json })[source];
    if (known !== undefined) return known;
    charge(value.length);
    return value.map((item) => toJson(item, depth + 1));
  }
  if (value instanceof Map) return objectFrom(value, depth);
  if (value instanceof Set) return [...value].map((item) => toJson(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  if (isUint(value)) return toJson(value.valueOf(), depth);
  if (isDuration(value)) {
    throw new EvaluationFailure("not-json", "a duration is not JSON: use its getMilliseconds()");
  }
  if (value instanceof Uint8Array) {
    throw new EvaluationFailure("not-json", "bytes are not JSON: use their string() or base64()");
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return objectFrom(Object.entries(value), depth);
  throw new EvaluationFailure("not-json", `a value of type ${value.constructor.name} is not JSON`);
}

function objectFrom(entries: Iterable<[unknown, unknown]>, depth: number): JsonObject {
  const object: JsonObject = {};
  for (const [key, item] of entries) {
    charge(1);
    const name = typeof key === "string" ? key : String(key);
    if (name === "__proto__") throw new EvaluationFailure("bad-key", "`__proto__` is not allowed as a key");
    object[name] = toJson(item, depth + 1);
  }
  return object;
}

/** What CEL calls the value's type, for messages. */
export function celTypeName(value: CelValue): string {
  switch (typeof value) {
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "boolean":
      return "bool";
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return "list";
      if (value instanceof Date) return "timestamp";
      return isDuration(value) ? "duration" : "map";
    default:
      return typeof value;
  }
}

/**
 * A JSON object as a read-only Map whose items are converted when they are read. It takes Map's place by its prototype
 * chain and `constructor`, by which the evaluator tells kinds apart, without Map's table.
 */
export class JsonMap {
  constructor(readonly json: JsonObject) {}
  get(key: string): CelValue {
    const item = Object.hasOwn(this.json, key) ? this.json[key] : undefined;
    return item === undefined ? undefined : toCel(item);
  }
  has(key: string): boolean {
    return Object.hasOwn(this.json, key) && this.json[key] !== undefined;
  }
  get size(): number {
    return Object.keys(this.json).length;
  }
  keys(): IterableIterator<string> {
    return Object.keys(this.json)[Symbol.iterator]();
  }
  values(): IterableIterator<CelValue> {
    return Object.values(this.json).map(toCel)[Symbol.iterator]();
  }
  entries(): IterableIterator<[string, CelValue]> {
    return Object.entries(this.json)
      .map(([key, item]): [string, CelValue] => [key, toCel(item)])
      [Symbol.iterator]();
  }
  [Symbol.iterator](): IterableIterator<[string, CelValue]> {
    return this.entries();
  }
}
Object.setPrototypeOf(JsonMap.prototype, Map.prototype);
Object.defineProperty(JsonMap.prototype, "constructor", { value: Map });
