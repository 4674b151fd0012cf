/**
 * The environment's functions with the types they take and give, by name: read from the environment itself, so that what
 * it has and what is known of it cannot differ.
 */
import { environmentWith } from "./environment";
import { dyn, kind, listOfType, ofKind, type ValueType } from "./value-type";

export interface Signature {
  /** Null: a function, not a method. */
  receiver: ValueType | null;
  params: readonly ValueType[];
  returns: ValueType;
}

let byName: Map<string, Signature[]> | null = null;

export function functionsNamed(name: string): readonly Signature[] {
  return (byName ??= read()).get(name) ?? [];
}

export function functionNames(): Iterable<string> {
  return (byName ??= read()).keys();
}

function read(): Map<string, Signature[]> {
  const found = new Map<string, Signature[]>();
  for (const { name, receiverType, params, returnType } of environmentWith([]).getDefinitions().functions) {
    const signature: Signature = {
      receiver: receiverType === null ? null : typeNamed(receiverType),
      params: params.map(({ type }) => typeNamed(type)),
      returns: typeNamed(returnType),
    };
    const same = found.get(name);
    if (same === undefined) found.set(name, [signature]);
    else same.push(signature);
  }
  return found;
}

const kindByName: Record<string, number> = {
  bool: kind.bool,
  int: kind.int,
  uint: kind.uint,
  double: kind.double,
  string: kind.string,
  bytes: kind.bytes,
  null: kind.null,
  type: kind.type,
  "google.protobuf.Timestamp": kind.timestamp,
  "google.protobuf.Duration": kind.duration,
};

function typeNamed(name: string): ValueType {
  if (name === "list<string>") return listOfType(ofKind(kind.string));
  if (name.startsWith("list")) return ofKind(kind.list);
  if (name.startsWith("map")) return ofKind(kind.map);
  if (/^optional|Namespace$/.test(name)) return ofKind(kind.other);
  const bits = kindByName[name];
  return bits === undefined ? dyn : ofKind(bits);
}
