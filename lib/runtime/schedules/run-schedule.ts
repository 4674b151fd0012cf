/**
 * What a schedule does at its ticks, done now, by hand; also while it is paused. Its ticks come as before.
 *
 * Holds: I4 with an idempotency key it is done once, and a repeat gets the first run. A refusal is the caller's and is not
 *        recorded.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { Idempotent } from "../call";
import { scheduleNotFound } from "./change-schedule";
import { recordTicks, tickKey, tickOf } from "./fire-schedule";
import { withMachines } from "../charts/machines";
import { newAuditId, newMessageId } from "../new-id";
import { performAction, readyAction } from "./perform-action";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { actionOf, viewTick, type TickView } from "./schedule-views";

export interface RunScheduleResult {
  tick: TickView;
  replayed: boolean;
}

/** Throws `not-found`, and what starting the instance or sending the event throws. */
export async function runSchedule(
  context: RuntimeContext,
  actor: Actor,
  { scheduleId, idempotencyKey }: Idempotent & { scheduleId: string },
): Promise<RunScheduleResult> {
  requirePermission(actor, "schedules:write");
  requireOpen(context);
  const seen = await context.store.findSchedule(scheduleId);
  if (!seen) throw scheduleNotFound(scheduleId);
  const name = idempotencyKey === undefined ? newMessageId() : requireText(idempotencyKey, "Idempotency-Key");
  const tick = `hand:${name}`;
  // Before anything is looked for that may have gone since.
  const before = await context.store.transaction((tx) => tx.findTick(scheduleId, tick));
  if (before) return { tick: viewTick(before), replayed: true };
  const ready = await readyAction(context, actionOf(seen));
  requirePermission(actor, ready.action.kind === "start" ? "instances:start" : "events:send");
  const result = await withMachines(context.machines, () =>
    context.store.transaction(async (tx) => {
      const row = await tx.lockSchedule(scheduleId);
      if (!row) throw scheduleNotFound(scheduleId);
      const earlier = await tx.findTick(scheduleId, tick);
      if (earlier) return { tick: viewTick(earlier), replayed: true };
      const now = await tx.now();
      const done = await performAction(context, tx, actor, ready, tickKey(scheduleId, tick));
      const run = { ...tickOf(row, now, now, row.ticks, actor.id), ...done, tick };
      await recordTicks(tx, row, [run]);
      await tx.writeAudit({
        id: newAuditId(),
        at: now,
        actor: actor.id,
        action: "run-schedule",
        target: `schedule:${scheduleId}`,
        outcome: "done",
        details: JSON.stringify({ instanceId: run.instanceId, messageId: run.messageId }),
      });
      return { tick: viewTick(run), replayed: false };
    }),
  );
  context.wake();
  context.settle();
  return result;
}
