/**
 * Faults planted into the store's seam, one at a time: what a careless change might do. Each must be caught by a seed; the
 * list with its seeds is in README.md, and planted-faults.test.ts catches each again.
 */
import { noWrites, type StepWrites } from "@/lib/store/steps";
import type { InstanceRow, QueuedMessage, TimerRow } from "@/lib/store/instances";
import type { LockRow } from "@/lib/store/locks";
import type { Store, StoreTransaction, StoredChange } from "@/lib/store/store";
import type { SeedOptions } from "./run-seed";
import type { SimProcess, World } from "./world";

export interface PlantedFault {
  what: string;
  /** A seed that catches it, and the beginning of what it says. */
  seed: number;
  says: string;
  options: SeedOptions;
}

type Over<T> = Partial<T>;

/** The store with every transaction's handle changed. */
function inTransactions(over: (tx: StoreTransaction, world: World) => Over<StoreTransaction>) {
  return (store: Store, world: World): Store =>
    changed(store, {
      transaction: (work) => store.transaction((tx) => work(changed(tx, over(tx, world)))),
    });
}

function inWrites(over: (writes: StepWrites, world: World) => StepWrites) {
  return inTransactions((tx, world) => ({ writeSteps: (writes) => tx.writeSteps(over(writes, world)) }));
}

function changed<T extends object>(target: T, over: Over<T>): T {
  return new Proxy(target, {
    get: (from, name) => {
      const value: unknown = over[name as keyof T] ?? Reflect.get(from, name);
      return typeof value === "function" && !(name in over) ? (value.bind(from) as unknown) : value;
    },
  });
}

/** Written in a transaction of its own after the step's, which one time in ten never comes. */
function afterCommit(take: (writes: StepWrites) => [now: StepWrites, later: StepWrites]) {
  return (store: Store, world: World): Store =>
    changed(store, {
      async transaction(work) {
        let later: StepWrites[] = [];
        const result = await store.transaction((tx) => {
          later = [];
          const writeSteps = (writes: StepWrites) => {
            const [now, rest] = take(writes);
            later.push(rest);
            return tx.writeSteps(now);
          };
          return work(changed(tx, { writeSteps }));
        });
        for (const rest of later) {
          if (world.faults && world.random.chance(0.1)) continue;
          if (Object.values(rest).some((rows) => (rows as unknown[]).length > 0))
            await store.transaction((tx) => tx.writeSteps(rest));
        }
        return result;
      },
    });
}

/** Both ways in which a mailbox is read. */
function mailboxes(
  tx: StoreTransaction,
  change: (messages: QueuedMessage[]) => QueuedMessage[],
): Pick<StoreTransaction, "readMailboxes" | "readWaiting"> {
  return {
    readMailboxes: async (ids, limit) => change(await tx.readMailboxes(ids, limit)),
    async readWaiting(ids, limit) {
      const { now, messages } = await tx.readWaiting(ids, limit);
      return { now, messages: change(messages) };
    },
  };
}

const nothing = Object.fromEntries(
  [
    "send",
    "repeat",
    "start",
    "lock",
    "several",
    "control",
    "task",
    "dead",
    "together",
    "session",
    "fork",
    "reset",
  ]
    .concat("children", "force")
    .map((name) => [name, 0]),
);
type Weights = NonNullable<SeedOptions["weights"]>;
/** So that a seed has much of what the fault is about. */
const only = (weights: Weights): Weights => ({ ...nothing, ...weights });

