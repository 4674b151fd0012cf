/**
 * One input on one snapshot: what a step does and what a replay does are this same function, so they can't differ (I5).
 *
 * Holds: it always returns. A defect of the engine fails the message, not the mailbox behind it; so does what no database
 *        could store, as an address made from data.
 */
import type { Machine } from "@/lib/statechart/machine";
import { macrostep } from "@/lib/statechart/macrostep";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { start } from "@/lib/statechart/start";
import type { StepInput, StepOptions, StepResult } from "@/lib/statechart/step";
import type { Json } from "@/lib/base/json";
import { isStorable } from "@/lib/base/storable-text";

/** How an instance began, as its first entry keeps it. */
export interface StartInput {
  kind: "start";
  id: string;
  name: string;
  input: Json;
}

export function applyInput(
  machine: Machine,
  before: Snapshot,
  input: StepInput,
  options: StepOptions,
): StepResult {
  const result = safely(before, () => storing(macrostep(machine, before, input, options)));
  const { snapshot } = result;
  // A step that fails leaves the state as it was, but the timer has fired: it must not fail again and again.
  if (input.kind === "timer" && snapshot.timers[input.id] !== undefined) {
    const { [input.id]: _fired, ...timers } = snapshot.timers;
    return { ...result, snapshot: { ...snapshot, timers } };
  }
  // As well the invocation has answered: the state must not wait for it any more.
  if (input.kind === "answer" && snapshot.invocations[input.id]?.generation === input.generation) {
    if (result.outcome.outcome !== "failed") return result;
    const { [input.id]: _answered, ...invocations } = snapshot.invocations;
    return { ...result, snapshot: { ...snapshot, invocations } };
  }
  return result;
}

export function applyStart(
  machine: Machine,
  { id, name, input }: StartInput,
  options: StepOptions,
): StepResult {
  const nothing: Snapshot = {
    status: "failed",
    configuration: [],
    context: {},
    session: { id, input, name },
    history: {},
    generations: {},
    invocations: {},
    timers: {},
  };
  return safely(nothing, () => storing(start(machine, { id, name, input }, options)));
}

/** What stays JSON in its column. */
const payloads: ReadonlySet<string> = new Set(["data", "input", "value"]);

function storing(result: StepResult): StepResult {
  for (const name of result.snapshot.configuration)
    if (!isStorable(name)) throw new Unstorable("a state's name");
  for (const effect of result.effects) {
    const place = effect.type === "log" ? null : unstorableIn(effect);
    if (place !== null) throw new Unstorable(`${effect.type}${place}`);
  }
  return result;
}

/** Where a text in it can't be stored; null: nowhere. */
function unstorableIn(value: unknown): string | null {
  if (typeof value === "string") return isStorable(value) ? null : "";
  if (typeof value !== "object" || value === null) return null;
  for (const [name, each] of Object.entries(value)) {
    const within = payloads.has(name) ? null : unstorableIn(each);
    if (within !== null) return `.${name}${within}`;
  }
  return null;
}

class Unstorable extends Error {
  constructor(what: string) {
    super(`${what} holds a character that can't be stored (U+0000 or half a surrogate pair)`);
  }
}

function safely(before: Snapshot, run: () => StepResult): StepResult {
  try {
    return run();
  } catch (error) {
    const made = error instanceof Unstorable;
    const message = made
      ? error.message
      : error instanceof Error
        ? `${error.name}: ${error.message}`
        : String(error);
    return {
      snapshot: before,
      effects: [],
      microsteps: [],
      outcome: { outcome: "failed" },
      exited: [],
      entered: [],
      error: { code: made ? "unstorable-text" : "internal", message },
    };
  }
}
