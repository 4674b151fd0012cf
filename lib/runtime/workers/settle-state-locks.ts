/**
 * Grants locks to states: all the keys of an invocation in one transaction, when it is the first in line for each.
 *
 * Holds: I2 the grant, the task's end and its answer commit together. Lock order: the task, then the locks by key. Tickets are
 *        taken in all queues at once, so that who is before another in one queue is so in all: no circle.
 */
import { must } from "@/lib/base/assert";
import { lockKeysMax } from "@/lib/base/limits";
import { isStorable } from "@/lib/base/storable-text";
import { isJsonObject, type Json } from "@/lib/base/json";
import { parseDelay } from "@/lib/statechart/delay";
import { noWrites, type StepWrites } from "@/lib/store/steps";
import type { Store, StoreTransaction } from "@/lib/store/store";
import type { TaskKey, TaskRow } from "@/lib/store/tasks";
import { over } from "../tasks/answer-parents";
import { lockWaitMs } from "../limits";
import { grantToState, isNext, joinAsState, keysOf, withdraw, type LockBook } from "../locks/lock-rules";
import { holdLockBooks, writeLockBook } from "../locks/state-locks";
import { stateSessionOf, taskOfSession } from "../locks/state-session";
import type { EndlessWait } from "../locks/wait-circles";
import type { TaskError } from "../tasks/task-rules";

const statesMax = 100;

/** True when something was granted. */
export async function grantReadyStates(store: Store): Promise<boolean> {
  let granted = 0;
  for (const { session, holder } of await store.findReadyStates(await store.now(), statesMax)) {
    const task = taskOfSession(session, holder);
    if (task && (await settleLockTask(store, task))) granted += 1;
  }
  return granted > 0;
}

/** True when it was answered. `endless`: its wait that was found to be so; it is ended unless it stands otherwise by now. */
export function settleLockTask(store: Store, key: TaskKey, endless?: EndlessWait): Promise<boolean> {
  return store.transaction(async (tx) => {
    const [task] = await tx.lockTasks([{ instanceId: key.instanceId, taskId: key.taskId }]);
    if (!task || task.kind !== "lock" || task.endedAt !== null) return false;
    const writes = noWrites();
    const after = await settled(tx, task, writes, endless);
    await tx.writeTasks([after]);
    await tx.writeSteps(writes);
    return after.endedAt !== null;
  });
}

async function settled(
  tx: StoreTransaction,
  task: TaskRow,
  writes: StepWrites,
  endless: EndlessWait | undefined,
): Promise<TaskRow> {
  const read = readLockRequest(JSON.parse(task.input) as Json);
  if ("error" in read) return over(task, { error: read.error }, "system", writes, await tx.now());
  const { keys, waitMs, holdMaxMs } = read;
  const session = stateSessionOf(task);
  const to = { session, holder: task.instanceId, actor: `instance:${task.instanceId}`, holdMaxMs };
  const books = await holdLockBooks(tx, keys, to.actor);
  const now = must(books[0], "a request names a key").now;
  const until = Math.min(now + waitMs, task.overallUntil ?? Infinity);
  const blocking = books.find((book) => !isNext(book, session));
  let after: TaskRow;
  if (!blocking) {
    for (const book of books) grantToState(book, to);
    const fences = books.map(({ row }) => ({ key: row.key, session, fence: row.fence }));
    after = over(task, { output: { keys, fences } }, "system", writes, now);
  } else if (task.status === "pending" && until > now) {
    for (const book of books) joinAsState(book, { ...to, givesUpAt: until, keys: keysOf(books) });
    after = { ...task, status: "running", attempt: 1, startedAt: now, dueAt: until, updatedAt: now };
  } else if (endless && task.status === "running" && standsBehind(books, endless)) {
    for (const book of books) withdraw(book, session, "it would wait for ever");
    const { key, heldHolder } = endless;
    const holder = endless.heldBy === null ? null : heldHolder;
    const error: TaskError = {
      code: "lock-deadlock",
      message: `${key} would never be had: ${holder ?? "who is before it"} waits, directly or through others, for what ${task.instanceId} holds`,
      data: { key, holder },
    };
    after = over(task, { error }, "system", writes, now);
  } else if (task.status === "pending" || (task.dueAt ?? Infinity) <= now) {
    for (const book of books) withdraw(book, session);
    const { key, holder } = blocking.row;
    const waitedMs = task.startedAt === null ? 0 : (task.dueAt ?? now) - task.startedAt;
    const error: TaskError = {
      code: "lock-timeout",
      message: `${key} was not to be had within ${waitedMs} ms: ${holder ?? "others are before it"}${holder === null ? "" : " holds it"}`,
      data: { key, holder },
    };
    after = over(task, { error }, "system", writes, now);
  } else after = task;
  for (const book of books) await writeLockBook(tx, book, null);
  return after;
}

function standsBehind(books: readonly LockBook[], { key, session, ahead }: EndlessWait): boolean {
  const book = books.find(({ row }) => row.key === key);
  const place = book?.queue.findIndex((waiter) => waiter.session === session) ?? -1;
  if (!book || place < 0) return false;
  return ahead === (place > 0 ? book.queue[place - 1]?.session : book.isHeld() ? book.row.session : null);
}

type LockRequest = { keys: string[]; waitMs: number; holdMaxMs: number | null } | { error: TaskError };

const wrong = (message: string): { error: TaskError } => ({ error: { code: "bad-input", message } });
const holdMaxMaxMs = 24 * 3_600_000;

/** `{keys, wait?, holdMax?}`: a key or a list of them; times as delays are written. */
export function readLockRequest(input: Json): LockRequest {
  if (!isJsonObject(input)) return wrong("the input must be an object with `keys`");
  const named = typeof input.keys === "string" ? [input.keys] : input.keys;
  if (!Array.isArray(named) || named.length === 0 || named.length > lockKeysMax)
    return wrong(`\`keys\` must be a text or a list of 1 to ${lockKeysMax}`);
  const keys = [
    ...new Set(
      named.filter(
        (key) => typeof key === "string" && key.length > 0 && key.length <= 256 && isStorable(key),
      ),
    ),
  ];
  if (keys.length < new Set(named).size) return wrong("`keys` must be texts of 1 to 256 characters");
  const waitMs = durationOf(input.wait, lockWaitMs);
  const holdMaxMs = durationOf(input.holdMax, null);
  if (waitMs === undefined) return wrong("`wait` must be a duration such as '30s' or 500");
  if (holdMaxMs === undefined || holdMaxMs === 0 || (holdMaxMs ?? 0) > holdMaxMaxMs)
    return wrong("`holdMax` must be a duration of at most a day, such as '10m'");
  return { keys: (keys as string[]).sort(), waitMs: waitMs ?? 0, holdMaxMs };
}

/** Undefined: it is none. */
function durationOf(given: Json | undefined, otherwise: number | null): number | null | undefined {
  if (given === undefined || given === null) return otherwise;
  if (typeof given === "number") return given >= 0 ? Math.round(given) : undefined;
  return typeof given === "string" ? (parseDelay(given) ?? undefined) : undefined;
}