export const plantedFaults: Record<string, PlantedFault> = {
  "fence-remembered": {
    what: "a lock's row is read once and believed from then on",
    seed: 55,
    says: "I3",
    options: {
      weights: { send: 80, lock: 60, control: 0, task: 0, start: 0 },
      instances: 1,
      processes: 1,
      plant(store, world) {
        const known = new Map<string, LockRow>();
        return inTransactions((tx) => ({
          async shareLocks(keys) {
            const rows = await tx.shareLocks(keys);
            for (const row of rows) if (!known.has(row.key)) known.set(row.key, row);
            return rows.map((row) => known.get(row.key) ?? row);
          },
        }))(store, world);
      },
    },
  },
  "acknowledged-early": {
    what: "the caller is answered before the commit, which then never comes",
    seed: 1,
    says: "I1",
    options: {
      plant: (store, world) =>
        changed(store, {
          async transaction<T>(work: (tx: StoreTransaction) => Promise<T>) {
            if (!world.faults || !world.random.chance(0.03)) return store.transaction(work);
            let done: { result: T } | null = null;
            await store
              .transaction(async (tx) => {
                done = { result: await work(tx) };
                throw new NeverCommitted();
              })
              .catch((error: unknown) => {
                if (!(error instanceof NeverCommitted)) throw error;
              });
            return (done as unknown as { result: T }).result;
          },
        }),
    },
  },
  "timer-in-memory": {
    what: "an armed timer is kept in memory until it is due, and lost with its process",
    seed: 1,
    says: "I8",
    options: { plant: timersInMemory },
  },
  "answers-stored-late": {
    what: "the answer for repeats is stored after the step's commit",
    seed: 401,
    says: "I4",
    options: {
      plant: afterCommit((writes) => [
        { ...writes, dedupe: [] },
        { ...noWrites(), dedupe: writes.dedupe },
      ]),
    },
  },
  "mailbox-by-id": {
    what: "the mailbox is read in another order than it was filled in",
    seed: 8,
    says: "I1",
    options: {
      weights: only({ send: 80 }),
      busyRate: 0.5,
      plant: inTransactions((tx) => mailboxes(tx, (messages) => messages.reverse())),
    },
  },
  "outbox-after-commit": {
    what: "what an instance sends to another is written after its step's commit",
    seed: 50,
    says: "I2",
    options: {
      plant: afterCommit((writes) => {
        const outside = writes.enqueued.filter(({ actor }) => actor.startsWith("instance:"));
        const rest = writes.enqueued.filter((message) => !outside.includes(message));
        return [
          { ...writes, enqueued: rest },
          { ...noWrites(), enqueued: outside },
        ];
      }),
    },
  },
  "task-after-commit": {
    what: "a task is begun after the commit of the step that asked for it",
    seed: 1,
    says: "I2",
    options: {
      plant: afterCommit((writes) => [
        { ...writes, tasksBegun: [] },
        { ...noWrites(), tasksBegun: writes.tasksBegun },
      ]),
    },
  },
  "message-kept": {
    what: "a message is taken out of the mailbox after its step's commit",
    seed: 1,
    says: "I1",
    options: {
      weights: only({ send: 80 }),
      busyRate: 0.5,
      plant: afterCommit((writes) => [
        { ...writes, consumed: [] },
        { ...noWrites(), consumed: writes.consumed },
      ]),
    },
  },
  "fence-starts-anew": {
    what: "a free lock's row is forgotten, and its fence with it",
    seed: 20,
    says: "I7",
    options: {
      plant: inTransactions((tx) => ({
        writeLock: (writes) =>
          tx.writeLock(
            writes.row.session === null ? { ...writes, row: { ...writes.row, fence: 0 } } : writes,
          ),
      })),
    },
  },
  "answers-swept-early": {
    what: "an answer is removed before it has been kept for its time",
    seed: 10,
    says: "I4",
    options: {
      retention: true,
      weights: { send: 60, repeat: 60 },
      plant: inTransactions((tx) => ({
        sweep: (rule, after, { bound, ...how }) =>
          tx.sweep(rule, after, { ...how, bound: rule === "answers" ? bound + 3_500_000 : bound }),
      })),
    },
  },
  "tick-apart": {
    what: "what a tick does commits, and its record does not",
    seed: 2,
    says: "I1",
    options: {
      schedules: true,
      plant: inTransactions((tx, world) => ({
        insertTicks: (ticks) =>
          world.faults && world.random.chance(0.2) ? Promise.resolve() : tx.insertTicks(ticks),
      })),
    },
  },
  "state-apart": {
    what: "an instance's row is written apart from its log entry",
    seed: 1,
    says: "SqliteError: UNIQUE constraint failed: event_log",
    options: {
      plant: inWrites((writes, world) =>
        world.faults && world.random.chance(0.05) ? { ...writes, stepped: [] } : writes,
      ),
    },
  },
};

