"use client";
/**
 * Timers armed at the cursor, counted from the moment shown.
 */
import { Timer } from "lucide-react";
import { shortStateName } from "@/components/instances/state-name";
import { Section } from "@/components/ui/section";
import { Empty } from "@/components/ui/states";
import { formatAbsolute, formatCount, formatDuration } from "@/components/ui/time";
import { RelativeTime } from "@/components/ui/time-text";
import { useZone } from "@/components/ui/time-zone";
import type { StateAt } from "@/lib/contract/instances";

export function TimersTab({ state, live }: { state: StateAt; live: boolean }) {
  const { zone } = useZone();
  if (state.timers.length === 0) {
    return (
      <Empty icon={Timer} title="No timer is armed">
        After #{formatCount(state.seq)} nothing waits for time to pass.
      </Empty>
    );
  }
  return (
    <Section title="Armed" hint={live ? undefined : `after #${formatCount(state.seq)}`}>
      <ul>
        {state.timers.map((timer) => (
          <li
            key={timer.id}
            className="flex items-baseline gap-2 border-b border-border py-1.5 last:border-b-0"
          >
            <Timer size={13} aria-hidden className="shrink-0 self-center text-text-3" />
            <span className="min-w-0 flex-1">
              <span className="block truncate font-mono text-table font-semibold">
                {timer.kind === "after" ? `after ${timer.label}` : timer.label}
              </span>
              <span className="block truncate text-hint text-text-3">
                {timer.state ? `in ${shortStateName(timer.state)}` : "delayed event of the instance"}
              </span>
            </span>
            <span className="text-right tabular-nums" title={formatAbsolute(timer.dueAt, zone)}>
              {live ? <RelativeTime at={timer.dueAt} /> : `${formatDuration(timer.dueAt - state.at)} later`}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
