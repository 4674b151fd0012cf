/**
 * What is left of a lease, as a bar and in words: red stripes when it ran out, so that it does not hang on colour.
 */
import { cn } from "@/components/ui/class-names";
import { formatAge } from "@/components/ui/time";
import type { LockSummary } from "@/lib/contract/locks";

/** Under a quarter of the lease, two renewals have been missed. */
const lateShare = 0.25;

export function LeaseLeft({ lock, now }: { lock: LockSummary; now: number | null }) {
  if (lock.status === "free") return <span className="text-text-3">–</span>;
  if (lock.expiresAt === null || now === null) return <span className="text-text-3">no lease</span>;
  const left = lock.expiresAt - now;
  const share = Math.min(1, Math.max(0, left / (lock.ttlMs ?? left)));
  const late = share < lateShare;
  return (
    <span className="flex items-center gap-2" data-testid="lease-left">
      <span
        aria-hidden
        className={cn(
          "relative h-1.5 w-14 shrink-0 overflow-hidden rounded-full bg-surface-3",
          left <= 0 && "stripes-failed",
        )}
      >
        {left > 0 ? (
          <span
            className={cn("absolute inset-y-0 left-0 rounded-full", late ? "bg-exited" : "bg-active")}
            style={{ width: `${share * 100}%` }}
          />
        ) : null}
      </span>
      <span
        className={cn(
          "w-9 text-right font-mono tabular-nums",
          left <= 0 ? "font-semibold text-failed" : late && "font-semibold text-exited",
        )}
      >
        {left <= 0 ? "0 s" : formatAge(left)}
      </span>
    </span>
  );
}
