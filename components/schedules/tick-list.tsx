"use client";
/**
 * A schedule's ticks: when, what became of it, the instance or the reason.
 */
import Link from "next/link";
import type { Route } from "next";
import { RelativeTime } from "@/components/ui/time-text";
import { Chip } from "@/components/ui/chip";
import type { TickView } from "@/lib/contract/schedules";
import { isByHand, missedWords, tickLooks } from "./schedule-words";

export function TickList({ ticks }: { ticks: readonly TickView[] }) {
  return (
    <ul className="-mx-3.5" data-testid="tick-list">
      {ticks.map((tick) => {
        const { icon, tone, word } = tickLooks[tick.outcome];
        return (
          <li
            key={tick.n}
            data-testid="tick-row"
            className="grid grid-cols-[84px_1fr_auto] items-start gap-x-3 border-t border-border px-3.5 py-1.5 text-table"
          >
            <Chip tone={tone} icon={icon} className="justify-self-start">
              {word}
            </Chip>
            <span className="min-w-0 pt-px">
              {tick.error ? (
                <span className="block break-words text-text-2">{tick.error.message}</span>
              ) : tick.instanceId !== null ? (
                <Link
                  href={`/instances/${encodeURIComponent(tick.instanceId)}` as Route}
                  className="block truncate rounded-chip font-mono text-accent hover:underline"
                >
                  {tick.instanceId}
                </Link>
              ) : (
                <span className="block text-text-2">missed by more than 30 s</span>
              )}
              {isByHand(tick) || tick.missed > 0 ? (
                <span className="block text-hint text-text-3">
                  {isByHand(tick) ? `by hand, ${tick.actor}` : missedWords(tick.missed)}
                </span>
              ) : null}
            </span>
            <RelativeTime at={tick.dueAt} className="pt-px text-right text-text-2 tabular-nums" />
          </li>
        );
      })}
    </ul>
  );
}
