/**
 * The due ticks of one schedule, decided and carried out.
 *
 * Holds: each tick once, whatever number of workers look: its record (unique by schedule and tick), what it does and the
 *        schedule's next tick are one transaction, under the schedule's row. A tick whose deed is refused (no such chart, its
 *        instance has ended) is recorded as refused; one that failed for reasons of the moment stays due.
 */
import { scheduleActor } from "@/lib/access/actor";
import { isPassing, LockstepError } from "@/lib/base/errors";
import type { ScheduleRow, TickRow } from "@/lib/store/schedules";
import type { StoreTransaction } from "@/lib/store/store";
import type { Failure } from "../instances/instance-views";
import { withMachines } from "../charts/machines";
import { performAction, readyAction, type ReadyAction } from "./perform-action";
import type { RuntimeContext } from "../runtime-context";
import { decideTicks, type Misfire } from "./schedule-rules";
import { actionOf, cronOf } from "./schedule-views";

/** Older ones are forgotten. */
const ticksKept = 1_000;

/** False when there was nothing to do: others were here, or hold it. Throws what may be over when it is tried again. */
export async function fireSchedule(
  context: RuntimeContext,
  scheduleId: string,
  report: (error: unknown) => void,
): Promise<boolean> {
  const seen = await context.store.findSchedule(scheduleId);
  if (!seen || seen.nextAt === null) return false;
  try {
    return await fire(context, seen, await readyAction(context, actionOf(seen)));
  } catch (error) {
    if (isPassing(error)) throw error;
    // A defect of ours must not be tried four times a second.
    if (!(error instanceof LockstepError)) report(error);
    return fire(context, seen, { refused: failureOf(error) });
  }
}

async function fire(
  context: RuntimeContext,
  seen: ScheduleRow,
  ready: ReadyAction | { refused: Failure },
): Promise<boolean> {
  const fired = await withMachines(context.machines, () =>
    context.store.transaction((tx) => fireIn(context, tx, seen, ready)),
  );
  if (fired) {
    context.wake();
    context.settle();
  }
  return fired;
}

async function fireIn(
  context: RuntimeContext,
  tx: StoreTransaction,
  seen: ScheduleRow,
  ready: ReadyAction | { refused: Failure },
): Promise<boolean> {
  const row = await tx.lockSchedule(seen.id, { skipBusy: true });
  const now = await tx.now();
  if (!row || row.revision !== seen.revision || row.nextAt === null || row.nextAt > now) return false;
  const { misfire, misfireMax, nextAt } = row;
  const decision = decideTicks(cronOf(row), { nextAt, misfire: misfire as Misfire, misfireMax }, now);

  const actor = scheduleActor(row.id);
  const ticks: TickRow[] = [];
  const record = (dueAt: number, missed: number, more: Pick<TickRow, "outcome"> & Partial<TickRow>) =>
    ticks.push({ ...tickOf(row, dueAt, now, row.ticks + ticks.length, actor.id), missed, ...more });
  if (decision.skipped) record(decision.skipped.at, decision.skipped.before, { outcome: "skipped" });
  for (const dueAt of decision.fire) {
    const done =
      "refused" in ready
        ? { outcome: "refused", errorCode: ready.refused.code, errorMessage: ready.refused.message }
        : await performAction(context, tx, actor, ready, tickKey(row.id, tickName(dueAt)));
    record(dueAt, decision.standsFor, done);
  }
  await recordTicks(tx, { ...row, nextAt: decision.nextAt }, ticks);
  return true;
}

/** The schedule after ticks of it: its row is held. */
export async function recordTicks(
  tx: StoreTransaction,
  row: ScheduleRow,
  ticks: readonly TickRow[],
): Promise<void> {
  const after = { ...row, ticks: row.ticks + ticks.length };
  await tx.insertTicks(ticks);
  await tx.updateSchedule(after);
  if (after.ticks > ticksKept) await tx.dropTicks(row.id, after.ticks - ticksKept);
}

export const tickOf = (
  row: Pick<ScheduleRow, "id">,
  dueAt: number,
  now: number,
  n: number,
  actor: string,
): TickRow => ({
  scheduleId: row.id,
  tick: tickName(dueAt),
  n,
  dueAt,
  at: now,
  outcome: "",
  missed: 0,
  actor,
  instanceId: null,
  messageId: null,
  errorCode: null,
  errorMessage: null,
});

const tickName = (dueAt: number): string => new Date(dueAt).toISOString();

/** The idempotency key of what a tick does. */
export const tickKey = (scheduleId: string, tick: string): string => `${scheduleId}:${tick}`;

const failureOf = (error: unknown): Failure =>
  error instanceof LockstepError
    ? { code: error.code, message: error.message }
    : { code: "internal", message: "A defect of Lockstep; the server's log says more." };
