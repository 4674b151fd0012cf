/**
 * What a search may send to a chart: for each event type some payloads, from the tests beside the chart and from its
 * schemas (`examples`, `const`, `enum`, `default`, bounds of numbers).
 */
import { isJsonObject, type Json, type JsonObject } from "@/lib/base/json";
import type { Machine } from "@/lib/statechart/machine";
import type { ChartTest } from "./chart-test";

export interface EventSample {
  type: string;
  /** Undefined: none. */
  data: Json | undefined;
}
export type EventSamples = ReadonlyMap<string, readonly EventSample[]>;

// Each is tried in every state: more make the search wide, not better.
const samplesMax = 8;
const nestingMax = 4;

/** The samples of every event type that the chart or its tests speak of. */
export function eventSamples(machine: Machine, tests: readonly ChartTest[]): EventSamples {
  const schemas = machine.chart.schemas?.events ?? {};
  const sent = tests.flatMap(({ steps }) =>
    steps.flatMap(({ input }) => (input !== null && "type" in input ? [input] : [])),
  );
  const handled = machine.ordered.flatMap((state) =>
    state.handlers.filter(({ kind, forbidden }) => kind === "on" && !forbidden),
  );
  const named = handled.map(({ descriptor }) => descriptor).filter((name) => !name.includes("*"));
  const types = new Set(
    [...named, ...Object.keys(schemas), ...sent.map(({ type }) => type)].filter(isOutside),
  );
  for (const { descriptor } of handled) {
    // A wildcard that no known type matches stands for a type of its own.
    const prefix = descriptor.replace(/\.?\*$/, "");
    if (!descriptor.endsWith("*") || !isOutside(descriptor)) continue;
    if (
      prefix === ""
        ? types.size === 0
        : ![...types].some((type) => type === prefix || type.startsWith(`${prefix}.`))
    )
      types.add(prefix === "" ? "any" : prefix);
  }
  return new Map(
    [...types].sort().map((type) => {
      const given = sent.filter((one) => one.type === type).map(({ data }) => data);
      const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
      const made = schema === undefined ? [] : valuesOf(schema, 0);
      const all = distinct([...given, ...made]);
      const samples = (all.length === 0 ? [undefined] : all).slice(0, samplesMax);
      return [type, samples.map((data) => ({ type, data }))];
    }),
  );
}

/** Only the platform says that something is done or went wrong. */
const isOutside = (type: string): boolean => !/^(?:done|error)\./.test(type);

/** Values that `schema` allows, the likeliest first; none where it says too little. */
function valuesOf(schema: Json, depth: number): Json[] {
  if (!isJsonObject(schema) || depth > nestingMax) return [];
  const { examples, enum: allowed, type, minimum, maximum, properties } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples;
  if (schema.const !== undefined) return [schema.const];
  if (Array.isArray(allowed)) return allowed;
  const first = schema.default === undefined ? [] : [schema.default];
  switch (type) {
    case "boolean":
      return distinct([...first, true, false]) as Json[];
    case "integer":
    case "number":
      return distinct([
        ...first,
        ...[minimum, maximum].filter((bound) => typeof bound === "number"),
      ]) as Json[];
    case "object":
      return [...first, ...objectsOf(isJsonObject(properties) ? properties : {}, depth)];
    default:
      return first;
  }
}

/** The first value everywhere, then each other value in its place. */
function objectsOf(properties: JsonObject, depth: number): JsonObject[] {
  const choices = Object.entries(properties).flatMap(([key, schema]) => {
    const values = valuesOf(schema, depth + 1);
    return values.length === 0 ? [] : [[key, values] as const];
  });
  if (choices.length === 0) return [];
  const base = Object.fromEntries(choices.map(([key, [value = null]]) => [key, value]));
  return [
    base,
    ...choices.flatMap(([key, values]) => values.slice(1).map((value) => ({ ...base, [key]: value }))),
  ];
}

function distinct(values: readonly (Json | undefined)[]): (Json | undefined)[] {
  const seen = new Set<string | undefined>();
  return values.filter((value) => {
    const text = JSON.stringify(value) as string | undefined;
    return seen.has(text) ? false : seen.add(text);
  });
}
