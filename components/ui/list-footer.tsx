"use client";
/**
 * Under a list: how many are shown, its keys, the way to the next page.
 */
import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "./button";
import { Kbd } from "./kbd";

export function ListFooter({
  count,
  keys,
  onPrevious,
  onNext,
}: {
  count: ReactNode;
  keys: [keys: string[], what: string][];
  /** null: there is none; undefined: the list has one page and shows no arrows. */
  onPrevious?: (() => void) | null;
  onNext?: (() => void) | null;
}) {
  return (
    <footer className="flex h-9 shrink-0 items-center gap-4 border-t border-border bg-surface px-3.5 text-body text-text-2">
      <span className="tabular-nums empty:hidden">{count}</span>
      <span className="flex items-center gap-3 text-text-3 max-md:hidden">
        {keys.map(([names, what]) => (
          <span key={what} className="flex items-center gap-1">
            {names.map((name) => (
              <Kbd key={name}>{name}</Kbd>
            ))}
            <span className="ml-0.5">{what}</span>
          </span>
        ))}
      </span>
      {onPrevious !== undefined || onNext !== undefined ? (
        <span className="ml-auto flex gap-1.5">
          <IconButton
            label="Previous page"
            size="icon-sm"
            variant="outline"
            disabled={!onPrevious}
            onClick={() => onPrevious?.()}
          >
            <ChevronLeft size={14} aria-hidden />
          </IconButton>
          <IconButton
            label="Next page"
            size="icon-sm"
            variant="outline"
            disabled={!onNext}
            onClick={() => onNext?.()}
            data-testid="next-page"
          >
            <ChevronRight size={14} aria-hidden />
          </IconButton>
        </span>
      ) : null}
    </footer>
  );
}
