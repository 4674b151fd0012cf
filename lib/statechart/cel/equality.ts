/**
 * CEL equality: values of different types are unequal, never an error; what is compared is charged.
 */
import { charge } from "./budget";
import { isDuration, isUint } from "./library-types";
import { JsonMap, type CelValue } from "./view";

/** Numbers by value across int and double, lists and maps by their items. */
export function equal(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  if (typeof a === "bigint") return typeof b === "number" && Number(a) === b;
  if (typeof a === "number") return typeof b === "bigint" && a === Number(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    charge(a.length);
    return a.every((item, index) => equal(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (isUint(a)) return isUint(b) && a.valueOf() === b.valueOf();
  if (isDuration(a)) return isDuration(b) && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Uint8Array) {
    return b instanceof Uint8Array && a.length === b.length && a.every((byte, index) => byte === b[index]);
  }
  if (a instanceof JsonMap && b instanceof JsonMap && a.json === b.json) return true;
  const [left, right] = [asMap(a), asMap(b)];
  if (left === null || right === null || left.size !== right.size) return false;
  charge(left.size);
  for (const [key, item] of left) if (!right.has(key) || !equal(item, right.get(key))) return false;
  return true;
}

/** A map however the library made it; null for anything else. */
export function asMap(value: object): Map<unknown, CelValue> | null {
  if (value instanceof Map) return value as Map<unknown, CelValue>;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? new Map(Object.entries(value)) : null;
}
