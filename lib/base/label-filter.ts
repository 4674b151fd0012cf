/**
 * A label as lists are searched by it, in one text: `key:value`, the key up to the first colon.
 *
 * Holds: a colon within the key is written `\:`, a backslash `\\`; a backslash before anything else, and all in the value, is
 *        itself. What the first writes the second reads.
 */
export const labelFilterOf = (key: string, value: string): string =>
  `${key.replaceAll(/[\\:]/g, "\\$&")}:${value}`;

/** null: it is none. */
export function readLabelFilter(text: string): { key: string; value: string } | null {
  const found = /^((?:\\[\\:]|\\(?![\\:])|[^\\:])+):(.*)$/s.exec(text);
  if (!found) return null;
  const [, key = "", value = ""] = found;
  return { key: key.replaceAll(/\\([\\:])/g, "$1"), value };
}
