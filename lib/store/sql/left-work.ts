/**
 * Whether a transaction leaves something for others to do: messages in mailboxes, tasks to be claimed, a lock that moved.
 * Known by what is written, so that no caller can forget to say it.
 */
import type { StoreTransaction } from "../store";

type Writes = Pick<StoreTransaction, "writeSteps" | "writeTasks" | "serveKey" | "writeLock">;

/** `tx`, whose writing verbs call `left` when they leave work. */
export function watchingLeft(tx: StoreTransaction, left: () => void): StoreTransaction {
  const writes: Writes = {
    writeSteps(writes) {
      const { enqueued, unparked, tasksBegun } = writes;
      if (enqueued.length + unparked.length + tasksBegun.length > 0) left();
      return tx.writeSteps(writes);
    },
    writeTasks(rows) {
      // Over, or to be had again: somebody may have waited for it.
      if (rows.some(({ queue, endedAt }) => queue !== null || endedAt !== null)) left();
      return tx.writeTasks(rows);
    },
    serveKey(key, now) {
      left();
      return tx.serveKey(key, now);
    },
    writeLock(writes) {
      if (writes.log.some(({ type }) => type !== "RENEWED" && type !== "WRITE_REJECTED")) left();
      return tx.writeLock(writes);
    },
  };
  return Object.assign(Object.create(tx) as StoreTransaction, writes);
}
