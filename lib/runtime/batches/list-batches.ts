/** Batches, newest first. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { viewBatch, type BatchView } from "./batch-views";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import type { RuntimeContext } from "../runtime-context";

export async function listBatches(
  { store }: RuntimeContext,
  actor: Actor,
  { cursor, limit }: PageArgs,
): Promise<Page<BatchView>> {
  requirePermission(actor, "instances:read");
  const size = pageLimit(limit);
  const after = readCursor(cursor, { createdAt: 0, id: "" });
  const rows = await store.listBatches(after, size + 1);
  return pageOf(rows, size, ({ createdAt, id }) => ({ createdAt, id }), viewBatch);
}