/** Visible where statements of several transactions interleave: on PostgreSQL. */
export const plantedStatementFaults: Record<string, PlantedFault> = {
  "plain-fence-read": {
    what: "fences are read without a lock",
    seed: 1,
    says: "I3",
    options: {
      sessions: 1,
      weights: only({ send: 60, lock: 40, force: 40 }),
      operations: 24,
      instances: 1,
      faultRate: 0,
      rewrite: (text) => text.replace(" FOR SHARE", ""),
      plant: inTransactions((tx) => ({
        async shareLocks(keys) {
          const rows = await tx.shareLocks(keys);
          // Long enough for a whole verb of the lock.
          if (rows.some(({ session }) => session !== null)) await dawdle(tx, 60);
          return rows;
        },
      })),
    },
  },
  "mailbox-before-lock": {
    what: "the mailbox is read before the instance's row is locked",
    seed: 1,
    says: "I1",
    options: {
      operations: 16,
      faultRate: 0,
      plant: inTransactions((tx) => ({
        async lockInstances(ids, options) {
          // The mailbox's statement, sent in the same go, is before this one then.
          await dawdle(tx);
          return tx.lockInstances(ids, { ...options, skipBusy: false });
        },
        // Locks nothing: the mailbox is still read before the lock that comes with it.
        claimInstances: (ids, _now, limit) => Promise.resolve(ids.slice(0, limit)),
        async lockKnown(...given) {
          await dawdle(tx);
          return tx.lockKnown(...given);
        },
      })),
    },
  },
  "lock-before-instance": {
    what: "a lock's verb takes an instance's row after the lock's; a step takes them the other way round",
    seed: 7,
    says: "a deadlock",
    options: {
      weights: only({ send: 60, lock: 60 }),
      operations: 16,
      instances: 1,
      faultRate: 0,
      plant: (store, world) =>
        inTransactions((tx) => ({
          async lockLock(key) {
            const row = await tx.lockLock(key);
            await tx.lockInstances([`s${world.options.seed}-a`]);
            return row;
          },
        }))(store, world),
    },
  },
  "incarnation-ignored": {
    what: "a message for an earlier life of its instance is taken for one of this life",
    seed: 1,
    says: "I3",
    options: {
      weights: only({ send: 60, start: 60 }),
      clients: 5,
      operations: 16,
      instances: 2,
      faultRate: 0,
      plant: inTransactions((tx) => {
        let rows: Promise<InstanceRow[]> = Promise.resolve([]);
        return {
          async incarnationsOf(ids) {
            const found = await tx.incarnationsOf(ids);
            await dawdle(tx);
            return found;
          },
          lockKnown: (...given) => (rows = tx.lockKnown(...given)),
          async readWaiting(...given) {
            const found = await tx.readWaiting(...given);
            const lives = new Map((await rows).map(({ id, incarnation }) => [id, incarnation]));
            const taken = found.messages.map((message) => ({
              ...message,
              incarnation: lives.get(message.instanceId) ?? message.incarnation,
            }));
            return { ...found, messages: taken };
          },
        };
      }),
    },
  },
  "flag-cleared-late": {
    what: "a flag says that a mailbox has something; a step clears it by what it read at its beginning",
    seed: 1,
    says: "I8",
    options: {
      weights: only({ send: 40, task: 80 }),
      clients: 6,
      operations: 4,
      instances: 3,
      faultRate: 0,
      plant: readyByFlag,
    },
  },
  "feed-by-serial": {
    what: "the feed follows a serial number: who commits late has a number that readers have passed",
    seed: 1,
    says: "the feed",
    options: { faultRate: 0, plant: fedBySerial },
  },
};

/** These can't be seen where transactions run whole, whatever the seed: planted there, they change nothing. */
export const onlyAmongStatements = [
  "plain-fence-read",
  "lock-before-instance",
  "incarnation-ignored",
  "flag-cleared-late",
  "feed-by-serial",
] as const;

/** How often a process looks into its memory, of its own time. */
const memoryLookMs = 100;

/** Put into the database by the process that armed it, when it is due: it fires as ever, unless that process crashes. */
function timersInMemory(store: Store, world: World, process: SimProcess | null): Store {
  let memory: TimerRow[] = [];
  const look = async (): Promise<void> => {
    if (process === null || process.dead) return;
    const due = memory.filter(({ dueAt }) => dueAt <= world.nowMs);
    memory = memory.filter((timer) => !due.includes(timer));
    if (due.length > 0) await store.transaction((tx) => tx.writeSteps({ ...noWrites(), armed: due }));
    setTimeout(() => void look(), memoryLookMs);
  };
  void look();
  return inTransactions((tx) => ({
    writeSteps(writes) {
      memory.push(...writes.armed);
      return tx.writeSteps({ ...writes, armed: [] });
    },
  }))(store, world);
}

