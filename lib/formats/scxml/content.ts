/**
 * Data written inside an element: JSON where it reads as JSON, else its text with white space normalised; XML children
 * stay markup (SCXML 5.3, B.2).
 */
import type { Json } from "@/lib/base/json";
import { parseJson } from "../parse-json";
import type { XmlElement } from "./read-xml";

/** The element's inline data, undefined when it is empty. */
export function inlineData(element: XmlElement): Json | undefined {
  if (element.children.length > 0) return element.markup.trim();
  return textData(element.text);
}

export function textData(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const parsed = parseJson(trimmed);
  return parsed.ok ? parsed.value : trimmed.replace(/\s+/g, " ");
}
