/**
 * Workers' statements.
 */
import type { WorkerReads, WorkerRow, WorkerTransaction } from "../workers";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { sql, type Handle } from "./statement";
import { columnName, insertRows, workers } from "./tables";

export function workerReads(handle: Reader): WorkerReads {
  return {
    listWorkers: (limit) =>
      handle.query<WorkerRow>(sql`SELECT ${workers.all} FROM ${workers.name} ORDER BY "id" LIMIT ${limit}`),
  };
}

const told = ["session", "kind", "types", "slots", "running", "draining", "note", "seenAt"]
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
        `ON CONFLICT ("id") DO UPDATE SET ${told}, "started_at" = CASE WHEN ${same} THEN "workers"."started_at" ELSE excluded."started_at" END WHERE ${same} OR "workers"."seen_at" <= excluded."seen_at" - ${Math.round(silentMs)}`,
      );
      return touched === 1;
    },
    async removeWorker(id, session) {
      await handle.execute(sql`DELETE FROM ${workers.name} WHERE "id" = ${id} AND "session" = ${session}`);
    },
    async removeSilentWorkers(before) {
      await handle.execute(sql`DELETE FROM ${workers.name} WHERE "seen_at" < ${before}`);
    },
  };
}
