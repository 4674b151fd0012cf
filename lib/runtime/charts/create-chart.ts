/**
 * A new chart with its first draft. Its text may be anything: a draft is what someone is working on, publishing checks it.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { emptyLayout, type ChartLayout, type ChartView } from "./chart-views";
import { readChart } from "./get-chart";
import { newAuditId } from "../new-id";
import { requireText } from "../require-payload";
import { requireOpen, type RuntimeContext } from "../runtime-context";

/** Throws `chart-exists`. */
export async function createChart(
  context: RuntimeContext,
  actor: Actor,
  args: { id: string; text: string; layout?: ChartLayout | undefined },
): Promise<ChartView> {
  requirePermission(actor, "charts:write");
  requireOpen(context);
  requireText(args.text, "text");
  await context.store.transaction(async (tx) => {
    const now = await tx.now();
    const made = await tx.insertChart({
      id: requireText(args.id, "id"),
      draftText: args.text,
      draftLayout: JSON.stringify(args.layout ?? emptyLayout),
      revision: 1,
      savedAt: now,
      savedBy: actor.id,
      version: null,
      createdAt: now,
      updatedAt: now,
      updatedBy: actor.id,
    });
    if (!made) {
      throw new LockstepError(
        "chart-exists",
        `There is a chart ${args.id} already. Choose another id, or open it.`,
        {
          details: { chartId: args.id },
        },
      );
    }
    await tx.writeAudit({
      id: newAuditId(),
      at: now,
      actor: actor.id,
      action: "create-chart",
      target: `chart:${args.id}`,
      outcome: "done",
      details: "{}",
    });
  });
  return readChart(context.store, args.id);
}
