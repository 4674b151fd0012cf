/**
 * XML text → a tree of elements with their places, for documents from strangers.
 *
 * Holds: a DTD is refused (so no entity of the document's own is ever expanded); depth and number of elements are
 *        bounded; the first fault ends the reading with its line and column; nothing is thrown out of readXml.
 */
import { SaxesParser, type SaxesTagNS } from "saxes";
import { importBounds } from "../import-result";
import { positionAt, type TextPosition } from "../text-position";
import { ownNamespace } from "./own-names";

export interface XmlElement {
  /** Local name. */
  name: string;
  uri: string;
  /** Attributes without a namespace. */
  attributes: ReadonlyMap<string, string>;
  /** Attributes of our own namespace (own-names.ts). */
  own: ReadonlyMap<string, string>;
  /** Names of attributes of other namespaces. */
  foreignAttributes: string[];
  children: XmlElement[];
  /** All character data directly inside, in order. */
  text: string;
  /** What stands between the tags, as written. */
  markup: string;
  at: TextPosition;
}

export type ParsedXml = { ok: true; root: XmlElement } | { ok: false; message: string; at: TextPosition };

class XmlFault extends Error {
  constructor(
    message: string,
    readonly at: TextPosition,
  ) {
    super(message);
  }
}

export function readXml(text: string): ParsedXml {
  try {
    return { ok: true, root: parse(text) };
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    const { message, at } = error;
    return { ok: false, ...(bareAmpersand(text, at) ?? { message, at }) };
  }
}

/**
 * The commonest fault, a bare `&` as in `a && b`: the parser reads on to the next `;` and complains far away.
 */
function bareAmpersand(text: string, before: TextPosition): { message: string; at: TextPosition } | null {
  const next = /&|<!--|<!\[CDATA\[|<\?/g;
  const reference = /&(?:[A-Za-z_][\w.-]*|#\d+|#x[0-9A-Fa-f]+);/y;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    const end = endOf[found[0]];
    if (end !== undefined) {
      const at = text.indexOf(end, next.lastIndex);
      if (at < 0) return null;
      next.lastIndex = at + end.length;
      continue;
    }
    reference.lastIndex = found.index;
    if (reference.test(text)) continue;
    const at = positionAt(text, found.index);
    const earlier = at.line < before.line || (at.line === before.line && at.column <= before.column);
    return earlier ? { message: "a bare `&`; write `&amp;` (so `&&` is `&amp;&amp;`)", at } : null;
  }
  return null;
}

/** What closes the sections whose ampersands are no references. */
const endOf: Readonly<Record<string, string>> = { "<!--": "-->", "<![CDATA[": "]]>", "<?": "?>" };

interface OpenElement {
  element: XmlElement;
  /** Offset after the start tag. */
  contentStart: number;
}

function parse(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true, position: true });
  const open: OpenElement[] = [];
  let root: XmlElement | null = null;
  let elements = 0;
  let startedAt: TextPosition = { line: 1, column: 1 };
  const here = (): TextPosition => ({ line: parser.line, column: parser.columnIndex + 1 });
  const fail = (message: string, at = here()): never => {
    throw new XmlFault(message, at);
  };

  parser.on("error", (error) => fail(error.message.replace(/^\d+:\d+: /, "").replace(/\.$/, "")));
  parser.on("doctype", () =>
    fail(
      "a DOCTYPE is refused: documents may not define entities; remove it and write the characters themselves",
    ),
  );
  parser.on("opentagstart", (tag) => {
    const { line, column } = here();
    startedAt = { line, column: Math.max(1, column - tag.name.length - 2) };
  });
  parser.on("opentag", (tag) => {
    if (++elements > importBounds.elementsMax) fail(`more than ${importBounds.elementsMax} elements`);
    if (open.length >= importBounds.depthMax) fail(`nested deeper than ${importBounds.depthMax} elements`);
    const element = elementOf(tag, startedAt);
    const parent = open.at(-1);
    if (parent === undefined) root = element;
    else parent.element.children.push(element);
    open.push({ element, contentStart: parser.position });
  });
  parser.on("closetag", (tag) => {
    const closed = open.pop();
    if (closed === undefined || tag.isSelfClosing) return;
    closed.element.markup = text.slice(closed.contentStart, text.lastIndexOf("</", parser.position - 1));
  });
  const characters = (chunk: string): void => {
    const parent = open.at(-1);
    if (parent !== undefined) parent.element.text += chunk;
  };
  parser.on("text", characters);
  parser.on("cdata", characters);
  parser.write(text).close();
  return root ?? fail("the text holds no element");
}

function elementOf(tag: SaxesTagNS, at: TextPosition): XmlElement {
  const attributes = new Map<string, string>();
  const own = new Map<string, string>();
  const foreignAttributes: string[] = [];
  for (const attribute of Object.values(tag.attributes)) {
    if (attribute.prefix === "") attributes.set(attribute.local, attribute.value);
    else if (attribute.uri === ownNamespace) own.set(attribute.local, attribute.value);
    else if (attribute.prefix !== "xmlns" && attribute.prefix !== "xml")
      foreignAttributes.push(attribute.name);
  }
  return {
    name: tag.local,
    uri: tag.uri,
    attributes,
    own,
    foreignAttributes,
    children: [],
    text: "",
    markup: "",
    at,
  };
}
