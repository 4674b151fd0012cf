/**
 * The bounds of what a caller may hand in, checked before anything is locked or stored.
 *
 * Holds: what passes can be stored on both databases and comes back the same, but for properties that are undefined: who uses
 *        a payload before it is stored reads it from its text (I5). Nothing here recurses deeper than depthMax.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { findJsonFault } from "@/lib/base/json-fault";
import { labelKeyMax, labelsMax, labelValueMax, payloadBytesMax } from "@/lib/base/limits";
import { isStorable } from "@/lib/base/storable-text";
import type { StepInput } from "@/lib/statechart/step";
import { priorityMax } from "@/lib/store/instances";

/** Deeper data overflows the stacks of those who walk it by recursion. */
const depthMax = 100;

/** The JSON text of `value`. Throws `payload-too-large` or `bad-request` naming `field`. */
export function requirePayload(value: Json, field: string): string {
  requireJson(value, field);
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > payloadBytesMax) {
    throw new LockstepError(
      "payload-too-large",
      `${field} is ${bytes} bytes; at most ${payloadBytesMax} are taken. Store the rest elsewhere and send its address.`,
      { details: { field, bytes, bytesMax: payloadBytesMax } },
    );
  }
  return text;
}

/** A text that becomes a column. */
export function requireText(value: string, field: string): string {
  if (isStorable(value)) return value;
  throw new LockstepError(
    "bad-request",
    `${field} holds a character that can't be stored (U+0000 or half a surrogate pair).`,
    {
      details: { field },
    },
  );
}

/** A priority beyond these is one that no claim looks for. */
export function requirePriority(value: number, field: string): void {
  if (Number.isInteger(value) && value >= 0 && value <= priorityMax) return;
  throw new LockstepError(
    "bad-request",
    `${field} is a whole number from 0 to ${priorityMax}, not ${value}.`,
    {
      details: { field },
    },
  );
}

/** An event from outside as a step's input; `at`: where it lies among the arguments. */
export function requireEvent({ type, data }: { type: string; data?: Json | undefined }, at = ""): StepInput {
  requireText(type, `${at}type`);
  requireOutsideType(type);
  if (data === undefined) return { kind: "event", type };
  requirePayload(data, `${at}data`);
  return { kind: "event", type, data };
}

/** The texts of a filter: one that no column can have is refused, on SQLite it would end at its U+0000 and find everything. */
export function requireFilter(filter: object): void {
  for (const [name, value] of Object.entries(filter)) if (typeof value === "string") requireText(value, name);
}

/** An instance's labels: each becomes a row. */
export function requireLabels(labels: Readonly<Record<string, string>>, field: string): void {
  const all = Object.entries(labels);
  const wrong = (message: string) =>
    new LockstepError("bad-request", `${field}: ${message}.`, { details: { field } });
  if (all.length > labelsMax) throw wrong(`at most ${labelsMax} are taken, not ${all.length}`);
  for (const [key, value] of all) {
    requireText(key, field);
    requireText(value, `${field}.${key.slice(0, labelKeyMax)}`);
    if (key === "" || key.length > labelKeyMax) throw wrong(`a key has 1 to ${labelKeyMax} characters`);
    if (value.length > labelValueMax)
      throw wrong(`the value of ${key} has more than ${labelValueMax} characters`);
  }
}

/** Throws `bad-request` naming where in `field` something is no JSON; what it would be stored as is another value. */
export function requireJson(value: unknown, field: string): void {
  const fault = findJsonFault(value, depthMax);
  if (!fault) return;
  if (fault.found === null) {
    throw new LockstepError("bad-request", `${field} is nested deeper than ${depthMax} levels.`, {
      details: { field, depthMax },
    });
  }
  const at = field + fault.path;
  throw new LockstepError(
    "bad-request",
    `${at} is ${fault.found}, which JSON doesn't have. Give it as text, a finite number, or a plain object or array.`,
    { details: { field: at } },
  );
}

const madeHere =
  /^(lock\.lost$|error\.(execution|communication|platform)$|error\.invoke\.|done\.(state|invoke)\.)/;

/**
 * An event from outside may not bear a name that only Lockstep makes: whoever may send events could else end a wait for a
 * state, a task or a failure that never happened. Other names under `done.` and `error.` are the author's own.
 */
export function requireOutsideType(type: string): void {
  if (!madeHere.test(type)) return;
  throw new LockstepError(
    "bad-request",
    `type "${type.slice(0, 100)}" is made by Lockstep alone. Name the event otherwise.`,
    { details: { field: "type" } },
  );
}
