/** Instances by filters, newest first, paged by key. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { pageLimit, pageOf, readCursor, type Page, type PageArgs } from "../call";
import { waitsOf } from "./conditions";
import { readFilter, type InstanceFilterArgs } from "./instance-filter";
import { viewInstanceSummary, type InstanceSummary } from "./instance-views";
import type { RuntimeContext } from "../runtime-context";

export type ListInstancesArgs = PageArgs & InstanceFilterArgs;

export async function listInstances(
  context: RuntimeContext,
  actor: Actor,
  args: ListInstancesArgs,
): Promise<Page<InstanceSummary>> {
  requirePermission(actor, "instances:read");
  const { cursor, limit, ...filter } = args;
  const { store } = context;
  const wanted = await readFilter(context, filter);
  const size = pageLimit(limit);
  const after = readCursor(cursor, { createdAt: 0, id: "" });
  const rows = await store.listInstances(wanted, after, size + 1);
  const labels = await store.labelsOf(rows.map((row) => row.id));
  const waits = await waitsOf(store, rows);
  return pageOf(
    rows,
    size,
    ({ createdAt, id }) => ({ createdAt, id }),
    (row) => viewInstanceSummary(row, labels, waits),
  );
}
