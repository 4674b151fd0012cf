/**
 * The verbs of a transaction, all rooms' as one object. It calls a few of a hundred: a room's are made when the first of them is
 * called, else beginning costs more memory than most steps.
 */
import { must } from "@/lib/base/assert";
import type { StoreTransaction } from "../store";
import { batchTransaction } from "./batch-queries";
import { chartWrites } from "./chart-queries";
import { childTransaction } from "./child-queries";
import { concurrencyTransaction } from "./concurrency-queries";
import type { Dialect } from "./dialect";
import { fleetTransaction } from "./fleet-queries";
import { lockTransaction } from "./lock-queries";
import { retentionTransaction } from "./retention-queries";
import { scheduleTransaction } from "./schedule-queries";
import { sql, type Handle } from "./statement";
import { stepTransaction } from "./step-queries";
import { audit, insertRows } from "./tables";
import { taskTransaction } from "./task-queries";
import { workerOrderTransaction } from "./worker-order-queries";
import { workerTransaction } from "./worker-queries";

export interface OpenTransaction {
  readonly handle: Handle;
  /** Places of what one transaction puts into mailboxes and feeds: 1, 2, … */
  nextN(this: void): number;
  now(this: void): Promise<number>;
}

type Verb = (...args: unknown[]) => unknown;
type Together<Rooms> = (Rooms extends unknown ? (room: Rooms) => void : never) extends (
  room: infer All,
) => void
  ? All
  : never;

export function transactionVerbs(dialect: Dialect): (open: OpenTransaction) => StoreTransaction {
  const rooms = [
    ({ handle, nextN, now }: OpenTransaction) => stepTransaction(handle, dialect, nextN, now),
    ({ handle, nextN }: OpenTransaction) => lockTransaction(handle, dialect, nextN),
    ({ handle }: OpenTransaction) => taskTransaction(handle, dialect),
    ({ handle }: OpenTransaction) => concurrencyTransaction(handle, dialect),
    ({ handle }: OpenTransaction) => childTransaction(handle, dialect),
    ({ handle, nextN }: OpenTransaction) => chartWrites(handle, dialect, nextN),
    ({ handle }: OpenTransaction) => workerOrderTransaction(handle, dialect),
    ({ handle, nextN }: OpenTransaction) => retentionTransaction(handle, dialect, nextN),
    ({ handle }: OpenTransaction) => fleetTransaction(handle, dialect),
    ({ handle }: OpenTransaction) => workerTransaction(handle, dialect),
    ({ handle }: OpenTransaction) => scheduleTransaction(handle, dialect),
    ({ handle }: OpenTransaction) => batchTransaction(handle, dialect),
    ({ handle, now }: OpenTransaction): Own => ({
      now,
      async beginWriting() {
        await handle.execute(sql`UPDATE "clock" SET "tx" = "tx" WHERE "id" < 0`);
      },
      async writeAudit(entry) {
        await insertRows(handle, dialect, audit, [entry]);
      },
    }),
  ] as const;
  type Verbs = Together<ReturnType<(typeof rooms)[number]>>;

  class Made {
    private readonly made: (Record<string, Verb> | undefined)[] = [];

    constructor(private readonly open: OpenTransaction) {}

    verb(room: number, name: string): Verb {
      const verbs = (this.made[room] ??= must(rooms[room], "a room")(this.open) as unknown as Record<
        string,
        Verb
      >);
      return must(verbs[name], name);
    }
  }

  /** Which verbs a room has is seen at the first transaction. */
  let known = false;
  const learn = (open: OpenTransaction): void => {
    rooms.forEach((room, at) => {
      for (const name of Object.keys(room(open)))
        Object.defineProperty(Made.prototype, name, {
          // One transaction may have a verb of its own.
          writable: true,
          value(this: Made, ...args: unknown[]) {
            return this.verb(at, name)(...args);
          },
        });
    });
    known = true;
  };

  return (open) => {
    if (!known) learn(open);
    return new Made(open) as unknown as Verbs;
  };
}

type Own = Pick<StoreTransaction, "now" | "beginWriting" | "writeAudit">;
