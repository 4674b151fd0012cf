/** A paused schedule goes on, from its next time after now. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { changeSchedule } from "./change-schedule";
import type { RuntimeContext } from "../runtime-context";
import { cronOf, type ScheduleView } from "./schedule-views";

/** Throws `not-found`. One that is not paused stays as it is. */
export async function resumeSchedule(
  context: RuntimeContext,
  actor: Actor,
  { scheduleId }: { scheduleId: string },
): Promise<ScheduleView> {
  requirePermission(actor, "schedules:write");
  return changeSchedule(context, actor, {
    scheduleId,
    action: "resume-schedule",
    details: {},
    change: (row, now) => (row.paused === 0 ? row : { ...row, paused: 0, nextAt: cronOf(row).next(now) }),
  });
}
