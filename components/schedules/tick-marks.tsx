/**
 * What became of the newest ticks, oldest first as one reads: a sign each, so that they are told apart without colour.
 */
import type { TickView } from "@/lib/contract/schedules";
import { tickLooks } from "./schedule-words";

export function TickMarks({ ticks }: { ticks: readonly TickView[] }) {
  if (ticks.length === 0) return <span className="text-text-3">none yet</span>;
  const oldestFirst = [...ticks].reverse();
  const words = oldestFirst.map(({ outcome }) => outcome).join(", ");
  return (
    <span className="flex items-center gap-1" role="img" aria-label={words} title={words}>
      {oldestFirst.map(({ n, outcome }) => {
        const { icon: Icon, tone } = tickLooks[outcome];
        return (
          <Icon
            key={n}
            size={13}
            aria-hidden
            className={tone === "failed" ? "text-failed" : tone === "exited" ? "text-exited" : "text-text-3"}
          />
        );
      })}
    </span>
  );
}
