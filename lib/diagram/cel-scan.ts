/**
 * CEL's tokens, as far as a reader of labels, a highlighter and a renamer need them: where strings, comments, names,
 * numbers and brackets begin and end. No grammar: that is the engine's.
 *
 * Holds: the tokens' texts joined are the input; an unclosed string runs to the end and is marked `open`.
 */
type CelTokenKind = "string" | "number" | "name" | "operator" | "space" | "comment";
export interface CelToken {
  kind: CelTokenKind;
  text: string;
  at: number;
  open?: true;
}

export function celTokens(text: string): CelToken[] {
  const tokens: CelToken[] = [];
  let at = 0;
  while (at < text.length) {
    const token = nextToken(text, at);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

/** Index of the `]` that closes a bracket whose content starts at `from`, or -1. */
export function closingBracket(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const token = nextToken(text, at);
    if (token.kind === "operator") {
      if ("([{".includes(token.text)) depth++;
      else if (token.text === "]" && depth === 0) return at;
      else if (")]}".includes(token.text)) depth--;
    }
    at += token.text.length;
  }
  return -1;
}

/** Every `In('name')` of a CEL text, with the place of the string literal. */
export function inCalls(text: string): { name: string; from: number; to: number }[] {
  const tokens = celTokens(text).filter((token) => token.kind !== "space" && token.kind !== "comment");
  const calls: { name: string; from: number; to: number }[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== "name" || token.text !== "In" || tokens[index - 1]?.text === ".") return;
    const literal = tokens[index + 2];
    if (tokens[index + 1]?.text !== "(" || literal?.kind !== "string" || tokens[index + 3]?.text !== ")")
      return;
    const name = plainString(literal.text);
    if (name !== null) calls.push({ name, from: literal.at, to: literal.at + literal.text.length });
  });
  return calls;
}

/** The value of a string literal without escapes or prefix, else null. */
function plainString(literal: string): string | null {
  const match = /^(['"])([^'"\\\n]*)\1$/.exec(literal);
  return match?.[2] ?? null;
}

const space = /[ \t\r\n\f]+/y;
const comment = /\/\/[^\n]*/y;
const number = /(?:0x[0-9a-fA-F]+u?|(?:\d+\.\d+|\d+)(?:[eE][+-]?\d+)?u?|\.\d+(?:[eE][+-]?\d+)?)/y;
const name = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const operator = /(?:&&|\|\||==|!=|<=|>=|[\s\S])/y;
const quoted = /[rRbB]{0,2}('''|"""|'|")/y;

function nextToken(text: string, at: number): CelToken {
  const stringEnd = endOfString(text, at);
  if (stringEnd) {
    const token: CelToken = { kind: "string", text: text.slice(at, stringEnd.end), at };
    return stringEnd.closed ? token : { ...token, open: true };
  }
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { kind, text: match[0], at };
  }
  return { kind: "operator", text: text.slice(at, at + 1), at };
}

const patterns: [CelTokenKind, RegExp][] = [
  ["space", space],
  ["comment", comment],
  ["number", number],
  ["name", name],
  ["operator", operator],
];

function endOfString(text: string, at: number): { end: number; closed: boolean } | null {
  quoted.lastIndex = at;
  const start = quoted.exec(text);
  const quote = start?.[1];
  if (!start || quote === undefined) return null;
  const raw = /[rR]/.test(start[0]);
  for (let end = at + start[0].length; end < text.length; end++) {
    if (!raw && text[end] === "\\") end++;
    else if (text.startsWith(quote, end)) return { end: end + quote.length, closed: true };
    else if (quote.length === 1 && text[end] === "\n") return { end, closed: false };
  }
  return { end: text.length, closed: false };
}