/** A step that has much to do: others come between more often. */
async function dawdle(tx: StoreTransaction, statements = 10): Promise<void> {
  for (let left = statements; left > 0; left -= 1) await tx.now();
}

/** What each transaction did is taken over when it has committed. */
function noting<T>(
  begin: () => T,
  over: (tx: StoreTransaction, seen: T) => Over<StoreTransaction>,
  end: (seen: T) => void,
) {
  return (store: Store): Store["transaction"] =>
    async (work) => {
      let seen = begin();
      const result = await store.transaction((tx) => {
        seen = begin();
        return work(changed(tx, over(tx, seen)));
      });
      end(seen);
      return result;
    };
}

function readyByFlag(store: Store, world: World): Store {
  const flags = (world.shared["flags"] ??= new Set<string>()) as Set<string>;
  const transaction = noting(
    () => ({ set: new Set<string>(), read: new Map<string, number>() }),
    (tx, seen) => {
      const count = (ids: readonly string[], messages: readonly QueuedMessage[]) => {
        for (const id of ids)
          seen.read.set(id, messages.filter(({ instanceId }) => instanceId === id).length);
      };
      return {
        async readWaiting(ids, limit) {
          const found = await tx.readWaiting(ids, limit);
          count(ids, found.messages);
          await dawdle(tx);
          return found;
        },
        writeSteps(writes) {
          for (const { instanceId } of writes.consumed) {
            seen.read.set(instanceId, (seen.read.get(instanceId) ?? 0) - 1);
          }
          for (const { instanceId } of writes.enqueued) seen.set.add(instanceId);
          return tx.writeSteps(writes);
        },
      };
    },
    ({ set, read }) => {
      for (const [id, left] of read) if (left === 0) flags.delete(id);
      for (const id of set) flags.add(id);
    },
  );
  return changed(store, {
    transaction: transaction(store),
    async findRunnable(now, after) {
      const { found, next } = await store.findRunnable(now, after);
      const ready = [];
      for (const one of found) {
        if (flags.has(one.id) || (await store.countMailbox(one.id)) === 0) ready.push(one);
      }
      return { found: ready, next };
    },
  });
}

interface Numbered {
  serial: number;
  change: StoredChange;
}

function fedBySerial(store: Store, world: World): Store {
  const feed = (world.shared["feed"] ??= { last: 0, visible: [] }) as { last: number; visible: Numbered[] };
  const numbered = ({ instanceId: id, seq, status }: StepWrites["log"][number]): Numbered => {
    feed.last += 1;
    return { serial: feed.last, change: { kind: "instance", id, seq, status, position: `${feed.last}` } };
  };
  const transaction = noting<Numbered[]>(
    () => [],
    (tx, seen) => ({
      writeSteps(writes) {
        seen.push(...writes.log.map(numbered));
        return tx.writeSteps(writes);
      },
    }),
    (seen) => feed.visible.push(...seen),
  );
  const { optimistic } = store;
  return changed(store, {
    transaction: transaction(store),
    ...(optimistic && {
      optimistic: {
        find: optimistic.find,
        async write(steps, lagMaxMs) {
          const entries = steps.map(({ log }) => numbered(log));
          const end = await optimistic.write(steps, lagMaxMs);
          feed.visible.push(
            ...entries.filter(({ change }) => change.kind === "instance" && end.written.includes(change.id)),
          );
          return end;
        },
      },
    }),
    changesSince(position) {
      const after = Number(/^serial (\d+)$/.exec(position ?? "")?.[1] ?? 0);
      const found = feed.visible.filter(({ serial }) => serial > after).sort((a, b) => a.serial - b.serial);
      const last = found.at(-1)?.serial ?? after;
      return Promise.resolve({
        changes: found.map(({ change }) => change),
        position: `serial ${last}`,
        resync: false,
      });
    },
  });
}

class NeverCommitted extends Error {}
