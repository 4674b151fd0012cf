/**
 * The store on SQL: opens the database, migrates it, and answers the interface of ../store.ts on SQLite and PostgreSQL.
 */
import type { CommitListener, Store, StoreTransaction } from "../store";
import { chartReads } from "./chart-queries";
import { beginOnSqlite, clockTrouble, readClock } from "./clock";
import { connect, type ConnectionOptions } from "./connection";
import type { Handle } from "./statement";
import { dialects } from "./dialect";
import { nextDue } from "./due-queries";
import { watchingLeft } from "./left-work";
import { migrate } from "./migrate";
import { optimisticBatch } from "./optimistic-batch";
import { optimisticSteps } from "./optimistic-steps";
import { storeReads } from "./store-reads";
import { transactionVerbs } from "./transaction-verbs";
import { WriteTrouble } from "./write-trouble";

export async function openSqlStore(options: ConnectionOptions): Promise<Store> {
  const connection = await connect(options);
  try {
    await migrate(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const { provider } = connection;
  const dialect = dialects[provider];
  const verbs = transactionVerbs(dialect);
  const listeners = new Set<CommitListener>();
  const tell = (where: "here" | "elsewhere") => {
    for (const listener of listeners) listener(where);
  };
  const committed = () => tell("here");
  const writes = new WriteTrouble();
  const hints = await connection.listen(() => tell("elsewhere"));

  const optimistic = connection.alone
    ? optimisticSteps(connection.alone, committed)
    : optimisticBatch(connection, dialect, options.clock, committed);
  const store: Store = {
    database: provider,
    ...chartReads(connection),
    ...storeReads(connection, provider, options.clock),
    optimistic: {
      ...optimistic,
      write: (steps, lagMaxMs) => writes.watch(() => optimistic.write(steps, lagMaxMs)),
    },
    now: () => readClock(connection, provider, options.clock),
    nextDue: (after) => nextDue(connection, after),
    async transaction(work) {
      let leaves = false;
      const result = await writes.watch(() =>
        connection.transaction(async (handle) => {
          leaves = false;
          const tx = await begin(handle);
          return work(hints ? watchingLeft(tx, () => (leaves = true)) : tx);
        }),
      );
      committed();
      if (leaves) hints?.say();
      return result;
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async trouble() {
      const known = connection.trouble() ?? (provider === "sqlite" ? clockTrouble() : null);
      return known ?? writes.tell(() => store.transaction((tx) => tx.beginWriting()));
    },
    repeatedTransactions: () => connection.repeated(),
    refusedForRoom: () => writes.refusedForRoom(),
    async close() {
      await hints?.close();
      await connection.close();
    },
  };
  return store;

  async function begin(handle: Handle): Promise<StoreTransaction> {
    let places = 0;
    const nextN = () => (places += 1);
    const begunAt = provider === "sqlite" ? await beginOnSqlite(handle, options.clock) : null;
    // On SQLite the write lock is held since the beginning, so the reading at the beginning is after it.
    const now = () => (begunAt === null ? readClock(handle, provider) : Promise.resolve(begunAt));
    return verbs({ handle, nextN, now });
  }
}
