/**
 * Shapes that the arguments and answers of several verbs share. Optional arguments may be given as undefined.
 */
import { LockstepError } from "@/lib/base/errors";

export type NoArgs = Record<string, never>;
export interface PageArgs {
  cursor?: string | undefined;
  limit?: number | undefined;
}
export interface Idempotent {
  /** Names the call for safe repetition: a repeat gets the first answer. */
  idempotencyKey?: string | undefined;
}
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

const limitDefault = 50;
const limitMax = 200;

export const pageLimit = (limit: number | undefined): number =>
  Math.max(1, Math.min(limit ?? limitDefault, limitMax));

/** A page out of one row more than it holds. The cursor is the last row's place, opaque to callers. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => object,
  itemOf: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return {
    items: shown.map(itemOf),
    nextCursor: more ? cursorOf(placeOf(last)) : null,
  };
}

export const cursorOf = (place: object): string => Buffer.from(JSON.stringify(place)).toString("base64url");

/** Throws `bad-request` when it isn't a cursor that pageOf gave. */
export function readCursor<Place extends Record<string, string | number>>(
  cursor: string | undefined,
  example: Place,
): Place | null {
  if (cursor === undefined) return null;
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (typeof place === "object" && place !== null) {
      const found = place as Record<string, unknown>;
      if (Object.entries(example).every(([name, value]) => typeof found[name] === typeof value)) {
        return found as Place;
      }
    }
  } catch {
    // Not ours: said below.
  }
  throw new LockstepError(
    "bad-request",
    "The cursor is not one that this list gave. Start at the first page.",
    {
      details: { field: "cursor" },
    },
  );
}
