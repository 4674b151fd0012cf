/**
 * Carries batches out in portions: first their instances are listed, then the verb is done to one after the other.
 *
 * Holds: a portion belongs to one worker, for `leaseMs`; of one that died it is done again by another, each item under the
 *        same idempotency key, so that nothing is done twice (I4, I9). A worker whose portion went to another writes no
 *        outcomes. Not more than the batch's rate a second begin.
 */
import type { Actor } from "@/lib/access/actor";
import type { BatchItemRow, BatchRow } from "@/lib/store/batches";
import type { InstanceCursor } from "@/lib/store/instances";
import type { StoreTransaction } from "@/lib/store/store";
import { readSelection, verbArgsOf } from "../batches/batch-views";
import { readFilter } from "../instances/instance-filter";
import { newTaskToken } from "../new-id";
import { performBatchItem } from "../batches/perform-batch-item";
import type { RuntimeContext } from "../runtime-context";

const batchesMax = 5;
const listedAtOnceMax = 1_000;
const itemsAtOnceMax = 50;
/** Items of a portion that are under way together: one connection each. */
const lanes = 4;
/** Longer than a portion takes: one that is not over by then is another's. */
const leaseMs = 30_000;
/** No item of a portion begins later than this after its start. */
const portionMs = 10_000;
/** After a portion that got nowhere. */
const pauseMs = 1_000;

/** True when there may be more. */
export async function runBatches(
  context: RuntimeContext,
  report: (error: unknown) => void,
): Promise<boolean> {
  const { store } = context;
  const due = await store.findDueBatches(await store.now(), batchesMax);
  let done = 0;
  for (const batchId of due) {
    try {
      const batch = await claim(context, batchId);
      if (!batch) continue;
      if (batch.status === "listing") await list(context, batch);
      else await carryOut(context, batch, report);
      done += 1;
    } catch (error) {
      report(error);
    }
  }
  return done > 0;
}

/** Its next portion is this worker's alone, until the lease is over. */
const claim = ({ store }: RuntimeContext, batchId: string): Promise<BatchRow | null> =>
  store.transaction(async (tx) => {
    const row = await tx.lockBatch(batchId, { skipBusy: true });
    const now = await tx.now();
    if (!row || row.nextAt === null || row.nextAt > now) return null;
    const claimed = { ...row, token: newTaskToken(), nextAt: now + leaseMs };
    await tx.updateBatch(claimed);
    return claimed;
  });

/** Null when the portion is another's by now. */
async function stillOurs(tx: StoreTransaction, { id, token }: BatchRow): Promise<BatchRow | null> {
  const row = await tx.lockBatch(id);
  return row?.token === token ? row : null;
}

async function list(context: RuntimeContext, batch: BatchRow): Promise<void> {
  const { store } = context;
  const { ids, cursor } = await nextListed(context, batch);
  await store.transaction(async (tx) => {
    const row = await stillOurs(tx, batch);
    if (!row || row.status !== "listing") return;
    const items = ids.map((instanceId, index): BatchItemRow => ({
      batchId: row.id,
      place: row.total + index,
      instanceId,
      status: "pending",
      attempts: 0,
      code: null,
      message: null,
      at: null,
    }));
    await tx.insertBatchItems(items);
    const status = cursor === null ? "running" : "listing";
    const total = row.total + items.length;
    await tx.updateBatch({ ...row, status, cursor, total, token: null, nextAt: await tx.now() });
  });
}

async function nextListed(
  context: RuntimeContext,
  batch: BatchRow,
): Promise<{ ids: string[]; cursor: string | null }> {
  const selection = readSelection(batch);
  if ("instanceIds" in selection) return { ids: [...new Set(selection.instanceIds)], cursor: null };
  const after = JSON.parse(batch.cursor ?? "null") as InstanceCursor | null;
  const rows = await context.store.listInstances(
    await readFilter(context, selection.filter),
    after,
    listedAtOnceMax,
  );
  const last = rows.at(-1);
  const more = last !== undefined && rows.length === listedAtOnceMax;
  return {
    ids: rows.map(({ id }) => id),
    cursor: more ? JSON.stringify({ createdAt: last.createdAt, id: last.id } satisfies InstanceCursor) : null,
  };
}

async function carryOut(
  context: RuntimeContext,
  batch: BatchRow,
  report: (error: unknown) => void,
): Promise<void> {
  const { store } = context;
  const size = portionOf(batch.ratePerSecond);
  const items = await store.listBatchItems(batch.id, "pending", null, size);
  const after = await performAll(context, batch, items, report);
  await store.transaction(async (tx) => {
    const row = await stillOurs(tx, batch);
    if (!row) return;
    const now = await tx.now();
    await tx.updateBatchItems(after.map((item) => ({ ...item, at: item.status === "pending" ? null : now })));
    const counted = (status: BatchItemRow["status"]) => after.filter((item) => item.status === status).length;
    const told = {
      ...row,
      ok: row.ok + counted("ok"),
      refused: row.refused + counted("refused"),
      skipped: row.skipped + counted("skipped"),
    };
    // Stopped meanwhile: what was done is told.
    if (row.status === "cancelled") return tx.updateBatch(told);
    const done = told.ok + told.refused + told.skipped === told.total;
    if (done) return tx.updateBatch({ ...told, status: "done", token: null, nextAt: null, endedAt: now });
    const stuck = after.length === counted("pending");
    const paceMs = batch.ratePerSecond === null ? 0 : (after.length * 1_000) / batch.ratePerSecond;
    return tx.updateBatch({ ...told, token: null, nextAt: Math.ceil(now + (stuck ? pauseMs : paceMs)) });
  });
}

/** Half a second's worth, so that a slow rate is even. */
const portionOf = (ratePerSecond: number | null): number =>
  ratePerSecond === null
    ? itemsAtOnceMax
    : Math.max(1, Math.min(itemsAtOnceMax, Math.floor(ratePerSecond / 2)));

/** The items that were begun in time, as they are after it. */
async function performAll(
  context: RuntimeContext,
  batch: BatchRow,
  items: readonly BatchItemRow[],
  report: (error: unknown) => void,
): Promise<BatchItemRow[]> {
  const began = performance.now();
  const args = verbArgsOf(batch);
  const actor: Actor = {
    id: batch.createdBy,
    kind: "system",
    permissions: new Set(["instances:control", "instances:read", "instances:start"]),
  };
  const after: BatchItemRow[] = [];
  const waiting = [...items];
  const lane = async () => {
    while (performance.now() - began < portionMs && !context.closing.aborted) {
      const item = waiting.shift();
      if (!item) return;
      const outcome = await performBatchItem(context, actor, batch, args, item, report);
      after.push({ ...item, ...outcome });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return after;
}
