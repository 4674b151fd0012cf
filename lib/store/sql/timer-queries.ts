/**
 * Timers that are due, priority by priority.
 *
 * Holds: each priority has a range of the index to itself, in the order of time, so that however many timers of one are due,
 *        those of the others are found without passing them; and urgent ones that are not due yet hide nobody.
 */
import { priorityMax, rankPerTierMs } from "../instances";
import { join, raw, sql, type Sql } from "./statement";

const priorities = Array.from({ length: priorityMax + 1 }, (_, priority) => priority);

/** A source that has a row when one is due. */
export const someTimerDue = (now: Sql): Sql =>
  sql`FROM "timers" WHERE "parked" = 0 AND "priority" IN (${raw(priorities.join(", "))}) AND "due_at" <= ${now}`;

/** When the first of each priority after `after` is due: one row each. */
export const firstTimersAfter = (after: number): Sql =>
  join(
    priorities.map(
      (priority) =>
        sql`SELECT min("due_at") AS "at" FROM "timers" WHERE "parked" = 0 AND "priority" = ${raw(`${priority}`)} AND "due_at" > ${after}`,
    ),
    " UNION ALL ",
  );

/**
 * (instance, rank, time due) of those due at `now`, of each priority the first `limit`. `also`: a condition more, that begins
 * with AND.
 */
export const dueTimers = (now: number, limit: number, also: Sql): Sql =>
  join(
    priorities.map((priority) => {
      const rank = raw(`"due_at" - ${priority * rankPerTierMs}`);
      return sql`SELECT * FROM (SELECT "instance_id", ${rank}, "due_at" FROM "timers" WHERE "parked" = 0 AND "priority" = ${raw(`${priority}`)} AND "due_at" <= ${now} ${also} ORDER BY "due_at" LIMIT ${limit}) AS t${raw(`${priority}`)}`;
    }),
    " UNION ALL ",
  );
