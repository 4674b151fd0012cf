/**
 * What is remembered of batches: one control verb over many instances, and what became of each.
 */
import type { InstanceFilter } from "./instances";

export type BatchSelection = { instanceIds: string[] } | { filter: InstanceFilter };
export type BatchStatus = "listing" | "running" | "done" | "cancelled";

export interface BatchRow {
  id: string;
  name: string;
  verb: string;
  /** JSON: what the verb takes beside the instance. */
  args: string;
  /** JSON: as the caller made it. */
  selection: string;
  status: BatchStatus;
  /** Items a second; null: as fast as they go. */
  ratePerSecond: number | null;
  /** Items listed so far; all of them once it is not listing any more. */
  total: number;
  ok: number;
  refused: number;
  skipped: number;
  /** JSON: where the listing goes on (InstanceCursor); null: all are listed. */
  cursor: string | null;
  /** When its next portion may be taken, and until when the present one is its worker's alone; null: there is none. */
  nextAt: number | null;
  /** Of the worker that carries out the present portion. */
  token: string | null;
  createdAt: number;
  createdBy: string;
  endedAt: number | null;
}

export interface BatchItemRow {
  batchId: string;
  /** From 0. */
  place: number;
  instanceId: string;
  status: "pending" | "ok" | "refused" | "skipped";
  /** Tries that ended with "later". */
  attempts: number;
  /** Why it was refused. */
  code: string | null;
  message: string | null;
  at: number | null;
}

export interface BatchReads {
  findBatch(batchId: string): Promise<BatchRow | null>;
  /** Newest first, those after the cursor. */
  listBatches(after: Pick<BatchRow, "createdAt" | "id"> | null, limit: number): Promise<BatchRow[]>;
  /** Those with a portion due at `now`, longest due first. */
  findDueBatches(now: number, limit: number): Promise<string[]>;
  /** By place, those after `after` (null: from the first); of one status, or of all (null). */
  listBatchItems(
    batchId: string,
    status: BatchItemRow["status"] | null,
    after: number | null,
    limit: number,
  ): Promise<BatchItemRow[]>;
  /** How many live instances there are in a selection, by status, counted up to `limit` in all. */
  countSelected(selection: BatchSelection, limit: number): Promise<{ status: string; count: number }[]>;
}

export interface BatchTransaction {
  /** A taken id is an error. */
  insertBatch(row: BatchRow): Promise<void>;
  /** Held to the transaction's end; null: there is none. `skipBusy`: null too when another transaction holds it. */
  lockBatch(batchId: string, options?: { skipBusy?: boolean }): Promise<BatchRow | null>;
  /** Call it under its lock. */
  updateBatch(row: BatchRow): Promise<void>;
  /** A taken (batch, place) is an error. */
  insertBatchItems(rows: readonly BatchItemRow[]): Promise<void>;
  /** As they are now. Call it under the batch's lock. */
  updateBatchItems(rows: readonly BatchItemRow[]): Promise<void>;
}
