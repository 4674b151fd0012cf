/** A cancelled batch goes on with what was left. */
import type { Actor } from "@/lib/access/actor";
import type { BatchView } from "./batch-views";
import { changeBatch } from "./change-batch";
import type { RuntimeContext } from "../runtime-context";

/** Throws `not-found`. One that was not cancelled stays as it is. */
export const resumeBatch = (
  context: RuntimeContext,
  actor: Actor,
  { batchId }: { batchId: string },
): Promise<BatchView> =>
  changeBatch(context, actor, batchId, "resume-batch", (row, now) =>
    row.status === "cancelled"
      ? {
          ...row,
          status: row.cursor === null ? "running" : "listing",
          nextAt: now,
          token: null,
          endedAt: null,
        }
      : row,
  );
