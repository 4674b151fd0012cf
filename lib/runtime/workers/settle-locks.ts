/** Ends leases that ran out and waits whose time is up, and serves who is next. */
import { systemActor } from "@/lib/access/actor";
import type { Store } from "@/lib/store/store";
import { openLockBook, settle } from "../locks/lock-rules";
import { writeLockBook } from "../locks/state-locks";

const keysMax = 100;

/** True when there may be more. */
export async function settleLocks(store: Store): Promise<boolean> {
  const keys = await store.findUnsettled(await store.now(), keysMax);
  for (const key of keys) {
    await store.transaction(async (tx) => {
      const row = await tx.lockLockIfAny(key);
      if (!row) return;
      const now = await tx.now();
      const book = openLockBook(row, await tx.readWaiters(key), now, systemActor.id);
      settle(book);
      await writeLockBook(tx, book, null);
    });
  }
  return keys.length === keysMax;
}
