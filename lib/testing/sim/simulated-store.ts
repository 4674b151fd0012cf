/**
 * A process's way to the database: held before every call, failing before, within and after it as the seed says, and cut
 * off for ever when the process has crashed.
 */
import { LockstepError } from "@/lib/base/errors";
import { snapshotEveryBytes } from "@/lib/runtime/limits";
import type { InstanceRow } from "@/lib/store/instances";
import type { OptimisticSteps } from "@/lib/store/steps";
import type { CommitListener, Store, StoreTransaction } from "@/lib/store/store";
import type { CallUnderWay, Committed, Purged, SimProcess, Watch, World } from "./world";

type Fault =
  /** Refused before anything was done. */
  | "fails"
  /** A statement within fails: rolled back. */
  | "fails-within"
  /** Committed, and the answer is lost. */
  | "lost"
  /** The process dies before, within or after. */
  | "dies-before"
  | "dies-within"
  | "dies-after"
  /** Rolled back and run again, as after a deadlock. */
  | "again";
const transactionFaults: readonly Fault[] = [
  "fails",
  "fails-within",
  "lost",
  "lost",
  "dies-before",
  "dies-within",
  "dies-after",
  "again",
];

type Written = Omit<Committed, "tx" | "began">;

class RunAgain extends Error {}
/** The process is gone: nobody hears of this error. */
export class Death extends Error {}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
const unavailable = () =>
  new LockstepError("database-unavailable", "The database cannot be reached: simulated.", { retry: "later" });
const unknown = () =>
  new LockstepError("outcome-unknown", "The answer was lost: simulated.", { retry: "later" });

const plainly: Watch = (_call, _world, _process, work) => work();

export function simulatedStore(real: Store, world: World, process: SimProcess): Store {
  const listeners = new Set<CommitListener>();
  const pick = (faults: readonly Fault[]): Fault | null =>
    world.faults && world.random.chance(world.options.faultRate) ? world.random.pick(faults) : null;

  async function call<T>(label: string, work: (call: CallUnderWay) => Promise<T>): Promise<T> {
    if (process.dead) return never();
    await world.hold(process, label);
    const underWay: CallUnderWay = { rests: "no", pid: null };
    world.begin(underWay);
    try {
      return await work(underWay);
    } catch (error) {
      if (error instanceof Death) process.crash();
      throw error;
    } finally {
      world.end(underWay);
      if (process.dead) await never();
    }
  }

  async function transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    return call("transaction", async (underWay) => {
      const fault = pick(transactionFaults);
      if (fault !== null) world.note(`${process.name} ${fault}`);
      if (fault === "fails") throw unavailable();
      if (fault === "dies-before") throw new Death();
      const breaksAt =
        fault === "fails-within" || fault === "dies-within" || fault === "again"
          ? 1 + world.random.below(9)
          : null;
      let tries = 0;
      const run = (at: number | null) =>
        inTransaction(underWay, async () => {
          let written: Written[] = [];
          let enqueued: string[] = [];
          let purged: Omit<Purged, "tx">[] = [];
          let began = 0;
          const done = await real.transaction(async (tx) => {
            written = [];
            enqueued = [];
            purged = [];
            began = world.committed.length;
            tries += 1;
            if (tries > 1) world.deadlocks += 1;
            const result = await work(broken(tx, at, fault, world, { written, enqueued, purged }));
            // Shorter than foreseen: at its end, then.
            if (at !== null) throw breakOf(fault);
            return result;
          });
          world.noteCommitted(written, began, enqueued, purged);
          return done;
        });
      const result = await run(breaksAt).catch((error: unknown) => {
        tries = 0;
        if (error instanceof RunAgain) return run(null);
        throw error;
      });
      if (fault === "dies-after") throw new Death();
      for (const listener of listeners) listener("here");
      if (fault === "lost") throw unknown();
      return result;
    });
  }

  const { find } = real.optimistic;
  const own: Partial<Store> = {
    transaction,
    now: () => (process.dead ? never() : Promise.resolve(world.nowMs)),
    findWork: () =>
      call("findWork", () => {
        if (pick(["fails"]) !== null) throw unavailable();
        return real.findWork(world.nowMs);
      }),
    optimistic: {
      find:
        find &&
        ((id) =>
          call("optimistic.find", async () => {
            const found = await find(id);
            return found ? { ...found, row: aged(found.row, world), now: world.nowMs } : null;
          })),
      write: (...given) =>
        call("optimistic.write", async (underWay) => {
          const fault = pick(["fails", "lost", "dies-before", "dies-after"]);
          if (fault === "fails") throw unavailable();
          if (fault === "dies-before") throw new Death();
          const began = world.committed.length;
          const { now, written } = await inTransaction(underWay, () => writeOptimistically(...given));
          const steps = given[0].filter(({ row }) => written.includes(row.id));
          world.noteCommitted(
            steps.map(({ log: { instanceId: id, seq } }) => ({ kind: "instance", id, seq, now })),
            began,
          );
          if (fault === "dies-after") throw new Death();
          for (const listener of listeners) listener("here");
          if (fault === "lost") throw unknown();
          return { now, written };
        }),
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => Promise.resolve(),
  };

  const reads = new Map<string | symbol, unknown>();
  return new Proxy(real, {
    get(target, name) {
      if (name in own) return own[name as keyof Store];
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      let read = reads.get(name);
      if (read === undefined) {
        read = (...args: unknown[]) =>
          call(String(name), async () => {
            if (pick(["fails"]) !== null) throw unavailable();
            return (value as (...given: unknown[]) => Promise<unknown>).apply(target, args);
          });
        reads.set(name, read);
      }
      return read;
    },
  });

  /** Its time is the world's; now and then another holds a row. */
  async function writeOptimistically(
    ...[steps, lagMaxMs]: Parameters<OptimisticSteps["write"]>
  ): ReturnType<OptimisticSteps["write"]> {
    const now = world.nowMs;
    const isTimely = (lagMs: number) => lagMaxMs === null || (lagMs >= 0 && lagMs <= lagMaxMs);
    const taken = notBusy(
      steps.filter(({ row }) => isTimely(now - row.at)),
      world,
    );
    if (taken.length === 0) return { now, written: [] };
    const { written } = await real.optimistic.write(taken, null);
    return { now, written };
  }

  /** Where the statement-level simulator learns which call a connection's statements belong to. */
  function inTransaction<R>(underWay: CallUnderWay, work: () => Promise<R>): Promise<R> {
    return (world.options.watch ?? plainly)(underWay, world, process, work);
  }
}

