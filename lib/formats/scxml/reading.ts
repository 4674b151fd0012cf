/**
 * What the parts of the SCXML importer share while they read one document.
 */
import type { Json } from "@/lib/base/json";
import type { Action } from "@/lib/statechart/document";
import { parseJson } from "../parse-json";
import type { Reports } from "../reports";
import type { Expressions } from "./expressions";
import type { StateIds } from "./state-ids";
import type { XmlElement } from "./read-xml";

export interface Reading {
  reports: Reports;
  expressions: Expressions;
  ids: StateIds;
  /** Namespace of the document's own elements. */
  uri: string;
  /** Reads a file named by `src`, null when there is none to read. */
  load: (src: string) => string | null;
  /** Actions the root runs on entry, for what a chart cannot hold where the document has it. */
  rootEntry: Action[];
  /** Our own writer made the document: its attributes of our namespace count. */
  isOurs: boolean;
}

/** The text of an attribute, null when it is absent. */
export const attribute = (element: XmlElement, name: string): string | null =>
  element.attributes.get(name) ?? null;

/** Words of a list-valued attribute such as `target` or `event`. */
export const words = (text: string | null): string[] =>
  (text ?? "").split(/\s+/).filter((word) => word !== "");

/** Children of the document's own namespace with one of the names. */
export const childrenNamed = (
  reading: { uri: string },
  element: XmlElement,
  ...names: string[]
): XmlElement[] =>
  element.children.filter((child) => child.uri === reading.uri && names.includes(child.name));

/** The JSON in an attribute of our own namespace; undefined when there is none, or it is broken (then reported). */
export function ownJson(reading: Reading, element: XmlElement, name: string): Json | undefined {
  const text = reading.isOurs ? element.own.get(name) : undefined;
  if (text === undefined) return undefined;
  const parsed = parseJson(text);
  if (parsed.ok) return countPlaceholders(reading, parsed.value);
  reading.reports.error(
    "bad-attribute",
    `Lockstep's attribute \`${name}\` of <${element.name}> holds no JSON: ${parsed.message}. Remove it, or export again.`,
    element.at,
  );
  return undefined;
}

function countPlaceholders(reading: Reading, json: Json): Json {
  if (typeof json !== "object" || json === null) return json;
  if (!Array.isArray(json) && typeof json.placeholder === "string") reading.reports.placeholders++;
  for (const item of Object.values(json)) countPlaceholders(reading, item);
  return json;
}
