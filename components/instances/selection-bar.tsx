"use client";
/**
 * What is chosen of the list, and the verbs that can be done to all of it.
 */
import { Ellipsis, SquareCheck } from "lucide-react";
import { Button, IconButton } from "@/components/ui/button";
import { Kbd } from "@/components/ui/kbd";
import { Menu } from "@/components/ui/menu";
import { formatCount } from "@/components/ui/time";
import { useKeys } from "@/components/ui/use-keys";
import type { BatchVerb } from "@/lib/contract/batches";
import { batchVerbs, batchWords } from "./batch-words";

/** The rest is in the menu. */
const shown: readonly BatchVerb[] = ["suspend", "resume", "cancel"];

export function SelectionBar({
  count,
  whole,
  onWhole,
  onVerb,
  onClear,
}: {
  /** Rows chosen. */
  count: number;
  /** All that match the filters are chosen, also those of other pages. */
  whole: boolean;
  onWhole: () => void;
  onVerb: (verb: BatchVerb) => void;
  onClear: () => void;
}) {
  useKeys({ Escape: onClear });
  const menu = batchVerbs.filter((verb) => !shown.includes(verb));
  return (
    <div
      role="region"
      aria-label="Selection"
      data-testid="selection-bar"
      className="flex min-h-10 shrink-0 flex-wrap items-center gap-2 border-b border-border bg-accent-soft px-3.5 py-1 text-body"
    >
      <SquareCheck size={15} aria-hidden className="text-accent" />
      <span className="font-semibold text-accent" data-testid="selected-count">
        {whole ? "All that match selected" : `${formatCount(count)} selected`}
      </span>
      {whole ? null : (
        <button
          type="button"
          onClick={onWhole}
          data-testid="select-whole"
          className="rounded-chip text-accent underline underline-offset-2"
        >
          Select all that match
        </button>
      )}
      <span className="ml-auto flex items-center gap-2">
        {shown.map((verb) => {
          const { label, icon: Icon } = batchWords[verb];
          return (
            <Button key={verb} onClick={() => onVerb(verb)} data-testid={`batch-${verb}`}>
              <Icon size={13} aria-hidden />
              {label}…
            </Button>
          );
        })}
        <Menu
          trigger={
            <IconButton label="More verbs" variant="outline" data-testid="batch-more">
              <Ellipsis size={15} aria-hidden />
            </IconButton>
          }
          items={menu.map((verb) => ({
            label: `${batchWords[verb].label}…`,
            icon: batchWords[verb].icon,
            danger: batchWords[verb].danger,
            onSelect: () => onVerb(verb),
            testId: `batch-${verb}`,
          }))}
        />
        <Button variant="ghost" onClick={onClear} className="text-text">
          Clear <Kbd>Esc</Kbd>
        </Button>
      </span>
    </div>
  );
}
