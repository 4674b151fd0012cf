/**
 * JSON values as types. Everything that crosses a room's wall as data (context, events, effects, payloads) is one of these.
 */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Made by `{}` or JSON.parse, of whichever realm: nothing that a class has made. */
export function isPlainObject(value: object): boolean {
  const made: unknown = Object.getPrototypeOf(value);
  return made === Object.prototype || made === null || Object.getPrototypeOf(made) === null;
}

/** By content; numbers by value, the order of keys does not matter. What is shared is not walked. */
export function isSameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => isSameJson(item, b[index] as Json))
    );
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key] as Json, b[key] as Json))
  );
}
