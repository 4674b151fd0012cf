/** A schedule and the record of its ticks are removed; what it started goes on. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { scheduleNotFound } from "./change-schedule";
import { newAuditId } from "../new-id";
import { requireOpen, type RuntimeContext } from "../runtime-context";

/** Throws `not-found`. */
export async function deleteSchedule(
  context: RuntimeContext,
  actor: Actor,
  { scheduleId }: { scheduleId: string },
): Promise<{ id: string }> {
  requirePermission(actor, "schedules:write");
  requireOpen(context);
  return context.store.transaction(async (tx) => {
    const row = await tx.lockSchedule(scheduleId);
    if (!row) throw scheduleNotFound(scheduleId);
    await tx.deleteSchedule(scheduleId);
    await tx.writeAudit({
      id: newAuditId(),
      at: await tx.now(),
      actor: actor.id,
      action: "delete-schedule",
      target: `schedule:${scheduleId}`,
      outcome: "done",
      details: JSON.stringify({ cron: row.cron, timeZone: row.timeZone, action: row.action }),
    });
    return { id: scheduleId };
  });
}
