/**
 * Small pieces of CEL text.
 */
import { celString } from "../literal";

const reserved = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

/** `object.name`, or `object['name']` where CEL's grammar needs it. */
export function celSelect(object: string, name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reserved.has(name)
    ? `${object}.${name}`
    : `${object}[${celString(name)}]`;
}

/** A number as CEL writes it: whole ones as ints. */
export function celNumber(value: number): string {
  return Object.is(value, -0) ? "0" : String(value);
}
