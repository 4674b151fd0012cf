/** The instances of a batch in the order of their turn, with what became of each. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { viewBatchItem, type BatchItemView } from "./batch-views";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import { batchNotFound } from "./get-batch";
import type { RuntimeContext } from "../runtime-context";

export interface ListBatchItemsArgs extends PageArgs {
  batchId: string;
  status?: BatchItemView["status"] | undefined;
}

/** Throws `not-found`. */
export async function listBatchItems(
  { store }: RuntimeContext,
  actor: Actor,
  { batchId, status, cursor, limit }: ListBatchItemsArgs,
): Promise<Page<BatchItemView>> {
  requirePermission(actor, "instances:read");
  if (!(await store.findBatch(batchId))) throw batchNotFound(batchId);
  const size = pageLimit(limit);
  const after = readCursor(cursor, { place: 0 })?.place ?? null;
  const rows = await store.listBatchItems(batchId, status ?? null, after, size + 1);
  return pageOf(rows, size, ({ place }) => ({ place }), viewBatchItem);
}
