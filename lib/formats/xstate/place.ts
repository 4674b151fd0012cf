/**
 * Where in an XState document a reader is, for its reports and for references that start there.
 */
export interface Place {
  /** Keys from the root. */
  path: string[];
  /** State name ("" is the root). */
  state: string;
}

export const nameOf = (place: Place): string =>
  place.path.length === 0 ? "the root" : `state \`${place.path.join(".")}\``;