const breakOf = (fault: Fault | null): Error =>
  fault === "again" ? new RunAgain() : fault === "dies-within" ? new Death() : unavailable();

const notBusy = <Row>(rows: readonly Row[], { faults, random, options }: World): Row[] =>
  rows.filter(() => !faults || !random.chance(options.busyRate));

/** With every fourth entry as much log behind it as asks for a snapshot. */
const aged = (row: InstanceRow, { options }: World): InstanceRow =>
  options.ages && row.seq % 4 === 3 ? { ...row, logBytes: snapshotEveryBytes } : row;

/** The transaction with the world's clock, failing at the `at`-th call; now and then another holds a row. */
function broken(
  tx: StoreTransaction,
  at: number | null,
  fault: Fault | null,
  world: World,
  { written, enqueued, purged }: { written: Written[]; enqueued: string[]; purged: Omit<Purged, "tx">[] },
): StoreTransaction {
  let calls = 0;
  let now = world.nowMs;
  const readClock = () => (now = world.nowMs);
  const own: Partial<StoreTransaction> = {
    now: () => Promise.resolve(readClock()),
    readWaiting: async (ids, limit) => ({ ...(await tx.readWaiting(ids, limit)), now: readClock() }),
    async lockInstances(ids, options) {
      const rows = await tx.lockInstances(ids, options);
      return (options?.skipBusy ? notBusy(rows, world) : rows).map((row) => aged(row, world));
    },
    async lockSchedule(id, options) {
      const row = await tx.lockSchedule(id, options);
      return row && options?.skipBusy ? (notBusy([row], world)[0] ?? null) : row;
    },
    claimInstances: async (ids, now, limit) => notBusy(await tx.claimInstances(ids, now, limit), world),
    async lockKnown(ids, known) {
      const rows = await tx.lockKnown(ids, known);
      // In an order that doesn't depend on what is remembered.
      return notBusy(
        rows.sort((a, b) => (a.id < b.id ? -1 : 1)),
        world,
      ).map((row) => aged(row, world));
    },
    writeSteps(writes) {
      for (const { instanceId, seq } of writes.log)
        written.push({ kind: "instance", id: instanceId, seq, now });
      for (const { id, incarnation, seq, lastEvent } of writes.changed)
        if (lastEvent === "purged") purged.push({ id, incarnation, seq, now: Math.max(...world.clock) });
      for (const { messageId, incarnation } of writes.enqueued) {
        world.enqueuedFor.set(messageId, incarnation);
        enqueued.push(messageId);
      }
      return tx.writeSteps(writes);
    },
    writeLock(writes) {
      for (const { key, seq } of writes.log) written.push({ kind: "lock", id: key, seq, now });
      return tx.writeLock(writes);
    },
  };
  return new Proxy(tx, {
    get(target, name) {
      const value: unknown = own[name as keyof StoreTransaction] ?? Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls += 1;
        if (calls === at) return Promise.reject(breakOf(fault));
        return (value as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}
