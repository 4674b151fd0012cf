/**
 * Locks that states hold: given back in the very step that leaves the state, and told to the instance when they are taken
 * away.
 *
 * Holds: I2 the release commits with the step. Lock order: instances, their tasks, then locks by key.
 */
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { LockRow } from "@/lib/store/locks";
import { noWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import { internalMessage } from "../stepping/internal-message";
import { leaveAsState, openLockBook, settle, type LockBook } from "./lock-rules";
import { taskOfSession } from "./state-session";
import { taskIdOf } from "../tasks/task-rules";

/** Of the states of a chart that hold locks: [state, invokeId]. */
export type LockingStates = readonly (readonly [state: string, invokeId: string])[];

const known = new WeakMap<Machine, LockingStates>();

export function lockingStates(machine: Machine): LockingStates {
  let found = known.get(machine);
  if (!found) {
    found = [...machine.states].flatMap(([name, { invokes }]) =>
      invokes.flatMap(({ id, src, placeholder }) =>
        src === "lock" && !placeholder ? [[name, id] as const] : [],
      ),
    );
    known.set(machine, found);
  }
  return found;
}

/** Tasks of lock invocations of the states among `exited` (null: of all), as their newest entry before made them. */
export function lockTasksOf(machine: Machine, before: Snapshot, exited: readonly string[] | null): string[] {
  const tasks: string[] = [];
  for (const [state, invokeId] of lockingStates(machine)) {
    const generation = before.generations[state];
    if (generation === undefined || (exited !== null && !exited.includes(state))) continue;
    tasks.push(taskIdOf(generation, invokeId));
  }
  return tasks;
}

/** `left`: the task ids whose states were left, per instance; null: all of them. */
export async function releaseStateLocks(
  tx: StoreTransaction,
  left: ReadonlyMap<string, ReadonlySet<string> | null>,
  now: number,
): Promise<void> {
  if (left.size === 0) return;
  const ids = [...left.keys()];
  // A grant under way holds the task: behind it we see what it granted.
  await tx.holdTasksOf(ids);
  const held = await tx.stateLocksOf(ids);
  const mine = held.filter(({ session, holder }) => {
    const tasks = left.get(holder);
    const task = taskOfSession(session, holder);
    return task !== null && tasks !== undefined && (tasks === null || tasks.has(task.taskId));
  });
  if (mine.length === 0) return;
  for (const key of [...new Set(mine.map((each) => each.key))].sort()) {
    const row = await tx.lockLock(key);
    const book = openLockBook(row, await tx.readWaiters(key), now, "system");
    for (const { session } of mine.filter((each) => each.key === key)) leaveAsState(book, session);
    settle(book);
    await writeLockBook(tx, book, null);
  }
}

/**
 * The locks' rows, made when missing and held in the order of `keys`, which are sorted; settled at a time that is read after all
 * of them (I10).
 */
export async function holdLockBooks(
  tx: StoreTransaction,
  keys: readonly string[],
  actor: string,
): Promise<LockBook[]> {
  const rows: LockRow[] = [];
  for (const key of keys) rows.push(await tx.lockLock(key));
  return settled(tx, rows, actor);
}

/** The same of one lock when there is a row. */
export async function holdLockBookIfAny(
  tx: StoreTransaction,
  key: string,
  actor: string,
): Promise<LockBook[]> {
  const row = await tx.lockLockIfAny(key);
  return row ? settled(tx, [row], actor) : [];
}

async function settled(tx: StoreTransaction, rows: readonly LockRow[], actor: string): Promise<LockBook[]> {
  const now = await tx.now();
  const books: LockBook[] = [];
  for (const row of rows) {
    const book = openLockBook(row, await tx.readWaiters(row.key), now, actor);
    settle(book);
    books.push(book);
  }
  return books;
}

/** Writes a book; states that lost the lock hear `lock.lost` {key, reason}. */
export async function writeLockBook(
  tx: StoreTransaction,
  book: LockBook,
  answer: Parameters<StoreTransaction["writeLock"]>[0]["answer"],
): Promise<void> {
  if (!book.changed && answer === null) return;
  await tx.writeLock({ ...book.writes(), answer });
  const { key } = book.row;
  const enqueued = book.lost.flatMap(({ session, holder, reason }) => {
    const task = taskOfSession(session, holder);
    if (!task) return [];
    const to = { id: task.instanceId, incarnation: task.incarnation };
    const event = { type: "lock.lost", data: { key, reason } };
    return [{ ...internalMessage(to.id, to, event, book.now), actor: "system", cause: `lock:${key}` }];
  });
  if (enqueued.length > 0) await tx.writeSteps({ ...noWrites(), enqueued });
}
