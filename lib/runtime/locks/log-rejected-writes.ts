/**
 * Refused writes, remembered on their locks: in transactions of their own, after the one that refused.
 */
import { systemActor } from "@/lib/access/actor";
import type { Store } from "@/lib/store/store";
import { openLockBook, rejectWrite } from "./lock-rules";
import type { RejectedWrite } from "../stepping/step-batch";

export async function logRejectedWrites(store: Store, rejected: readonly RejectedWrite[]): Promise<void> {
  for (const { fence, instanceId, actor, type } of rejected) {
    await store.transaction(async (tx) => {
      // A key that nobody ever acquired has no log to keep it in.
      const row = await tx.lockLockIfAny(fence.key);
      if (!row) return;
      const book = openLockBook(row, [], await tx.now(), systemActor.id);
      rejectWrite(book, { fence: fence.fence, session: fence.session, actor, instanceId, type });
      await tx.writeLock({ ...book.writes(), answer: null });
    });
  }
}
