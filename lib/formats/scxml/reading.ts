/**
 * What the parts of the SCXML importer share while they read one document.
 */
import type { Action } from "@/lib/statechart/document";
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
