/**
 * Ids made by the runtime: short, sayable, and growing with time where an index wants that.
 */
import { randomBytes } from "node:crypto";

/** Crockford's alphabet: no i, l, o, u to misread or misspeak. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

function random(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % 32]).join("");
}

/** `m-`, the time in 9 characters, 80 random bits: sorts by time of making on this machine. */
export function newMessageId(): string {
  return `m-${time()}${random(16)}`;
}

export const newAuditId = (): string => `a-${time()}${random(16)}`;

/** The chart's name and 40 random bits; a taken one is tried anew by the caller. */
export const newInstanceId = (chartId: string): string => `${chartId.slice(0, 100)}-${random(8)}`;

function time(): string {
  let left = Date.now();
  let text = "";
  for (let place = 0; place < 9; place += 1) {
    text = (alphabet[left % 32] ?? "") + text;
    left = Math.floor(left / 32);
  }
  return text;
}
