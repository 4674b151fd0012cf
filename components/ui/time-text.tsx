"use client";
/**
 * A moment or a span in text, by the one formatter, ticking where it counts.
 */
import { formatAbsolute, formatDuration, formatRelative, zoneName } from "./time";
import { useZone } from "./time-zone";
import { useNow } from "./use-now";

/** "5 m 38 s ago", with the absolute time and zone on hover and for a screen reader. */
export function RelativeTime({ at, className }: { at: number; className?: string }) {
  const { zone } = useZone();
  const now = useNow();
  const absolute = `${formatAbsolute(at, zone)} ${zoneName(zone)}`;
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={absolute}
      className={className}
      suppressHydrationWarning
    >
      {now === 0 ? absolute : formatRelative(at, Math.max(now, at))}
    </time>
  );
}

/** How long ago, without "ago": for columns named "In state for", "Held". */
export function Since({ at, className }: { at: number; className?: string }) {
  const { zone } = useZone();
  const now = useNow();
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={`since ${formatAbsolute(at, zone)} ${zoneName(zone)}`}
      className={className}
      suppressHydrationWarning
    >
      {now === 0 ? "" : formatDuration(Math.max(0, Math.floor((now - at) / 1000) * 1000))}
    </time>
  );
}
