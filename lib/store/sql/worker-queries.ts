/**
 * Workers' statements.
 */
import type { SuspectRow, WorkerReads, WorkerRow, WorkerTransaction } from "../workers";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { sql, type Handle, type Sql } from "./statement";
import { columnName, insertRows, suspects, workers } from "./tables";

const suspectsOf = (dialect: Dialect, instanceIds: readonly string[]): Sql =>
  sql`SELECT ${suspects.all} FROM ${suspects.name} WHERE "instance_id" IN ${dialect.texts(instanceIds)}`;

export function workerReads(handle: Reader, dialect: Dialect): WorkerReads {
  return {
    findSuspects: (instanceIds) => handle.query<SuspectRow>(suspectsOf(dialect, instanceIds)),
    listWorkers: (limit) =>
      handle.query<WorkerRow>(sql`SELECT ${workers.all} FROM ${workers.name} ORDER BY "id" LIMIT ${limit}`),
  };
}

const told = ["session", "kind", "types", "slots", "running", "draining", "note", "seenAt", "lostAt"]
  .map((name) => `${columnName(name)} = excluded.${columnName(name)}`)
  .join(", ");

export function workerTransaction(handle: Handle, dialect: Dialect): WorkerTransaction {
  return {
    async putWorker(row, silentMs) {
      const same = `"workers"."session" = excluded."session"`;
      const touched = await insertRows(
        handle,
        dialect,
        workers,
        [row],
        `ON CONFLICT ("id") DO UPDATE SET ${told}, "started_at" = CASE WHEN ${same} THEN "workers"."started_at" ELSE excluded."started_at" END, "drain_asked" = CASE WHEN ${same} THEN "workers"."drain_asked" ELSE 0 END WHERE ${same} OR "workers"."seen_at" <= excluded."seen_at" - ${Math.round(silentMs)}`,
      );
      return touched === 1;
    },
    async removeWorker(id, session) {
      await handle.execute(sql`DELETE FROM ${workers.name} WHERE "id" = ${id} AND "session" = ${session}`);
    },
    watchWorkers: (before) =>
      handle.query<WorkerRow>(
        sql`SELECT ${workers.all} FROM ${workers.name} WHERE "kind" = 'runtime' OR "seen_at" < ${before} ORDER BY "id"`,
      ),
    async removeSilentWorkers(before) {
      await handle.execute(sql`DELETE FROM ${workers.name} WHERE "seen_at" < ${before}`);
      await handle.execute(sql`DELETE FROM ${suspects.name} WHERE "at" < ${before}`);
    },
    loseWorkers: (ids, at) =>
      handle.query<WorkerRow>(
        sql`UPDATE ${workers.name} SET "lost_at" = ${at} WHERE "id" IN ${dialect.texts(ids)} AND "lost_at" IS NULL RETURNING ${workers.all}`,
      ),
    async noteStepping(id, session, stepping) {
      const text = stepping && JSON.stringify(stepping);
      const touched = await handle.execute(
        sql`UPDATE ${workers.name} SET "stepping" = ${text} WHERE "id" = ${id} AND "session" = ${session}`,
      );
      return touched === 1;
    },
    async putSuspects(rows) {
      const set = ["item", "deaths", "at"].map((name) => `"${name}" = excluded."${name}"`).join(", ");
      await insertRows(handle, dialect, suspects, rows, `ON CONFLICT ("instance_id") DO UPDATE SET ${set}`);
    },
    lockSuspects: (instanceIds) =>
      handle.query<SuspectRow>(
        sql`${suspectsOf(dialect, instanceIds)} ORDER BY "instance_id" ${dialect.forUpdate}`,
      ),
    async removeSuspect(instanceId) {
      await handle.execute(sql`DELETE FROM ${suspects.name} WHERE "instance_id" = ${instanceId}`);
    },
  };
}
