/** How many instances a batch would be about, by status, before it is made; beyond `countMax` only that there are more. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import type { BatchSelection } from "./batch-views";
import { readFilter } from "../instances/instance-filter";
import type { InstanceStatus } from "../instances/instance-views";
import { requireSelection } from "./require-selection";
import type { RuntimeContext } from "../runtime-context";

export interface BatchCount {
  /** At most `countMax`. */
  count: number;
  /** There are more than that. */
  capped: boolean;
  byStatus: { status: InstanceStatus; count: number }[];
}

const countMax = 100_000;

/** Throws `bad-request`, `not-found` (chart), as making it would. */
export async function countBatch(
  context: RuntimeContext,
  actor: Actor,
  { selection }: { selection: BatchSelection },
): Promise<BatchCount> {
  requirePermission(actor, "instances:read");
  const selected = await requireSelection(context, selection, null);
  const stored = "filter" in selected ? { filter: await readFilter(context, selected.filter) } : selected;
  const groups = await context.store.countSelected(stored, countMax + 1);
  const counted = groups.reduce((sum, { count }) => sum + count, 0);
  return {
    count: Math.min(counted, countMax),
    capped: counted > countMax,
    byStatus: groups.map(({ status, count }) => ({ status: status as InstanceStatus, count })),
  };
}
