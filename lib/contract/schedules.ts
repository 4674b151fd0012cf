/**
 * Schedules: cron rules that start instances or send events, their ticks.
 */
import { z } from "zod";
import {
  businessKey,
  eventType,
  id,
  json,
  labels,
  namedBy,
  oneOf,
  pageOf,
  pageQuery,
  timestamp,
  versionNumber,
} from "./common";

const startAction = z.strictObject({
  kind: z.literal("start"),
  chartId: id,
  /** Default: the newest one at each tick. */
  version: versionNumber.optional(),
  input: json.optional(),
  businessKey: businessKey.optional(),
  labels: labels.optional(),
  priority: z.int().min(0).max(4).optional(),
});
const sendAction = z.strictObject({
  kind: z.literal("send"),
  /** By its id, or by a business key that one unended instance alone has. */
  to: oneOf("must be {instanceId} or {businessKey}", [
    z.strictObject({ instanceId: id }),
    z.strictObject({ businessKey }),
  ]),
  type: eventType,
  data: json.optional(),
});
/** `skip`: they are only recorded. `once`: one run for all of them. `all`: each, at most `misfireMax`, the newest. */
export const misfire = z.enum(["skip", "once", "all"]);
export type Misfire = z.infer<typeof misfire>;

const rule = z.strictObject({
  /** Five fields: minute, hour, day, month, weekday; a sixth before them is for seconds. */
  cron: z.string().min(1).max(256),
  /** IANA, e.g. `Europe/Berlin`; default UTC. */
  timeZone: z.string().min(1).max(64).optional(),
  action: namedBy("kind", ['"start"', '"send"'], [startAction, sendAction]),
  /** What becomes of ticks that came more than 30 s before a worker could see to them; default `once`. */
  misfire: misfire.optional(),
  /** Of `all`; default 10. */
  misfireMax: z.int().min(1).max(100).optional(),
  /** No tick until it is resumed. */
  paused: z.boolean().optional(),
});
export const createScheduleBody = rule.extend({ id });
/** The whole rule: what is left out gets its default. */
export const updateScheduleBody = rule.extend({
  /** The revision that the change was made on. */
  baseRevision: z.int().min(1),
});

export const tickView = z.object({
  /** Its time in ISO 8601; of a run by hand `hand:` and its key. */
  tick: z.string(),
  /** Counts from 0, without gaps. */
  n: z.int(),
  dueAt: timestamp,
  at: timestamp,
  outcome: z.enum(["started", "sent", "skipped", "refused"]),
  /** Ticks that it stands for beside its own; 99: that many, or more. */
  missed: z.int(),
  actor: z.string(),
  instanceId: z.string().nullable(),
  messageId: z.string().nullable(),
  /** Why it was refused. */
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type TickView = z.infer<typeof tickView>;

export const scheduleView = z.object({
  id: z.string(),
  /** Counts changes of the rule. */
  revision: z.int(),
  cron: z.string(),
  timeZone: z.string(),
  action: z.discriminatedUnion("kind", [
    z.object({
      kind: z.literal("start"),
      chartId: z.string(),
      version: z.int().nullable(),
      input: json,
      businessKey: z.string().nullable(),
      labels: z.record(z.string(), z.string()),
      priority: z.int(),
    }),
    z.object({
      kind: z.literal("send"),
      to: z.union([z.object({ instanceId: z.string() }), z.object({ businessKey: z.string() })]),
      type: z.string(),
      data: json,
    }),
  ]),
  misfire,
  misfireMax: z.int(),
  paused: z.boolean(),
  /** Null: paused, or no time comes any more. */
  nextAt: timestamp.nullable(),
  createdAt: timestamp,
  createdBy: z.string(),
  updatedAt: timestamp,
  updatedBy: z.string(),
  /** The newest five, newest first. */
  lastTicks: z.array(tickView),
});
export type ScheduleView = z.infer<typeof scheduleView>;

export const scheduleDetail = scheduleView.extend({
  /** The next five; of a paused one, those that would come. */
  nextTimes: z.array(timestamp),
  /** The database's clock when this was read. */
  now: timestamp,
});
export type ScheduleDetail = z.infer<typeof scheduleDetail>;

export const scheduleQuery = z.strictObject({
  ...pageQuery,
  chartId: id.optional(),
  status: z.enum(["active", "paused"]).optional(),
});
export const scheduleList = pageOf(scheduleView).extend({ now: timestamp });
export const tickQuery = z.strictObject({ ...pageQuery });
export const tickList = pageOf(tickView);
export const runScheduleResult = z.object({
  tick: tickView,
  /** It had been run with this idempotency key before. */
  replayed: z.boolean(),
});
