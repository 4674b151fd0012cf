/**
 * Batches' statements: each by key or along an index.
 */
import type { BatchItemRow, BatchReads, BatchRow, BatchTransaction } from "../batches";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { filteredInstances, onlyThose } from "./instance-filters";
import { join, sql, type Handle, type Sql } from "./statement";
import { batches, batchItems, insertRows, updateRows } from "./tables";

export function batchReads(handle: Reader, dialect: Dialect): BatchReads {
  return {
    async findBatch(batchId) {
      const [row] = await handle.query<BatchRow>(
        sql`SELECT ${batches.all} FROM ${batches.name} WHERE "id" = ${batchId}`,
      );
      return row ?? null;
    },
    listBatches(after, limit) {
      const from = after ? sql`WHERE ("created_at", "id") < (${after.createdAt}, ${after.id})` : sql``;
      return handle.query<BatchRow>(
        sql`SELECT ${batches.all} FROM ${batches.name} ${from} ORDER BY "created_at" DESC, "id" DESC LIMIT ${limit}`,
      );
    },
    async findDueBatches(now, limit) {
      const rows = await handle.query<{ id: string }>(
        sql`SELECT ${batches.pick("id")} ${dueBatches(now)} ORDER BY "next_at" LIMIT ${limit}`,
      );
      return rows.map(({ id }) => id);
    },
    listBatchItems(batchId, status, after, limit) {
      const conditions = [sql`"batch_id" = ${batchId}`, sql`"place" > ${after ?? -1}`];
      if (status !== null) conditions.push(sql`"status" = ${status}`);
      return handle.query<BatchItemRow>(
        sql`SELECT ${batchItems.all} FROM ${batchItems.name} WHERE ${join(conditions, " AND ")} ORDER BY "place" LIMIT ${limit}`,
      );
    },
    async countSelected(selection, limit) {
      const isFilter = "filter" in selection;
      const found = await filteredInstances(handle, dialect, isFilter ? selection.filter : {});
      const from = isFilter ? found.from : onlyThose(dialect, selection.instanceIds);
      return handle.query<{ status: string; count: number }>(
        sql`SELECT "status", count(*) AS "count" FROM (SELECT "status" FROM ${from} WHERE ${join(found.conditions, " AND ")} LIMIT ${limit}) AS selected GROUP BY "status" ORDER BY "status"`,
      );
    },
  };
}

const changeable = Object.keys(batches.columns).filter((name) => name !== "id");

export const dueBatches = (now: number | Sql): Sql => sql`FROM ${batches.name} WHERE "next_at" <= ${now}`;

export function batchTransaction(handle: Handle, dialect: Dialect): BatchTransaction {
  return {
    async insertBatch(row) {
      await insertRows(handle, dialect, batches, [row]);
    },
    async lockBatch(batchId, { skipBusy = false } = {}) {
      const lock = skipBusy ? dialect.forNoKeyUpdateSkipLocked : dialect.forNoKeyUpdate;
      const [row] = await handle.query<BatchRow>(
        sql`SELECT ${batches.all} FROM ${batches.name} WHERE "id" = ${batchId} ${lock}`,
      );
      return row ?? null;
    },
    async updateBatch(row) {
      await updateRows(handle, dialect, batches, ["id"], changeable, [row]);
    },
    async insertBatchItems(rows) {
      await insertRows(handle, dialect, batchItems, rows);
    },
    async updateBatchItems(rows) {
      const set = ["status", "attempts", "code", "message", "at"];
      await updateRows(handle, dialect, batchItems, ["batchId", "place"], set, rows);
    },
  };
}
