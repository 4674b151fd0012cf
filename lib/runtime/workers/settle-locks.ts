/** Ends leases that ran out and waits whose time is up, and serves who is next. */
import { systemActor } from "@/lib/access/actor";
import type { Store } from "@/lib/store/store";
import { holdLockBookIfAny, writeLockBook } from "../locks/state-locks";

const keysMax = 100;

/** True when there may be more. */
export async function settleLocks(store: Store): Promise<boolean> {
  const keys = await store.findUnsettled(await store.now(), keysMax);
  for (const key of keys) {
    await store.transaction(async (tx) => {
      for (const book of await holdLockBookIfAny(tx, key, systemActor.id))
        await writeLockBook(tx, book, null);
    });
  }
  return keys.length === keysMax;
}
