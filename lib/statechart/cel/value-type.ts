/**
 * What is known of a value before anything runs: which kinds it may be, what its fields and items are, which texts it may
 * be. Knowing less is always right: a type names every value that may come, and perhaps others.
 */
import { isJsonObject, type Json } from "@/lib/base/json";

export const kind = {
  null: 1,
  bool: 2,
  int: 4,
  double: 8,
  string: 16,
  list: 32,
  map: 64,
  timestamp: 128,
  duration: 256,
  bytes: 512,
  uint: 1024,
  type: 2048,
  /** Namespaces and what else no chart holds. */
  other: 4096,
} as const;
const anyKind = 8191;
export const numeric = kind.int | kind.double | kind.uint;

export interface ValueType {
  /** Of `kind`, or-ed together. */
  readonly kinds: number;
  /** Of a list. Absent: anything. */
  readonly item?: ValueType;
  /** Of a map, by name. Absent: anything under any name. */
  readonly fields?: ReadonlyMap<string, ValueType>;
  /** Fields beside those named; absent: there are none. */
  readonly rest?: ValueType;
  /** All the texts or bools it may be. Absent: any. */
  readonly values?: readonly (string | boolean)[];
}

export const dyn: ValueType = { kinds: anyKind };
export const isDyn = (type: ValueType): boolean => type === dyn || (type.kinds === anyKind && !type.fields);
export const ofKind = (kinds: number): ValueType => byKinds.get(kinds) ?? made(kinds);
const byKinds = new Map<number, ValueType>([[anyKind, dyn]]);
function made(kinds: number): ValueType {
  const type = { kinds };
  byKinds.set(kinds, type);
  return type;
}
/** Of no value: an empty list's items. */
export const nothing: ValueType = { kinds: 0 };
export const ofTexts = (values: readonly (string | boolean)[]): ValueType => ({
  kinds: values.reduce<number>((all, one) => all | (typeof one === "string" ? kind.string : kind.bool), 0),
  values,
});
export const listOfType = (item: ValueType): ValueType => ({ kinds: kind.list, item });
export const mapOfType = (fields: ReadonlyMap<string, ValueType>, rest?: ValueType): ValueType => ({
  kinds: kind.map,
  fields,
  ...(rest === undefined ? {} : { rest }),
});

// Types nest as the data do; a type that grows with every round of inference (`x: [context.x]`) ends as "anything".
const depthMax = 6;
const valuesMax = 30;

/** Either. The first itself when it already says as much. */
export function join(a: ValueType, b: ValueType, depth = 0): ValueType {
  if (a === b || a.kinds === anyKind || b.kinds === 0) return a;
  if (b.kinds === anyKind || a.kinds === 0) return b;
  if (depth > depthMax) return dyn;
  const kinds = a.kinds | b.kinds;
  const item = joinPart(a, b, kind.list, "item", depth);
  const [fields, rest] = joinFields(a, b, depth);
  const values = joinValues(a, b);
  if (kinds === a.kinds && item === a.item && fields === a.fields && rest === a.rest && values === a.values)
    return a;
  return {
    kinds,
    ...(item === undefined ? {} : { item }),
    ...(fields === undefined ? {} : { fields }),
    ...(rest === undefined ? {} : { rest }),
    ...(values === undefined ? {} : { values }),
  };
}

function joinPart(
  a: ValueType,
  b: ValueType,
  of: number,
  part: "item",
  depth: number,
): ValueType | undefined {
  if ((b.kinds & of) === 0) return a[part];
  if ((a.kinds & of) === 0) return b[part];
  const [left, right] = [a[part], b[part]];
  return left === undefined || right === undefined ? undefined : join(left, right, depth + 1);
}

function joinFields(a: ValueType, b: ValueType, depth: number): [ValueType["fields"], ValueType | undefined] {
  if ((b.kinds & kind.map) === 0) return [a.fields, a.rest];
  if ((a.kinds & kind.map) === 0) return [b.fields, b.rest];
  if (a.fields === undefined || b.fields === undefined) return [undefined, undefined];
  const rest =
    a.rest === undefined || b.rest === undefined ? (a.rest ?? b.rest) : join(a.rest, b.rest, depth + 1);
  let fields: Map<string, ValueType> | null = null;
  for (const [name, type] of b.fields) {
    const known = a.fields.get(name);
    const joined = known === undefined ? type : join(known, type, depth + 1);
    if (joined !== known) (fields ??= new Map(a.fields)).set(name, joined);
  }
  return [fields ?? a.fields, rest];
}

const listed = kind.string | kind.bool;

function joinValues(a: ValueType, b: ValueType): ValueType["values"] {
  if ((b.kinds & listed) === 0) return a.values;
  if ((a.kinds & listed) === 0) return b.values;
  if (a.values === undefined || b.values === undefined) return undefined;
  const { values } = a;
  const added = b.values.filter((one) => !values.includes(one));
  if (added.length === 0) return values;
  return values.length + added.length > valuesMax ? undefined : [...values, ...added];
}

