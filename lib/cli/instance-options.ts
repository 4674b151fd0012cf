/**
 * What `lockstep instances` is told: the verb, what it is about, and the options; how they are read.
 *
 * Holds: an option that the verb has no use for is refused, never passed over: who says `state ID --expected-seq 4` means a
 *        condition that no reading has.
 */
import { parseArgs } from "node:util";
import type { Json } from "@/lib/base/json";
import type { ArgsOf } from "@/lib/client/client";
import { serverOptions } from "./ask-server";
import { readJson } from "./json-option";
import { requireVerb } from "./require-verb";
import { UsageError } from "./usage";
import { optionalWholeNumber } from "./whole-number";

const guarded = ["expected-seq", "fences", "idempotency-key"];
const control = ["reason", ...guarded];
/** What each verb takes, beside what all commands do that ask a server. */
const takes = {
  list: ["chart", "status", "state", "prefix", "business-key", "parent", "label", "index", "condition"],
  show: [],
  state: ["seq"],
  log: ["seq", "limit"],
  message: [],
  letters: [],
  retry: ["fences"],
  start: ["id", "input", "version", "business-key", "label", "priority", "fences", "idempotency-key"],
  send: ["data", "wait-ms", ...guarded],
  suspend: control,
  resume: control,
  cancel: control,
  terminate: control,
  redrive: control,
  reset: [...control, "seq", "rearm-timers"],
  fork: ["id", "seq", "rearm-timers", "later-events", "reason", "fences", "idempotency-key"],
  migrate: [...control, "version", "map", "dry-run"],
  delete: control,
} as const satisfies Record<string, readonly string[]>;
export type InstanceVerb = keyof typeof takes;

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    tokens: true,
    options: {
      ...serverOptions,
      chart: { type: "string" },
      status: { type: "string" },
      state: { type: "string" },
      prefix: { type: "string" },
      parent: { type: "string" },
      condition: { type: "string" },
      limit: { type: "string" },
      id: { type: "string" },
      input: { type: "string" },
      version: { type: "string" },
      "business-key": { type: "string" },
      label: { type: "string", multiple: true, default: [] },
      index: { type: "string", multiple: true, default: [] },
      priority: { type: "string" },
      data: { type: "string" },
      fences: { type: "string" },
      "wait-ms": { type: "string" },
      "expected-seq": { type: "string" },
      reason: { type: "string" },
      seq: { type: "string" },
      "rearm-timers": { type: "boolean", default: false },
      "later-events": { type: "boolean", default: false },
      map: { type: "string", multiple: true, default: [] },
      "dry-run": { type: "boolean", default: false },
      "idempotency-key": { type: "string" },
    },
  });
export type Values = ReturnType<typeof parse>["values"];

export interface InstanceCall {
  verb: InstanceVerb;
  /** What stands behind the verb. */
  words: string[];
  values: Values;
}

export function readInstanceCall(args: string[]): InstanceCall {
  const { values, positionals, tokens } = parse(args);
  const [verb = "list", ...words] = positionals;
  requireVerb("instances", verb, Object.keys(takes));
  const known = verb as InstanceVerb;
  const taken: readonly string[] = [...Object.keys(serverOptions), ...takes[known]];
  for (const token of tokens) {
    if (token.kind !== "option" || taken.includes(token.name)) continue;
    throw new UsageError(`instances ${verb} takes no --${token.name}.`);
  }
  return { verb: known, words, values };
}

type TextOption = { [N in keyof Values]-?: Values[N] extends string | undefined ? N : never }[keyof Values];

/** Undefined when it was left out. */
export const numberOf = (values: Values, name: TextOption, min = 1): number | undefined =>
  optionalWholeNumber(`--${name}`, values[name], min);

/** As given: the server says what a fence is. */
export const fencesOf = (values: Values): ArgsOf<"sendEvent">["fences"] =>
  jsonOf(values, "fences") as ArgsOf<"sendEvent">["fences"];

/** Undefined when it was left out. */
export function jsonOf(values: Values, name: TextOption): Json | undefined {
  const text = values[name];
  return text === undefined ? undefined : readJson(`--${name}`, text);
}
