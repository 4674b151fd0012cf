/**
 * Schedules' statements: each by key or along an index.
 */
import type { ScheduleReads, ScheduleRow, ScheduleTransaction, TickRow } from "../schedules";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { join, sql, type Handle, type Sql } from "./statement";
import { insertRows, schedules, scheduleTicks, updateRows } from "./tables";

export function scheduleReads(handle: Reader, dialect: Dialect): ScheduleReads {
  return {
    async findSchedule(scheduleId) {
      const [row] = await handle.query<ScheduleRow>(
        sql`SELECT ${schedules.all} FROM ${schedules.name} WHERE "id" = ${scheduleId}`,
      );
      return row ?? null;
    },
    listSchedules({ chartId, paused }, after, limit) {
      const conditions = [sql`"id" > ${after ?? ""}`];
      if (chartId !== undefined) conditions.push(sql`"chart_id" = ${chartId}`);
      if (paused !== undefined) conditions.push(sql`"paused" = ${paused ? 1 : 0}`);
      return handle.query<ScheduleRow>(
        sql`SELECT ${schedules.all} FROM ${schedules.name} WHERE ${join(conditions, " AND ")} ORDER BY "id" LIMIT ${limit}`,
      );
    },
    async findDueSchedules(now, limit) {
      const rows = await handle.query<{ id: string }>(
        sql`SELECT ${schedules.pick("id")} ${dueSchedules(now)} ORDER BY "next_at" LIMIT ${limit}`,
      );
      return rows.map(({ id }) => id);
    },
    listTicks: (scheduleId, before, limit) =>
      handle.query<TickRow>(
        sql`SELECT ${scheduleTicks.all} FROM ${scheduleTicks.name} WHERE "schedule_id" = ${scheduleId} AND "n" < ${before ?? Number.MAX_SAFE_INTEGER} ORDER BY "n" DESC LIMIT ${limit}`,
      ),
    newestTicks: (scheduleIds, count) =>
      handle.query<TickRow>(
        sql`SELECT ${scheduleTicks.all} FROM ${schedules.name} JOIN ${scheduleTicks.name} ON "schedule_ticks"."schedule_id" = "schedules"."id" AND "schedule_ticks"."n" >= "schedules"."ticks" - ${count} WHERE "schedules"."id" IN ${dialect.texts(scheduleIds)} ORDER BY "schedule_ticks"."schedule_id", "schedule_ticks"."n" DESC`,
      ),
  };
}

const changeable = Object.keys(schedules.columns).filter((name) => name !== "id");

export const dueSchedules = (now: number | Sql): Sql => sql`FROM ${schedules.name} WHERE "next_at" <= ${now}`;

export function scheduleTransaction(handle: Handle, dialect: Dialect): ScheduleTransaction {
  return {
    async insertSchedule(row) {
      return (await insertRows(handle, dialect, schedules, [row], `ON CONFLICT ("id") DO NOTHING`)) === 1;
    },
    async lockSchedule(scheduleId, { skipBusy = false } = {}) {
      const lock = skipBusy ? dialect.forNoKeyUpdateSkipLocked : dialect.forNoKeyUpdate;
      const [row] = await handle.query<ScheduleRow>(
        sql`SELECT ${schedules.all} FROM ${schedules.name} WHERE "id" = ${scheduleId} ${lock}`,
      );
      return row ?? null;
    },
    async updateSchedule(row) {
      await updateRows(handle, dialect, schedules, ["id"], changeable, [row]);
    },
    async deleteSchedule(scheduleId) {
      await handle.execute(sql`DELETE FROM ${scheduleTicks.name} WHERE "schedule_id" = ${scheduleId}`);
      await handle.execute(sql`DELETE FROM ${schedules.name} WHERE "id" = ${scheduleId}`);
    },
    async insertTicks(rows) {
      await insertRows(handle, dialect, scheduleTicks, rows);
    },
    async findTick(scheduleId, tick) {
      const [row] = await handle.query<TickRow>(
        sql`SELECT ${scheduleTicks.all} FROM ${scheduleTicks.name} WHERE "schedule_id" = ${scheduleId} AND "tick" = ${tick}`,
      );
      return row ?? null;
    },
    async dropTicks(scheduleId, below) {
      await handle.execute(
        sql`DELETE FROM ${scheduleTicks.name} WHERE "schedule_id" = ${scheduleId} AND "n" < ${below}`,
      );
    },
  };
}
