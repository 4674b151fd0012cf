/** A new schedule. What it names must be there; a chart of which it wants the newest version may be published later. */
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import { newAuditId } from "../new-id";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";
import { firstTick, readRule, requireTarget, type RuleArgs } from "./schedule-args";
import { viewSchedule, type ScheduleView } from "./schedule-views";

export interface CreateScheduleArgs extends RuleArgs {
  id: string;
}

/** Throws `schedule-exists`, `not-found`, `version-not-found`, `bad-request` naming the field, `forbidden`. */
export async function createSchedule(
  context: RuntimeContext,
  actor: Actor,
  args: CreateScheduleArgs,
): Promise<ScheduleView> {
  const { rule, cron } = readRule(actor, args);
  requireOpen(context);
  const id = requireText(args.id, "id");
  await requireTarget(context, rule);
  return context.store.transaction(async (tx) => {
    const now = await tx.now();
    const row = {
      ...rule,
      id,
      revision: 1,
      nextAt: firstTick(cron, rule, now),
      ticks: 0,
      createdAt: now,
      createdBy: actor.id,
      updatedAt: now,
      updatedBy: actor.id,
    };
    if (!(await tx.insertSchedule(row))) throw scheduleExists(id);
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action: "create-schedule",
      target: `schedule:${id}`,
      outcome: "done",
      details: JSON.stringify(rule),
    });
    return viewSchedule(row, []);
  });
}

const scheduleExists = (scheduleId: string): LockstepError =>
  new LockstepError(
    "schedule-exists",
    `There is a schedule ${scheduleId} already. Choose another id, or change that one.`,
    { details: { scheduleId } },
  );
