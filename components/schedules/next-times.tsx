/**
 * Times at which a schedule fires, in its own zone, and how long until then: beside it, or where it is narrow below.
 */
import { cn } from "@/components/ui/class-names";
import { formatInZone, formatRelative } from "@/components/ui/time";

export function NextTimes({
  times,
  timeZone,
  now,
  stacked = false,
}: {
  times: readonly number[];
  timeZone: string;
  now: number;
  stacked?: boolean;
}) {
  return (
    <ol className="grid gap-1.5 text-body tabular-nums" data-testid="next-times">
      {times.map((time) => (
        <li key={time} className={cn("flex gap-x-3", stacked ? "flex-col" : "justify-between")}>
          <time dateTime={new Date(time).toISOString()}>{formatInZone(time, timeZone)}</time>
          <span className="text-text-3">
            {time <= now ? "due now" : formatRelative(now + Math.ceil((time - now) / 1_000) * 1_000, now)}
          </span>
        </li>
      ))}
    </ol>
  );
}
