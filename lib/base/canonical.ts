/**
 * Canonical JSON (RFC 8785: keys sorted by UTF-16 code units, no white space, ECMAScript numbers) and its SHA-256.
 * Synchronous and the same in browser and server, so that a hash made by one is comparable by the other.
 *
 * Holds: equal values give equal text; a value outside JSON (a class instance, a hole in an array) is a TypeError, never a
 *        silent null. A property that is undefined is no property, as in JSON.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { isPlainObject, type Json } from "./json";

/** RFC 8785 text of `value`. Throws TypeError on NaN, Infinity, undefined array items and other non-JSON. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not JSON`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return canonicalArray(value);
  if (typeof value !== "object") throw new TypeError(`${typeof value} is not JSON`);
  if (!isPlainObject(value)) throw new TypeError("an instance of a class is not JSON");
  let text = "";
  for (const key of sortedKeys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

/** By index: map() and join() would pass over holes. */
function canonicalArray(items: readonly Json[]): string {
  let text = "";
  for (let at = 0; at < items.length; at += 1) {
    text += `${at === 0 ? "" : ","}${canonicalJson(items[at] as Json)}`;
  }
  return `[${text}]`;
}

/** Every step of a machine passes here: what is in order already is not sorted. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let at = 1; at < keys.length; at += 1) {
    if ((keys[at - 1] ?? "") > (keys[at] ?? "")) return keys.sort();
  }
  return keys;
}

/** Lower-case hex SHA-256 of the UTF-8 bytes of `text`. */
export function sha256Hex(text: string): string {
  return native ? native.hash("sha256", text) : bytesToHex(sha256(utf8ToBytes(text)));
}

/** Node's own is ten times faster, and every step of a machine is hashed; a browser has none that answers at once. */
const native = (
  globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
).process?.getBuiltinModule?.("node:crypto") as { hash(algorithm: string, text: string): string } | undefined;

/** SHA-256 hex of the canonical JSON of `value`. */
export function hashJson(value: Json): string {
  return sha256Hex(canonicalJson(value));
}
