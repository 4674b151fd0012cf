/** A batch stopped where it is: what is done stays done, the portion under way is finished, the rest is left alone. */
import type { Actor } from "@/lib/access/actor";
import type { BatchView } from "./batch-views";
import { changeBatch } from "./change-batch";
import type { RuntimeContext } from "../runtime-context";

/** Throws `not-found`. One that is over stays as it is. */
export const cancelBatch = (
  context: RuntimeContext,
  actor: Actor,
  { batchId }: { batchId: string },
): Promise<BatchView> =>
  changeBatch(context, actor, batchId, "cancel-batch", (row, now) =>
    row.status === "done" || row.status === "cancelled"
      ? row
      : // The token stays: whoever has the present portion may still tell what became of it.
        { ...row, status: "cancelled", nextAt: null, endedAt: now },
  );
