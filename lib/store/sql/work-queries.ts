/**
 * Whether there is work, of every kind at once: what an idle installation asks again and again is one statement.
 *
 * Holds: each part is the condition by which the kind's own verb finds it, and ends at the first row of an index.
 */
import { waiterSilentMs } from "@/lib/base/limits";
import type { Work, WorkReads } from "../work";
import { dueBatches } from "./batch-queries";
import { dueFamilies, orphans } from "./child-queries";
import { nowIn } from "./clock";
import type { Provider, Reader } from "./connection";
import { cooledLocks, readyStates, unsettledLocks, unsettledWaiters } from "./lock-queries";
import { dueSchedules } from "./schedule-queries";
import { raw, sql, type Sql } from "./statement";
import { dueTasks, freeKeys } from "./task-queries";
import { someTimerDue } from "./timer-queries";

const now = raw(`t."now"`);
const aliveSince = raw(`t."now" - ${waiterSilentMs}`);
const exists = (...sources: Sql[]): Sql =>
  sources.map((source) => sql`EXISTS (SELECT 1 ${source})`).reduce((one, other) => sql`${one} OR ${other}`);

export function workReads(reader: Reader, provider: Provider, clock?: () => number): WorkReads {
  return {
    async findWork(at) {
      const time = at === undefined ? nowIn(provider, clock) : sql`CAST(${at} AS bigint)`;
      const [row] = await reader.query<Record<keyof Work, number | boolean>>(
        sql`SELECT ${exists(
          sql`FROM "mailbox" WHERE "parked" = 0`,
          someTimerDue(now),
        )} AS "steps", ${exists(dueTasks(now), freeKeys)} AS "tasks", ${exists(dueFamilies(now), readyStates(aliveSince), orphans)} AS "children", ${exists(
          sql`FROM "instances" WHERE "status" = 'compensating' AND "deleted_at" IS NULL`,
        )} AS "sagas", ${exists(unsettledLocks(now), cooledLocks(now), unsettledWaiters(now))} AS "locks", ${exists(dueSchedules(now))} AS "schedules", ${exists(dueBatches(now))} AS "batches" FROM (SELECT ${time} AS "now" FROM "clock") AS t`,
      );
      const is = (kind: keyof Work) => Boolean(row?.[kind]);
      return {
        steps: is("steps"),
        tasks: is("tasks"),
        children: is("children"),
        sagas: is("sagas"),
        locks: is("locks"),
        schedules: is("schedules"),
        batches: is("batches"),
      };
    },
  };
}
