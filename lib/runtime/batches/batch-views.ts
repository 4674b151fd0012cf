/**
 * Batches and their items as the runtime shows them.
 */
import type { BatchItemRow, BatchRow, BatchStatus } from "@/lib/store/batches";
import type { Failure } from "../instances/instance-views";
import type { InstanceFilterArgs } from "../instances/instance-filter";

export type BatchVerb =
  | "suspend"
  | "resume"
  | "cancel"
  | "terminate"
  | "redrive"
  | "retry-dead-letters"
  | "migrate"
  | "reset"
  | "fork"
  | "delete";

/** Named one by one, or by the filters of the list. */
export type BatchSelection = { instanceIds: string[] } | { filter: InstanceFilterArgs };

/** What the verb takes beside the instance. */
export interface BatchVerbArgs {
  reason: string;
  /** Of `migrate`. */
  version: number | null;
  mapping: Record<string, string>;
  /** Of `reset`; of `fork`, null: each one's newest. */
  seq: number | null;
  /** Of both. */
  rearmTimers: boolean;
  /** Of `fork`. */
  laterEvents: boolean;
}

export interface BatchView extends BatchVerbArgs {
  id: string;
  name: string;
  verb: BatchVerb;
  selection: BatchSelection;
  status: BatchStatus;
  ratePerSecond: number | null;
  /** Listed so far; all of them once it is not `listing`. */
  total: number;
  ok: number;
  refused: number;
  skipped: number;
  createdAt: number;
  createdBy: string;
  endedAt: number | null;
}
export interface BatchItemView {
  place: number;
  instanceId: string;
  status: BatchItemRow["status"];
  at: number | null;
  error: Failure | null;
}

export const viewBatch = (row: BatchRow): BatchView => ({
  ...verbArgsOf(row),
  id: row.id,
  name: row.name,
  verb: row.verb as BatchVerb,
  selection: readSelection(row),
  status: row.status,
  ratePerSecond: row.ratePerSecond,
  total: row.total,
  ok: row.ok,
  refused: row.refused,
  skipped: row.skipped,
  createdAt: row.createdAt,
  createdBy: row.createdBy,
  endedAt: row.endedAt,
});

export const viewBatchItem = ({
  place,
  instanceId,
  status,
  at,
  code,
  message,
}: BatchItemRow): BatchItemView => ({
  place,
  instanceId,
  status,
  at,
  error: code === null ? null : { code, message: message ?? "" },
});

/** One made by an earlier version names less. */
export const verbArgsOf = (row: Pick<BatchRow, "args">): BatchVerbArgs => ({
  seq: null,
  rearmTimers: false,
  laterEvents: false,
  ...(JSON.parse(row.args) as Omit<BatchVerbArgs, "seq" | "rearmTimers" | "laterEvents">),
});

/**
 * As it is stored. A filter by what older versions of Lockstep pass over goes by another name: they fail at it and leave it to
 * others, where they would choose everything.
 */
export function storedSelection(selection: BatchSelection): string {
  if (!("filter" in selection)) return JSON.stringify(selection);
  const { label, index, condition } = selection.filter;
  const isNew = label !== undefined || index !== undefined || condition !== undefined;
  return JSON.stringify(isNew ? { where: selection.filter } : selection);
}

export function readSelection({ selection }: Pick<BatchRow, "selection">): BatchSelection {
  const stored = JSON.parse(selection) as BatchSelection | { where: InstanceFilterArgs };
  return "where" in stored ? { filter: stored.where } : stored;
}
