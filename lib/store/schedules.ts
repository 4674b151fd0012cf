/**
 * What is remembered of schedules: the rule, its earliest tick that nobody has decided yet, and what became of the ticks
 * before it.
 *
 * Lock order: a schedule's row comes before instance rows; nobody takes one while holding those.
 */
export interface ScheduleRow {
  id: string;
  /** Counts changes of the rule, from 1. */
  revision: number;
  cron: string;
  timeZone: string;
  /** JSON: what a tick does. */
  action: string;
  /** The chart that it starts instances of; null: it sends events. */
  chartId: string | null;
  misfire: string;
  misfireMax: number;
  /** 1: no tick. */
  paused: number;
  /** The earliest tick not decided yet; null: none comes, or it is paused. */
  nextAt: number | null;
  /** Ticks recorded so far; the next one's `n`. */
  ticks: number;
  createdAt: number;
  createdBy: string;
  updatedAt: number;
  updatedBy: string;
}

export interface TickRow {
  scheduleId: string;
  /** Its time in ISO 8601; of a run by hand `hand:` and its key. With the schedule's id unique. */
  tick: string;
  n: number;
  dueAt: number;
  at: number;
  outcome: string;
  /** Ticks that it stands for beside its own. */
  missed: number;
  actor: string;
  instanceId: string | null;
  messageId: string | null;
  errorCode: string | null;
  errorMessage: string | null;
}

export interface ScheduleFilter {
  chartId?: string | undefined;
  paused?: boolean | undefined;
}

export interface ScheduleReads {
  findSchedule(scheduleId: string): Promise<ScheduleRow | null>;
  /** By id, those after `after`. */
  listSchedules(filter: ScheduleFilter, after: string | null, limit: number): Promise<ScheduleRow[]>;
  /** Those with a tick due at `now`, longest due first. */
  findDueSchedules(now: number, limit: number): Promise<string[]>;
  /** Newest first, those with `n` below `before` (null: all). */
  listTicks(scheduleId: string, before: number | null, limit: number): Promise<TickRow[]>;
  /** The newest `count` of each, newest first. */
  newestTicks(scheduleIds: readonly string[], count: number): Promise<TickRow[]>;
}

export interface ScheduleTransaction {
  /** False, and nothing is written, when the id is taken. */
  insertSchedule(row: ScheduleRow): Promise<boolean>;
  /** Held to the transaction's end; null: there is none. `skipBusy`: null too when another transaction holds it. */
  lockSchedule(scheduleId: string, options?: { skipBusy?: boolean }): Promise<ScheduleRow | null>;
  /** Call it under its lock. */
  updateSchedule(row: ScheduleRow): Promise<void>;
  /** With its ticks. */
  deleteSchedule(scheduleId: string): Promise<void>;
  /** A taken (schedule, tick) is an error: a tick is decided once. */
  insertTicks(rows: readonly TickRow[]): Promise<void>;
  /** Call it under the schedule's lock. */
  findTick(scheduleId: string, tick: string): Promise<TickRow | null>;
  /** Forgets ticks with `n` below `below`. */
  dropTicks(scheduleId: string, below: number): Promise<void>;
}
