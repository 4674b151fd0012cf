/**
 * Texts inside a Mermaid diagram: what its grammar or its Markdown would take for something else stands as `#58;`.
 *
 * Holds: decoding what was encoded gives the text back; an encoded text is one line without `:`, `;`, `"` and markup.
 */

/** The name of an entity where Mermaid knows one, else its code point. */
const names: Readonly<Record<string, string>> = { "<": "lt", ">": "gt", '"': "quot", "&": "amp" };
const byName = new Map(Object.entries(names).map(([char, name]) => [name, char]));

export function encodeText(text: string): string {
  const stars = text.split("*").length > 2;
  return text
    .replace(/[#:;<>"`\\\u0000-\u0009\u000b-\u001f\u007f]|&(?=[#\w])|^\s|\s$/g, (char) =>
      char === "\n" ? char : entity(char),
    )
    .replace(/\*/g, (star) => (stars ? entity(star) : star))
    .replace(/%(?=%)/g, entity)
    .replace(/\[(?=\[)/g, entity)
    .replace(
      /(direction)(\s)(?=\s*(?:TB|TD|BT|RL|LR))/gi,
      (_, word: string, space: string) => word + entity(space),
    )
    .replaceAll("\n", "<br/>");
}

export function decodeText(text: string): string {
  return text.replace(/<br\s*\/?>/gi, "\n").replace(/#(\d{1,7}|[a-z]{1,8});/gi, (whole, code: string) => {
    if (!/^\d/.test(code)) return byName.get(code.toLowerCase()) ?? whole;
    const point = Number(code);
    return point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : whole;
  });
}

const entity = (char: string): string => `#${names[char] ?? char.codePointAt(0)};`;
