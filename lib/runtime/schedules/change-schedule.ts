/**
 * What the verbs that change a schedule have in common: its row held, the next revision, the audit row, one transaction.
 */
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import type { ScheduleRow } from "@/lib/store/schedules";
import { newAuditId } from "../new-id";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { lastTicksShown, viewSchedule, type ScheduleView } from "./schedule-views";

export interface ScheduleChange {
  scheduleId: string;
  /** For the audit, e.g. `pause-schedule`. */
  action: string;
  details: object;
  /** The row as it is to be; the same one when nothing is to change. Throws to refuse. */
  change: (row: ScheduleRow, now: number) => ScheduleRow;
}

/** Throws `not-found`, and what `change` throws. */
export async function changeSchedule(
  context: RuntimeContext,
  actor: Actor,
  { scheduleId, action, details, change }: ScheduleChange,
): Promise<ScheduleView> {
  requireOpen(context);
  const row = await context.store.transaction(async (tx) => {
    const before = await tx.lockSchedule(scheduleId);
    if (!before) throw scheduleNotFound(scheduleId);
    const now = await tx.now();
    const changed = change(before, now);
    if (changed === before) return before;
    const after = { ...changed, revision: before.revision + 1, updatedAt: now, updatedBy: actor.id };
    await tx.updateSchedule(after);
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action,
      target: `schedule:${scheduleId}`,
      outcome: "done",
      details: JSON.stringify({ revision: after.revision, ...details }),
    });
    return after;
  });
  return viewSchedule(row, await context.store.newestTicks([scheduleId], lastTicksShown));
}

export const scheduleNotFound = (scheduleId: string): LockstepError =>
  new LockstepError("not-found", `There is no schedule ${scheduleId}.`, { details: { scheduleId } });
