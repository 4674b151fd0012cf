/** Which texts may become a column: PostgreSQL takes no U+0000, and half a surrogate pair has no UTF-8. Inside JSON both may be. */
const unstorable = /\0|\p{Surrogate}/u;

export const isStorable = (text: string): boolean => !unstorable.test(text);

/** The same text with a mark in the place of what can't be stored. */
export const storable = (text: string): string =>
  isStorable(text) ? text : text.replace(/\0|\p{Surrogate}/gu, "\uFFFD");