/** The type of all that `key` may give; null: no such field can be there. */
export function fieldOf(type: ValueType, key: string): ValueType | null {
  if (type.fields === undefined) return dyn;
  return type.fields.get(key) ?? type.rest ?? null;
}

/** A literal, as it is now: its texts and numbers may change, its kinds are known. */
export function typeOfJson(value: Json, depth = 0): ValueType {
  if (depth > depthMax) return dyn;
  switch (typeof value) {
    case "boolean":
      return ofKind(kind.bool);
    case "number":
      return ofKind(Number.isSafeInteger(value) ? kind.int : kind.double);
    case "string":
      return ofKind(kind.string);
    default:
  }
  if (value === null) return ofKind(kind.null);
  if (Array.isArray(value)) {
    // A long table's rows are alike; those beyond the first hundred could only add to what is known.
    if (value.length > 100) return ofKind(kind.list);
    return listOfType(
      value.reduce<ValueType>((all, item) => join(all, typeOfJson(item, depth + 1)), nothing),
    );
  }
  const fields = Object.entries(value).map(([key, item]) => [key, typeOfJson(item, depth + 1)] as const);
  return mapOfType(new Map(fields));
}

/** A JSON Schema's values. What it says beyond kinds, fields, items and enumerations is passed over. */
export function typeOfSchema(schema: Json | undefined, depth = 0): ValueType {
  if (!isJsonObject(schema) || depth > depthMax) return dyn;
  if (schema.$ref !== undefined || schema.allOf !== undefined || schema.if !== undefined) return dyn;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) {
    if (!Array.isArray(branches) || schema.properties !== undefined || branches.length === 0) return dyn;
    return branches
      .map((branch) => typeOfSchema(branch, depth + 1))
      .reduce((all, branch) => join(all, branch), nothing);
  }
  const { enum: listed, const: only } = schema;
  if (only !== undefined || Array.isArray(listed))
    return typeOfValues(only === undefined ? (listed as Json[]) : [only]);
  const names = kindNames(schema);
  if (names === null) return dyn;
  const nullable = schema.nullable === true ? kind.null : 0;
  return names
    .map((name) => typeOfName(name, schema, depth))
    .reduce((all, one) => join(all, one), ofKind(nullable));
}

function typeOfValues(values: readonly Json[]): ValueType {
  return values.reduce<ValueType>(
    (all, value) =>
      join(
        all,
        typeof value === "string" || typeof value === "boolean" ? ofTexts([value]) : typeOfJson(value),
      ),
    nothing,
  );
}

/** `type`, or what the other keywords take for granted; null: anything. */
function kindNames({ type, properties, items }: Record<string, Json>): string[] | null {
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  if (properties !== undefined) return ["object"];
  return items === undefined ? null : ["array"];
}

function typeOfName(name: string, schema: Record<string, Json>, depth: number): ValueType {
  switch (name) {
    case "null":
      return ofKind(kind.null);
    case "boolean":
      return ofKind(kind.bool);
    case "integer":
      return ofKind(kind.int);
    case "number":
      // A whole number is an int, whatever the schema's author had in mind.
      return ofKind(kind.int | kind.double);
    case "string":
      return ofKind(kind.string);
    case "array":
      return schema.prefixItems !== undefined || Array.isArray(schema.items)
        ? ofKind(kind.list)
        : { kinds: kind.list, item: typeOfSchema(schema.items, depth + 1) };
    case "object":
      return typeOfObject(schema, depth);
    default:
      return dyn;
  }
}

/**
 * Properties that are listed are taken for all there are, unless `additionalProperties` or patterns say that others come:
 * who lists them wants to hear of a slip of the pen.
 */
function typeOfObject(schema: Record<string, Json>, depth: number): ValueType {
  const { properties, additionalProperties: others } = schema;
  if (schema.patternProperties !== undefined) return ofKind(kind.map);
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  if (named.length === 0 && others !== false && !isJsonObject(others)) return ofKind(kind.map);
  const fields = new Map(named.map(([key, one]) => [key, typeOfSchema(one, depth + 1)]));
  const rest = others === true ? dyn : isJsonObject(others) ? typeOfSchema(others, depth + 1) : undefined;
  return mapOfType(fields, rest);
}

const kindWords: [number, string][] = [
  [kind.bool, "a bool"],
  [kind.int, "an int"],
  [kind.double, "a double"],
  [kind.uint, "a uint"],
  [kind.string, "a string"],
  [kind.list, "a list"],
  [kind.map, "a map"],
  [kind.timestamp, "a timestamp"],
  [kind.duration, "a duration"],
  [kind.bytes, "bytes"],
  [kind.type, "a type"],
  [kind.null, "null"],
];

/** `a string`, `an int or null`, as messages say it. */
export function typeWords({ kinds }: ValueType): string {
  if (kinds === anyKind) return "anything";
  if ((kinds & numeric) === (kind.int | kind.double)) {
    return ["a number", ...wordsOf(kinds & ~numeric)].join(" or ");
  }
  return wordsOf(kinds).join(" or ") || "nothing";
}

const wordsOf = (kinds: number): string[] =>
  kindWords.filter(([bit]) => (kinds & bit) !== 0).map(([, word]) => word);
