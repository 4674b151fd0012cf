"use client";
/**
 * The event log, newest first: a window onto it, however long it is.
 *
 * Holds: about 40 rows are in the page whatever the log's length; news above never moves what is read; the cursor's row is
 * kept in sight when the cursor moves.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef } from "react";
import { cn } from "@/components/ui/class-names";
import { ErrorPanel } from "@/components/ui/states";
import { formatClock } from "@/components/ui/time";
import { useZone } from "@/components/ui/time-zone";
import type { ChartTree } from "@/lib/diagram/chart-tree";
import { entryLine, entryLook, entryTitle, type EntryTone } from "./entry-words";
import { pageOf, useEntries } from "./use-history";

const rowHeight = 33;
const overscan = 8;

const toneClass: Record<EntryTone, string> = {
  active: "text-active",
  exited: "text-exited",
  failed: "text-failed",
  taken: "text-taken",
  quiet: "text-text-3",
};

export function EventList({
  instanceId,
  total,
  cursor,
  tree,
  onSelect,
}: {
  instanceId: string;
  /** The newest seq. */
  total: number;
  cursor: number;
  /** Of the version on screen, once known. */
  tree: ChartTree | null;
  onSelect: (seq: number) => void;
}) {
  const { zone } = useZone();
  const scroller = useRef<HTMLDivElement>(null);
  // eslint-disable-next-line react-hooks/incompatible-library -- the virtualizer re-renders by itself
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    getItemKey: (index) => total - index,
  });
  const rows = virtual.getVirtualItems();
  const seqOf = (index: number): number => total - index;
  const first = rows[0];
  const last = rows.at(-1);
  const pages = new Set<number>();
  if (first && last)
    for (let page = pageOf(seqOf(last.index)); page <= pageOf(seqOf(first.index)); page++) pages.add(page);
  const { bySeq, error, retry } = useEntries(instanceId, [...pages], total);

  const before = useRef(total);
  useLayoutEffect(() => {
    const added = total - before.current;
    before.current = total;
    const element = scroller.current;
    if (element && added > 0 && element.scrollTop > rowHeight) element.scrollTop += added * rowHeight;
  }, [total]);
  const index = total - cursor;
  useEffect(() => {
    const element = scroller.current;
    if (!element || index < 0) return;
    const top = index * rowHeight;
    const hidden = top < element.scrollTop || top + rowHeight > element.scrollTop + element.clientHeight;
    // To the middle: at an edge the next step would be hidden again.
    if (hidden) virtual.scrollToIndex(index, { align: "center" });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only a moved cursor scrolls, never a new event
  }, [cursor]);

  return (
    <section
      aria-label="Events"
      className="flex w-[252px] shrink-0 flex-col border-r border-border bg-surface max-md:h-64 max-md:w-full max-md:border-t max-md:border-r-0"
    >
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-border px-3">
        <h2 className="text-body font-semibold">Events</h2>
        <span className="text-body text-text-3">newest first</span>
      </header>
      {error ? (
        <div className="p-2">
          <ErrorPanel title="Couldn’t read these events" error={error} onRetry={retry} />
        </div>
      ) : null}
      {total === 0 ? <p className="px-3 py-2.5 text-body text-text-3">None yet: it has not begun.</p> : null}
      <div
        ref={scroller}
        role="listbox"
        aria-label="Event log"
        tabIndex={0}
        aria-activedescendant={total > 0 ? `event-${cursor}` : undefined}
        data-testid="event-list"
        className="min-h-0 flex-1 overflow-y-auto outline-none focus-visible:outline-2 focus-visible:-outline-offset-2"
      >
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {rows.map((row) => {
            const seq = seqOf(row.index);
            const entry = bySeq.get(seq);
            const look = entry ? entryLook(entry) : null;
            const current = seq === cursor;
            return (
              <div
                key={row.key}
                id={`event-${seq}`}
                role="option"
                aria-selected={current}
                data-testid="event-row"
                data-seq={seq}
                data-outcome={entry?.outcome}
                onClick={() => onSelect(seq)}
                className={cn(
                  "absolute inset-x-0 flex cursor-default items-center gap-2 border-b border-border pr-3 pl-2.5",
                  current ? "bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]" : "hover:bg-surface-2",
                )}
                style={{ height: rowHeight, transform: `translateY(${row.start}px)` }}
              >
                <span
                  className={cn(
                    "w-9 shrink-0 text-right font-mono text-hint tabular-nums",
                    current ? "font-semibold text-accent" : "text-text-3",
                  )}
                >
                  {seq}
                </span>
                {entry && look ? (
                  <>
                    <look.icon size={13} aria-hidden className={cn("shrink-0", toneClass[look.tone])} />
                    <span className="min-w-0 flex-1">
                      <span className="flex items-baseline gap-2">
                        <span
                          className={cn(
                            "min-w-0 flex-1 truncate text-hint leading-[15px]",
                            look.tone === "quiet" ? "text-text-2" : "font-semibold text-text",
                          )}
                        >
                          {entryTitle(entry)}
                        </span>
                        <time
                          dateTime={new Date(entry.at).toISOString()}
                          className="shrink-0 font-mono text-micro text-text-3 tabular-nums"
                        >
                          {formatClock(entry.at, zone)}
                        </time>
                      </span>
                      <span
                        className="block truncate text-micro leading-[13px] text-text-3"
                        title={entryLine(entry, tree)}
                      >
                        {entryLine(entry, tree)}
                      </span>
                    </span>
                  </>
                ) : (
                  <span aria-hidden className="h-2 w-24 animate-appear rounded-chip bg-surface-3" />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}
