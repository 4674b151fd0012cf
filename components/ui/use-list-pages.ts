"use client";
/**
 * Keyset paging of a list whose cursor is in the address: forward by the answer's cursor, back along the way one came.
 */
import { useRef } from "react";
import type { UrlPatch } from "./use-url-params";

export interface ListPages {
  /** Changes what is listed, from its first page. */
  filter: (patch: UrlPatch) => void;
  /** The footer's two ways; null where there is none. */
  turns: (nextCursor: string | null) => { onPrevious: (() => void) | null; onNext: (() => void) | null };
}

export function useListPages(
  cursor: string | null,
  setParams: (patch: UrlPatch, how?: "push" | "replace") => void,
): ListPages {
  const earlier = useRef<(string | null)[]>([]);
  return {
    filter: (patch) => {
      earlier.current = [];
      setParams({ ...patch, cursor: null }, "push");
    },
    turns: (nextCursor) => ({
      onPrevious: cursor === null ? null : () => setParams({ cursor: earlier.current.pop() ?? null }, "push"),
      onNext:
        nextCursor === null
          ? null
          : () => {
              earlier.current.push(cursor);
              setParams({ cursor: nextCursor }, "push");
            },
    }),
  };
}
