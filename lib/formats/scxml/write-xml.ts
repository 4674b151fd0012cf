/**
 * A tree of elements → XML text, indented.
 *
 * Holds: the text is well-formed whatever the strings hold: markup is escaped, line breaks in attributes survive, and a
 *        character XML has no place for stands as a `\uXXXX` escape (which CEL and JSON strings read back).
 */
export interface XmlNode {
  name: string;
  attributes: [name: string, value: string][];
  children: (XmlNode | string)[];
}

/** Attributes without a value are left out. */
export function xmlElement(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  children: (XmlNode | string)[] = [],
): XmlNode {
  const given = Object.entries(attributes).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { name, attributes: given, children };
}

export function xmlText(root: XmlNode): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${lines(root, "")}\n`;
}

function lines(node: XmlNode, indent: string): string {
  const attributes = node.attributes.map(([name, value]) => ` ${name}="${attributeText(value)}"`).join("");
  const open = `${indent}<${node.name}${attributes}`;
  if (node.children.length === 0) return `${open}/>`;
  if (node.children.every((child) => typeof child === "string"))
    return `${open}>${node.children.map(characterData).join("")}</${node.name}>`;
  const inner = node.children.map((child) =>
    typeof child === "string" ? `${indent}  ${characterData(child)}` : lines(child, `${indent}  `),
  );
  return `${open}>\n${inner.join("\n")}\n${indent}</${node.name}>`;
}

/** `text` without characters that XML 1.0 cannot hold. */
export function xmlSafe(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const characterData = (text: string): string =>
  xmlSafe(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\r", "&#13;");

const attributeText = (text: string): string =>
  characterData(text).replaceAll('"', "&quot;").replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
