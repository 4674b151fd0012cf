/**
 * Schedules and their ticks as the runtime shows them.
 */
import { assert } from "@/lib/base/assert";
import { readCron, type Cron } from "@/lib/base/cron";
import type { Json } from "@/lib/base/json";
import type { ScheduleRow, TickRow } from "@/lib/store/schedules";
import { failureOf, type Failure } from "../instances/instance-views";
import type { Misfire } from "./schedule-rules";

export interface StartAction {
  kind: "start";
  chartId: string;
  /** Null: the newest one at each tick. */
  version: number | null;
  input: Json;
  businessKey: string | null;
  labels: Record<string, string>;
  priority: number;
}
/** To one instance: named by its id, or by a business key that one unended instance alone has. */
export interface SendAction {
  kind: "send";
  to: { instanceId: string } | { businessKey: string };
  type: string;
  data: Json;
}
export type ScheduleAction = StartAction | SendAction;

export interface ScheduleView {
  id: string;
  revision: number;
  cron: string;
  timeZone: string;
  action: ScheduleAction;
  misfire: Misfire;
  misfireMax: number;
  paused: boolean;
  /** Null: paused, or no time comes any more. */
  nextAt: number | null;
  createdAt: number;
  createdBy: string;
  updatedAt: number;
  updatedBy: string;
  /** The newest five, newest first. */
  lastTicks: TickView[];
}
export type TickOutcome = "started" | "sent" | "skipped" | "refused";
export interface TickView {
  tick: string;
  n: number;
  dueAt: number;
  at: number;
  outcome: TickOutcome;
  missed: number;
  actor: string;
  instanceId: string | null;
  messageId: string | null;
  error: Failure | null;
}

export const lastTicksShown = 5;
export const nextTimesShown = 5;

export const viewSchedule = (row: ScheduleRow, ticks: readonly TickRow[]): ScheduleView => ({
  id: row.id,
  revision: row.revision,
  cron: row.cron,
  timeZone: row.timeZone,
  action: actionOf(row),
  misfire: row.misfire as Misfire,
  misfireMax: row.misfireMax,
  paused: row.paused === 1,
  nextAt: row.nextAt,
  createdAt: row.createdAt,
  createdBy: row.createdBy,
  updatedAt: row.updatedAt,
  updatedBy: row.updatedBy,
  lastTicks: ticks.filter(({ scheduleId }) => scheduleId === row.id).map(viewTick),
});

export const viewTick = (row: TickRow): TickView => ({
  tick: row.tick,
  n: row.n,
  dueAt: row.dueAt,
  at: row.at,
  outcome: row.outcome as TickOutcome,
  missed: row.missed,
  actor: row.actor,
  instanceId: row.instanceId,
  messageId: row.messageId,
  error: failureOf(row),
});

export const actionOf = (row: Pick<ScheduleRow, "action">): ScheduleAction =>
  JSON.parse(row.action) as ScheduleAction;

/** Of a stored rule, which was read before it was stored. */
export function cronOf({ cron, timeZone }: Pick<ScheduleRow, "cron" | "timeZone">): Cron {
  const read = readCron(cron, timeZone);
  assert("next" in read, `a stored schedule can't be read: ${cron} in ${timeZone}`);
  return read;
}
