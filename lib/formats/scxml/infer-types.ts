/**
 * Finds the RootTypes of a document: first the data's own values, then every assignment, until nothing new turns up.
 */
import { parseJson } from "../parse-json";
import { translateEcmaScript } from "./ecmascript";
import type { XmlElement } from "./read-xml";
import { RootTypes, type ValueType, type ValueTypes } from "./root-types";

// Each round can only add types (five per name); real documents settle in three rounds.
const roundsMax = 8;
// A document with more assignments than this is generated; then nothing is known of any name, which is always right.
const writesMax = 2_000;

export function inferTypes(root: XmlElement, language: string): RootTypes {
  const types = new RootTypes();
  const data: Write[] = [];
  const writes: Write[] = [];
  collect(root, root.uri, data, writes);
  for (const write of data) types.declare(write.root);
  // A foreach may declare the names of its item and index itself.
  for (const write of writes) if (write.declares) types.declare(write.root);
  const all = [...data, ...writes];
  for (let round = 0; round < roundsMax && all.length <= writesMax; round++) {
    let changed = false;
    for (const write of all) changed = types.add(write.root, typesOf(write, types, language)) || changed;
    if (!changed) return types;
  }
  for (const name of types.roots()) types.add(name, "any");
  return types;
}

interface Write {
  root: string;
  /** null: no value. */
  source: { expr: string } | { content: string } | { types: ValueTypes } | null;
  declares: boolean;
}

function typesOf({ source }: Write, types: RootTypes, language: string): ValueTypes {
  if (source === null) return new Set<ValueType>(["null"]);
  if ("types" in source) return source.types;
  if ("content" in source) {
    const parsed = parseJson(source.content);
    const value = parsed.ok ? parsed.value : "";
    if (value === null) return new Set<ValueType>(["null"]);
    if (typeof value === "object") return new Set<ValueType>(["other"]);
    return new Set<ValueType>([
      typeof value === "boolean" ? "bool" : typeof value === "number" ? "number" : "string",
    ]);
  }
  if (language !== "ecmascript") return "any";
  const translation = translateEcmaScript(source.expr, { context: "value", types, eventBound: false });
  // A placeholder does nothing, a text that is no expression fails: neither writes.
  return translation.kind === "cel" ? translation.types : new Set();
}

function collect(element: XmlElement, uri: string, data: Write[], writes: Write[]): void {
  for (const child of element.children) {
    if (child.uri !== uri) continue;
    const get = (name: string): string | undefined => child.attributes.get(name)?.trim();
    if (child.name === "data") {
      const root = get("id");
      if (root !== undefined) data.push({ root, source: sourceOf(child), declares: true });
    } else if (child.name === "assign") {
      const location = get("location") ?? "";
      if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(location))
        writes.push({ root: location, source: sourceOf(child), declares: false });
    } else if (child.name === "foreach") {
      const item = get("item");
      const index = get("index");
      if (item !== undefined) writes.push({ root: item, source: { types: "any" }, declares: true });
      if (index !== undefined)
        writes.push({ root: index, source: { types: new Set<ValueType>(["number"]) }, declares: true });
    } else if (child.name === "send" || child.name === "invoke") {
      const location = get("idlocation");
      if (location !== undefined)
        writes.push({ root: location, source: { types: new Set<ValueType>(["string"]) }, declares: false });
    }
    collect(child, uri, data, writes);
  }
}

function sourceOf(element: XmlElement): Write["source"] {
  const expr = element.attributes.get("expr");
  if (expr !== undefined) return { expr };
  if (element.attributes.has("src")) return { types: "any" };
  const content = element.text.trim();
  return element.children.length > 0 ? { content: '""' } : content === "" ? null : { content };
}
