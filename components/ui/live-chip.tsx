"use client";
/**
 * "live", or why it is not: a word and a dot in the page's header.
 */
import { cn } from "./class-names";
import { useLive } from "./live";

const words = { live: "live", connecting: "connecting", offline: "offline", paused: "paused" };

export function LiveChip() {
  const status = useLive()?.status ?? "connecting";
  return (
    <span
      role="status"
      data-testid="live-status"
      className={cn(
        "flex items-center gap-1.5 text-body",
        status === "live" ? "text-text-2" : status === "offline" ? "text-exited" : "text-text-3",
      )}
    >
      <span
        aria-hidden
        className={cn(
          "size-[7px] rounded-full",
          status === "live" ? "bg-active" : status === "offline" ? "bg-exited" : "border border-line",
        )}
      />
      {words[status]}
    </span>
  );
}
