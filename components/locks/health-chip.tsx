/**
 * How a lock is: sign and word. A healthy lease says that its holder renews, not that it gets on.
 */
import { ClockAlert, Flag, HeartPulse, LockOpen, TimerOff, type LucideIcon } from "lucide-react";
import { Chip, type Tone } from "@/components/ui/chip";
import type { LockSummary } from "@/lib/contract/locks";

const looks: Record<LockSummary["health"], { tone: Tone; icon: LucideIcon; word: string }> = {
  free: { tone: "neutral", icon: LockOpen, word: "free" },
  healthy: { tone: "active", icon: HeartPulse, word: "healthy" },
  late: { tone: "exited", icon: ClockAlert, word: "late" },
  expired: { tone: "exited", icon: TimerOff, word: "expired" },
  "holder-finished": { tone: "exited", icon: Flag, word: "holder finished" },
};

export function HealthChip({ health }: { health: LockSummary["health"] }) {
  const { tone, icon, word } = looks[health];
  return (
    <Chip tone={tone} icon={icon} data-testid="lock-health">
      {word}
    </Chip>
  );
}
