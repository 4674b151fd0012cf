/**
 * `lockstep/cel`: what a machine that Lockstep wrote as a TypeScript module evaluates its CEL with, inside XState 5.
 *
 * An XState event is seen as a chart sees it: `type`, `data`, its fields, `output` for done and error events; null at the
 * start. Holds: evaluation is the engine's own (lib/statechart/cel), so a guard here is a guard there; what fails throws,
 * which stops the machine, as `settings.errors: "stop"` does.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { environmentWith } from "@/lib/statechart/cel/environment";
import { Expression } from "@/lib/statechart/cel/expression";
import { isDuration } from "@/lib/statechart/cel/library-types";
import { toCel, type CelValue } from "@/lib/statechart/cel/view";
import { parseDelay } from "@/lib/statechart/delay";
import { parseLocation, writeAt } from "@/lib/statechart/location";
import type { Args, Cel, CelOptions } from "./lockstep-cel";

/** A chart's Value: a text is CEL, other JSON is itself. */
type Value = Json;

/** Survives `assign`, and stands in no JSON. */
const inputKey = Symbol.for("lockstep.input");

export function cel({ guards = {}, params: ownParams }: CelOptions = {}): Cel {
  const environment = environmentWith(Object.keys(guards));
  const known = new Map<string, Expression>();
  const expression = (text: string): Expression => {
    let found = known.get(text);
    if (found === undefined) known.set(text, (found = new Expression(text, environment)));
    return found;
  };

  const scopeOf = (args: Args, params: unknown): Parameters<Expression["evaluate"]>[0] => {
    const given = ownParams === undefined ? (params as Json | undefined) : read(ownParams, bareScope(args));
    const scope = { ...bareScope(args), ...(given === undefined ? {} : { params: toCel(given) }) };
    for (const [name, text] of Object.entries(guards))
      Object.defineProperty(scope, name, { get: () => expression(text).evaluate(scope), enumerable: true });
    return scope;
  };
  const bareScope = ({ context, event }: Args): Parameters<Expression["evaluate"]>[0] =>
    ({
      context: toCel(context as JsonObject),
      event: toCel(eventView(event)),
      input: toCel((context as { [inputKey]?: Json })[inputKey] ?? null),
      isIn: (name: string): never => {
        throw new Error(
          `In('${name}') can be a part of a guard joined by && || and !, nothing else, under XState`,
        );
      },
    }) as unknown as Parameters<Expression["evaluate"]>[0];

  const read = (value: Value, scope: Parameters<Expression["evaluate"]>[0]): Json => {
    if (typeof value === "string") return expression(value).evaluateJson(scope);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => read(item, scope));
    if (typeof value.placeholder === "string") return null;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, read(item, scope)]));
  };

  return {
    test: (text) => (args, params) => {
      const verdict: CelValue = expression(text).evaluate(scopeOf(args, params));
      if (typeof verdict !== "boolean") throw new Error(`the guard \`${text}\` gives no bool`);
      return verdict;
    },
    value: (value) => (args, params) => read(value, scopeOf(args, params)),
    assign: (record) => (args, params) => {
      const scope = scopeOf(args, params);
      const values = Object.entries(record).map(
        ([location, value]) => [location, read(value, scope)] as const,
      );
      let next = args.context as JsonObject;
      for (const [location, value] of values) {
        const path = parseLocation(location);
        if (path === null) throw new Error(`\`${location}\` is no location`);
        next = writeAt<JsonObject>(next, path, value);
      }
      return next;
    },
    event: (type, data) => (args, params) => {
      const scope = scopeOf(args, params);
      const name = typeof type === "string" ? type : expression(type.cel).evaluateJson(scope);
      if (typeof name !== "string") throw new Error("an event's type must be a text");
      const given = data === undefined ? undefined : read(data, scope);
      if (given === undefined) return { type: name };
      const isMap = typeof given === "object" && given !== null && !Array.isArray(given);
      return isMap ? { ...given, type: name } : { data: given, type: name };
    },
    delay: (text) => (args, params) => {
      const value = expression(text).evaluate(scopeOf(args, params));
      if (isDuration(value)) return Number(value.getMilliseconds());
      const ms = typeof value === "string" ? parseDelay(value) : Number(value);
      if (ms === null || !Number.isFinite(ms)) throw new Error(`\`${text}\` gives no delay`);
      return ms;
    },
    items: (value) => (args, params) => {
      const list = read(value, scopeOf(args, params));
      if (typeof list !== "object" || list === null) throw new Error("a foreach needs a list or a map");
      return Array.isArray(list)
        ? list.map((item, index) => [item, index])
        : Object.entries(list).map(([key, item]) => [item, key]);
    },
    context:
      (values) =>
      ({ input }) => {
        const context: Record<string | symbol, unknown> = { [inputKey]: input ?? null };
        const computed: [string, string][] = [];
        for (const [name, value] of Object.entries(values)) {
          const text = computedText(value);
          if (text === null) context[name] = value;
          else computed.push([name, text]);
        }
        for (const [name, text] of computed) {
          const args = { context: context as Record<string, unknown>, event: { type: "xstate.init" } };
          context[name] = read(text, scopeOf(args, undefined));
        }
        return context;
      },
    with: (params) => cel({ guards, params }),
  };
}

function computedText(value: Json): string | null {
  const isComputed =
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 1;
  return isComputed && typeof value.cel === "string" ? value.cel : null;
}

/** XState's names of platform events in a chart's words. */
const platformNames: readonly (readonly [theirs: string, ours: string])[] = [
  ["xstate.done.state.", "done.state."],
  ["xstate.done.actor.", "done.invoke."],
  ["xstate.error.actor.", "error.invoke."],
  ["xstate.after.", "after."],
];

function eventView(event: { type: string }): Json {
  if (event.type === "xstate.init") return null;
  const { type, output, error, ...fields } = event as {
    type: string;
    output?: Json;
    error?: unknown;
  } & JsonObject;
  const [theirs, ours] = platformNames.find(([prefix]) => type.startsWith(prefix)) ?? [null, ""];
  if (theirs === null) {
    const data = Object.keys(fields).length === 0 ? null : fields;
    return { ...fields, ...(output === undefined ? {} : { output }), type, data: fields.data ?? data };
  }
  const given =
    output ?? (error instanceof Error ? { message: error.message } : ((error as Json | undefined) ?? null));
  return { type: ours + type.slice(theirs.length), data: given, output: given };
}
