/**
 * The address of a transition in a document: how traces, drawings, layouts and diagnostics speak of the same arrow.
 *
 * Form: `<state name>#<field path>`, the path's segments joined by `/` with JSON pointer escapes, always ending in the
 * candidate's index, also where the document holds a single transition instead of a list. The root's name is "".
 * Examples: `idle#on/pay/0` · `idle#after/5s/0` · `#always/0` · `work#invoke/0/onDone/1` · `work#initial` (the dot's arrow).
 */
export interface TransitionAddress {
  state: string;
  /** Unescaped segments, e.g. ["on", "pay", "0"]. */
  path: string[];
}

export function transitionId(state: string, ...path: (string | number)[]): string {
  return `${state}#${path.map((segment) => escapeSegment(String(segment))).join("/")}`;
}

export function parseTransitionId(id: string): TransitionAddress {
  // A state name may hold "#"? No: names with "#" are refused by validate, so the first one splits.
  const at = id.indexOf("#");
  return {
    state: id.slice(0, at),
    path: id
      .slice(at + 1)
      .split("/")
      .map(unescapeSegment),
  };
}

/** A key as a segment of a field path. */
export const escapeSegment = (text: string): string =>
  /[~/]/.test(text) ? text.replaceAll("~", "~0").replaceAll("/", "~1") : text;
export const unescapeSegment = (text: string): string => text.replaceAll("~1", "/").replaceAll("~0", "~");
