/**
 * A draft's next revision.
 *
 * Holds: nobody's work is written over unseen: the edit must have been made on the newest revision.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { ChartLayout, SavedDraft } from "./chart-views";
import { chartNotFound } from "./get-chart";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";

/** Throws `not-found`, or `draft-conflict` with {baseRevision, revision}. */
export async function saveDraft(
  context: RuntimeContext,
  actor: Actor,
  args: { chartId: string; baseRevision: number; text: string; layout: ChartLayout },
): Promise<SavedDraft> {
  requirePermission(actor, "charts:write");
  requireOpen(context);
  requireText(args.text, "text");
  return context.store.transaction(async (tx) => {
    const row = await tx.lockChart(args.chartId);
    if (!row) throw chartNotFound(args.chartId);
    requireRevision(args.chartId, args.baseRevision, row);
    const now = await tx.now();
    const revision = row.revision + 1;
    await tx.updateChart({
      ...row,
      draftText: args.text,
      draftLayout: JSON.stringify(args.layout),
      revision,
      savedAt: now,
      savedBy: actor.id,
      updatedAt: now,
      updatedBy: actor.id,
    });
    return { revision, savedAt: now };
  });
}

export function requireRevision(
  chartId: string,
  baseRevision: number,
  row: { revision: number; savedBy: string; savedAt: number },
): void {
  if (row.revision === baseRevision) return;
  throw new LockstepError(
    "draft-conflict",
    `The draft of ${chartId} is at revision ${row.revision}, saved by ${row.savedBy}; yours was made on ${baseRevision}. Load the newest and apply your change to it.`,
    {
      details: {
        chartId,
        baseRevision,
        revision: row.revision,
        savedBy: row.savedBy,
        savedAt: row.savedAt,
      },
    },
  );
}
