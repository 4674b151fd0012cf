/**
 * What must hold of a seed's schedules at its end: each tick was fired, stood for by another, or skipped, as its rule says of
 * one that is missed, and what it did was done once. A part of check.ts.
 */
import { scheduleActor } from "@/lib/access/actor";
import { graceMs, ticksDueMax } from "@/lib/runtime/schedules/schedule-rules";
import { actionOf, cronOf } from "@/lib/runtime/schedules/schedule-views";
import type { ScheduleRow, TickRow } from "@/lib/store/schedules";
import type { Store } from "@/lib/store/store";
import type { History } from "./history";
import { all, readEnd } from "./instance-end";
import { startedBy } from "./simulated-schedules";

/** `forgets`: what was started may be gone by now. */
export async function checkSchedules(
  store: Store,
  rows: readonly ScheduleRow[],
  { history, now, forgets }: { history: History; now: number; forgets: boolean },
  wrong: string[],
): Promise<void> {
  for (const first of rows) {
    const row = await store.findSchedule(first.id);
    const ticks = (await store.listTicks(first.id, null, all)).reverse();
    if (row?.nextAt == null || ticks.some(({ n }, index) => n !== index)) {
      wrong.push(`I2: the ticks of ${first.id} are not counted from 0 on`);
      continue;
    }
    if (row.nextAt <= now)
      wrong.push(`I8: a tick of ${row.id} was due ${now - row.nextAt} ms ago and did not fire`);
    checkEach(row, first.nextAt, ticks, wrong);
    const action = actionOf(row);
    if (action.kind === "start") await checkStarted(store, row, ticks, forgets, wrong);
    else if ("instanceId" in action.to)
      await checkSent(store, action.to.instanceId, row, ticks, history, wrong);
  }
}

/** Each tick up to the next one is a record's own, or one of those that it stands for, as its rule says of missed ones. */
function checkEach(row: ScheduleRow, first: number | null, ticks: readonly TickRow[], wrong: string[]): void {
  const cron = cronOf(row);
  let due = first;
  for (const record of ticks) {
    const { tick, dueAt, at, missed } = record;
    const earliest = due;
    let passed = 0;
    for (; due !== null && due < dueAt; due = cron.next(due)) passed += 1;
    // Of a long time the newest are looked at, and counted.
    const isLong = () => (cron.before(at + 1, ticksDueMax + 1).at(-1) ?? -1) >= (earliest ?? Infinity);
    if (due !== dueAt || (passed !== missed && !isLong()))
      wrong.push(`I1: ${row.id}'s ${tick} stands for ${missed} ticks before it, and ${passed} are not fired`);
    if (at < dueAt) wrong.push(`I6: ${row.id}'s ${tick} was fired before its time`);
    checkRule(row, record, earliest ?? Infinity, ticks, wrong);
    due = cron.next(dueAt);
  }
  if (due !== row.nextAt)
    wrong.push(`I1: ${row.id} goes on at ${row.nextAt ?? "no time"}, and its next tick is ${due ?? "none"}`);
}

/** What a tick may be refused for: its instance was deleted, or has ended. */
const refusable = ["not-found", "instance-ended"];

/** `earliest`: the first tick that the record is of, or stands for. */
function checkRule(
  { id, misfire, misfireMax }: ScheduleRow,
  { tick, n, dueAt, at, outcome, missed, errorCode }: TickRow,
  earliest: number,
  ticks: readonly TickRow[],
  wrong: string[],
): void {
  const says = (what: string) => wrong.push(`I9: ${id}'s ${tick} ${what}, and its rule is ${misfire}`);
  const isMissed = (tickAt: number) => at - tickAt > graceMs;
  if (outcome === "refused" && !refusable.includes(errorCode ?? ""))
    says(`was refused as ${errorCode ?? "nothing"}`);
  if (outcome === "skipped") {
    if (misfire === "once") says("was skipped");
    if (!isMissed(dueAt)) says(`was skipped ${at - dueAt} ms late`);
    // Those that were not skipped are all behind it, though the clock went back between portions of them.
    if (misfire === "all" && ticks.length - 1 - n < misfireMax)
      says(`was skipped, and of ${misfireMax} behind it that may be made up some were not`);
    return;
  }
  if (missed > 0 && (misfire !== "once" || !isMissed(earliest))) says(`was fired for ${missed} others`);
  if (misfire === "skip" && isMissed(dueAt)) says(`was fired ${at - dueAt} ms late`);
  // All that were due then are decided by it.
  if (misfire === "once" && isMissed(earliest) && (ticks[n + 1]?.dueAt ?? Infinity) <= at)
    says("was fired, and the next one was due then");
  const madeUp = ticks.filter((one) => one.at === at && one.outcome !== "skipped" && isMissed(one.dueAt));
  if (misfire === "all" && madeUp.length > misfireMax) says(`was one of ${madeUp.length} made up at once`);
}

async function checkStarted(
  store: Store,
  row: ScheduleRow,
  ticks: readonly TickRow[],
  forgets: boolean,
  wrong: string[],
): Promise<void> {
  const { id } = row;
  const started = ticks
    .filter(({ outcome }) => outcome === "started")
    .map(({ instanceId }) => instanceId ?? "");
  if (new Set(started).size !== started.length) wrong.push(`I1: two ticks of ${id} tell of one instance`);
  const found = await startedBy(store, [row]);
  const stray = found.filter((one) => !started.includes(one));
  const missing = forgets ? [] : started.filter((one) => !found.includes(one));
  if (stray.length > 0) wrong.push(`I1: ${id} started ${stray.length} instances that no tick tells of`);
  if (missing.length > 0) wrong.push(`I2: ${missing.length} instances that ${id} started are not there`);
}

async function checkSent(
  store: Store,
  instanceId: string,
  { id }: ScheduleRow,
  ticks: readonly TickRow[],
  { deleted }: History,
  wrong: string[],
): Promise<void> {
  const end = await readEnd(store, instanceId);
  if (!end) return;
  const mine = scheduleActor(id).id;
  const told = ticks.flatMap(({ messageId }) => (messageId === null ? [] : [messageId]));
  // A redriven one is an entry of its own.
  const came = end.log.filter((entry) => entry.actor === mine && entry.cause === null);
  const applied = came.map(({ messageId }) => messageId ?? "");
  const dead = end.dead.filter((letter) => letter.actor === mine).map(({ messageId }) => messageId);
  if (new Set(told).size !== told.length) wrong.push(`I1: two ticks of ${id} tell of one message`);
  if (new Set(applied).size !== applied.length) wrong.push(`I1: a tick of ${id} was applied twice`);
  const stray = [...applied, ...dead].filter((one) => !told.includes(one));
  if (stray.length > 0) wrong.push(`I1: ${id} sent ${stray.length} messages that no tick tells of`);
  const lost = told.filter((one) => !applied.includes(one) && !dead.includes(one));
  if (lost.length > end.queued && !deleted.has(instanceId))
    wrong.push(`I1: ${lost.length} messages that ${id} sent to ${instanceId} are nowhere`);
}
