/** One schedule, with the times at which it fires next; of a paused one, those at which it would. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { nextTimes } from "@/lib/base/cron";
import { scheduleNotFound } from "./change-schedule";
import type { RuntimeContext } from "../runtime-context";
import { cronOf, lastTicksShown, nextTimesShown, viewSchedule, type ScheduleView } from "./schedule-views";

export interface ScheduleDetail extends ScheduleView {
  nextTimes: number[];
  now: number;
}

/** Throws `not-found`. */
export async function getSchedule(
  { store }: RuntimeContext,
  actor: Actor,
  { scheduleId }: { scheduleId: string },
): Promise<ScheduleDetail> {
  requirePermission(actor, "schedules:read");
  const row = await store.findSchedule(scheduleId);
  if (!row) throw scheduleNotFound(scheduleId);
  const now = await store.now();
  const from = Math.min(now, (row.nextAt ?? now + 1) - 1);
  return {
    ...viewSchedule(row, await store.newestTicks([scheduleId], lastTicksShown)),
    nextTimes: nextTimes(cronOf(row), from, nextTimesShown),
    now,
  };
}
