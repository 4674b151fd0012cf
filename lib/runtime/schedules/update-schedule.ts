/**
 * A schedule's rule, replaced as a whole.
 *
 * Holds: nobody's change is written over unseen: it must have been made on the newest revision. A tick that is due already
 *        stays due, unless the times themselves change.
 */
import type { Actor } from "@/lib/access/actor";
import { LockstepError } from "@/lib/base/errors";
import type { ScheduleRow } from "@/lib/store/schedules";
import { changeSchedule } from "./change-schedule";
import type { RuntimeContext } from "../runtime-context";
import { firstTick, readRule, requireTarget, type RuleArgs } from "./schedule-args";
import type { ScheduleView } from "./schedule-views";

export interface UpdateScheduleArgs extends RuleArgs {
  scheduleId: string;
  baseRevision: number;
}

/** Throws `not-found`, `version-not-found`, `schedule-conflict` {baseRevision, revision}, `bad-request` naming the field, `forbidden`. */
export async function updateSchedule(
  context: RuntimeContext,
  actor: Actor,
  args: UpdateScheduleArgs,
): Promise<ScheduleView> {
  const { rule, cron } = readRule(actor, args);
  const { scheduleId, baseRevision } = args;
  await requireTarget(context, rule);
  return changeSchedule(context, actor, {
    scheduleId,
    action: "update-schedule",
    details: rule,
    change(row, now) {
      if (row.revision !== baseRevision) throw scheduleConflict(row, baseRevision);
      const first = firstTick(cron, rule, now);
      const sameTimes =
        row.cron === rule.cron && row.timeZone === rule.timeZone && row.paused === rule.paused;
      return { ...row, ...rule, nextAt: sameTimes ? row.nextAt : first };
    },
  });
}

const scheduleConflict = (row: ScheduleRow, baseRevision: number): LockstepError =>
  new LockstepError(
    "schedule-conflict",
    `Schedule ${row.id} is at revision ${row.revision}, changed by ${row.updatedBy}; yours was made on ${baseRevision}. Nothing was changed: load the newest and apply your change to it.`,
    {
      details: {
        scheduleId: row.id,
        baseRevision,
        revision: row.revision,
        updatedBy: row.updatedBy,
        updatedAt: row.updatedAt,
      },
    },
  );
