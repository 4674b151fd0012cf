/** How many instances a batch would be about, by status, before it is made; beyond `countMax` only that there are more. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { readFilter } from "../instances/instance-filter";
import type { InstanceStatus } from "../instances/instance-views";
import { requireBatch, type BatchArgs } from "./require-batch";
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

/** `verb` and what goes with it: refused as making the batch would be. */
export type CountBatchArgs = Pick<BatchArgs, "selection"> & Partial<BatchArgs>;

/** Throws `bad-request`, `not-found` (chart), `version-not-found`, as making it would. */
export async function countBatch(
  context: RuntimeContext,
  actor: Actor,
  { selection, verb, reason = "", ...more }: CountBatchArgs,
): Promise<BatchCount> {
  requirePermission(actor, "instances:read");
  if (verb === undefined && Object.values(more).some((value) => value !== undefined)) {
    throw new LockstepError("bad-request", "verb: name it with what it takes.", {
      details: { field: "verb" },
    });
  }
  const selected =
    verb === undefined
      ? await requireSelection(context, selection, null)
      : await requireBatch(context, actor, { selection, verb, reason, ...more });
  const stored = "filter" in selected ? { filter: await readFilter(context, selected.filter) } : selected;
  const groups = await context.store.countSelected(stored, countMax + 1);
  const counted = groups.reduce((sum, { count }) => sum + count, 0);
  return {
    count: Math.min(counted, countMax),
    capped: counted > countMax,
    byStatus: groups.map(({ status, count }) => ({ status: status as InstanceStatus, count })),
  };
}
