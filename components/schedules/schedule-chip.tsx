/**
 * Whether a schedule fires: filled chip, sign and word.
 */
import { Chip } from "@/components/ui/chip";
import type { ScheduleView } from "@/lib/contract/schedules";
import { statusLooks, statusOf } from "./schedule-words";

export function ScheduleChip({ schedule }: { schedule: Pick<ScheduleView, "paused" | "nextAt"> }) {
  const status = statusOf(schedule);
  const { tone, icon } = statusLooks[status];
  return (
    <Chip tone={tone} dot={!icon} {...(icon ? { icon } : {})} data-testid="schedule-status">
      {status}
    </Chip>
  );
}
