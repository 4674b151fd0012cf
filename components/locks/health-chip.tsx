/**
 * How a lock is: sign and word. A healthy lease says that its holder renews, not that it gets on.
 */
import { ClockAlert, Flag, HeartPulse, LockOpen, Snowflake, TimerOff, type LucideIcon } from "lucide-react";
import { Chip, type Tone } from "@/components/ui/chip";
import type { LockSummary } from "@/lib/contract/locks";
import { isCooling } from "./verdict";

const looks: Record<LockSummary["health"] | "cooling", { tone: Tone; icon: LucideIcon; word: string }> = {
  cooling: { tone: "neutral", icon: Snowflake, word: "cooling" },
  free: { tone: "neutral", icon: LockOpen, word: "free" },
  healthy: { tone: "active", icon: HeartPulse, word: "healthy" },
  late: { tone: "exited", icon: ClockAlert, word: "late" },
  expired: { tone: "exited", icon: TimerOff, word: "expired" },
  "holder-finished": { tone: "exited", icon: Flag, word: "holder finished" },
};

export function HealthChip({ lock }: { lock: Pick<LockSummary, "health" | "status" | "coolUntil"> }) {
  const { tone, icon, word } = looks[isCooling(lock) ? "cooling" : lock.health];
  return (
    <Chip tone={tone} icon={icon} data-testid="lock-health">
      {word}
    </Chip>
  );
}
