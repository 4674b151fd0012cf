/**
 * Statements of workers' notes and orders.
 */
import type { Claimant, WorkerNotes, WorkerOrderReads, WorkerOrderTransaction } from "../worker-orders";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { sql, type Handle } from "./statement";

const orders = sql`"drain_asked" AS "drainAsked", "resets"`;

export function workerOrderReads(handle: Reader, dialect: Dialect): WorkerOrderReads {
  return {
    listWorkerNotes: (limit) =>
      handle.query<WorkerNotes>(
        sql`SELECT "id", "breakers", "partitions", ${orders} FROM "workers" ORDER BY "id" LIMIT ${limit}`,
      ),
    async findOrders(id, session) {
      const [row] = await handle.query<Pick<WorkerNotes, "drainAsked" | "resets">>(
        sql`SELECT ${orders} FROM "workers" WHERE "id" = ${id} AND "session" = ${session}`,
      );
      return row ?? null;
    },
    findClaimants: (ids) =>
      handle.query<Claimant>(
        sql`SELECT "id", "drain_asked" AS "drainAsked", "session", "seen_at" AS "seenAt", "lost_at" AS "lostAt" FROM "workers" WHERE "id" IN ${dialect.texts(ids)}`,
      ),
  };
}

export function workerOrderTransaction(handle: Handle, dialect: Dialect): WorkerOrderTransaction {
  const hold = async (id: string): Promise<{ session: string; resets: string[] } | null> => {
    const [row] = await handle.query<{ session: string; resets: string }>(
      sql`SELECT "session", "resets" FROM "workers" WHERE "id" = ${id} ${dialect.forNoKeyUpdate}`,
    );
    return row ? { session: row.session, resets: JSON.parse(row.resets) as string[] } : null;
  };
  const writeResets = (id: string, resets: readonly string[]) =>
    handle.execute(sql`UPDATE "workers" SET "resets" = ${JSON.stringify(resets)} WHERE "id" = ${id}`);
  return {
    async noteWorker(id, session, { breakers, partitions }) {
      await handle.execute(
        sql`UPDATE "workers" SET "breakers" = ${breakers}, "partitions" = ${partitions} WHERE "id" = ${id} AND "session" = ${session}`,
      );
    },
    async askDrain(id, drain) {
      const touched = await handle.execute(
        sql`UPDATE "workers" SET "drain_asked" = ${drain ? 1 : 0} WHERE "id" = ${id}`,
      );
      return touched === 1;
    },
    async askReset(id, breaker) {
      const row = await hold(id);
      if (row) await writeResets(id, [...new Set([...row.resets, breaker])]);
      return row !== null;
    },
    async takeResets(id, session) {
      const row = await hold(id);
      if (row?.session !== session || row.resets.length === 0) return [];
      await writeResets(id, []);
      return row.resets;
    },
  };
}
