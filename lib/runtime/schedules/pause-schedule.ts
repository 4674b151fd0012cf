/** No tick of a schedule until it is resumed; what would have come meanwhile is not made up. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { changeSchedule } from "./change-schedule";
import type { RuntimeContext } from "../runtime-context";
import type { ScheduleView } from "./schedule-views";

/** Throws `not-found`. A paused one stays as it is. */
export async function pauseSchedule(
  context: RuntimeContext,
  actor: Actor,
  { scheduleId }: { scheduleId: string },
): Promise<ScheduleView> {
  requirePermission(actor, "schedules:write");
  return changeSchedule(context, actor, {
    scheduleId,
    action: "pause-schedule",
    details: {},
    change: (row) => (row.paused === 1 ? row : { ...row, paused: 1, nextAt: null }),
  });
}
