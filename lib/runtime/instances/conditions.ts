/**
 * What instances wait for beside events and time: derived from rows that are kept anyway, for all of a page at once.
 *
 * Holds: one query for the page's tasks, one for the keys that any of them awaits, and one for locks, when one waits for some.
 */
import type { InstanceRow } from "@/lib/store/instances";
import type { LockWaitOf } from "@/lib/store/locks";
import type { StepWrites } from "@/lib/store/steps";
import type { Store } from "@/lib/store/store";
import { taskKeyScope, type AwaitedTask, type KeyRow } from "@/lib/store/tasks";
import { stateSessionOf } from "../locks/state-session";
import { blockerOf, isEnded, keysAwaited, type Condition, type Queued, type Waits } from "./instance-views";

type Asked = Queued & { id: string };

export async function waitsOf(store: Store, rows: readonly Asked[]): Promise<Waits> {
  const tasks = await store.awaitedTasks(rows.map(({ id }) => id));
  const held = await store.findKeys([...keysAwaited(rows), ...tasks.flatMap(taskKeys)]);
  const sessions = tasks.filter((task) => task.condition === "lock").map(stateSessionOf);
  const waits = sessions.length === 0 ? [] : await store.lockWaitsOf(sessions);
  const conditions = new Map<string, Condition[]>();
  const add = (id: string, condition: Condition) =>
    conditions.set(id, [...(conditions.get(id) ?? []), condition]);
  for (const row of rows) {
    const [awaited] = keysAwaited([row]);
    if (awaited) add(row.id, ofKey(awaited.key, blockerOf(row, held)));
  }
  for (const task of tasks) add(task.instanceId, ofTask(task, held, waits));
  return { held, conditions };
}

/** What an instance waits for by its first turn, as that wrote it: nothing has to be read, for nobody has taken any of it yet. */
export function waitsBegun(row: Pick<InstanceRow, "id" | "status">, writes: StepWrites): Waits {
  const left = new Set(writes.tasksCancelled.map(({ taskId }) => taskId));
  const conditions = writes.tasksBegun.flatMap(({ condition, ...task }) =>
    condition === null || left.has(task.taskId) ? [] : [ofNewTask({ ...task, condition })],
  );
  return { held: [], conditions: new Map(isEnded(row.status) ? [] : [[row.id, conditions]]) };
}

/** Whether it has its concurrency key is told by its row only. */
function ofNewTask(task: AwaitedTask): Condition {
  const told = ofTask(task, [], []);
  if (task.concurrencyKey === null) return told;
  return { ...told, reason: `${told.reason}, once it has the concurrency key ${task.concurrencyKey}` };
}

const taskKeys = ({ status, type, queue, concurrencyKey: key }: AwaitedTask) =>
  status === "pending" && queue === null && key !== null ? [{ scope: taskKeyScope(type), key }] : [];

const ofKey = (key: string, by: string | null): Condition => ({
  for: "key",
  taskId: null,
  of: key,
  by,
  until: null,
  reason: `the concurrency key ${key}, which ${by ?? "another"} has`,
});

function ofTask(task: AwaitedTask, held: readonly KeyRow[], waits: readonly LockWaitOf[]): Condition {
  const { taskId, invokeId, type, worker } = task;
  const plain = { for: task.condition, taskId, of: type, by: worker, until: null };
  switch (task.condition) {
    case "human":
      return {
        ...plain,
        reason: worker === null ? `a person’s answer to ${invokeId}` : `${worker}’s answer to ${invokeId}`,
      };
    case "child":
      return {
        ...plain,
        reason: `what ${invokeId} invoked: ${type === "chart" ? "an instance" : "instances"}`,
      };
    case "lock":
      return ofLocks(task, waits);
    case "breaker": {
      const { message } = JSON.parse(task.error ?? "{}") as { message?: string };
      return { ...plain, until: task.readyAt, reason: `${invokeId}: ${message ?? "a breaker is open"}` };
    }
    case "task":
      return { ...plain, ...whyOf(task, held) };
  }
}

function ofLocks(task: AwaitedTask, waits: readonly LockWaitOf[]): Condition {
  const session = stateSessionOf(task);
  const mine = waits.filter((wait) => wait.session === session);
  const plain = { for: "lock" as const, taskId: task.taskId };
  // It has just asked.
  if (mine.length === 0)
    return { ...plain, of: task.type, by: null, until: null, reason: `the locks of ${task.invokeId}` };
  const of = mine.map(({ key }) => key).join(", ");
  const by = mine.find(({ holder }) => holder !== null)?.holder ?? null;
  // When a holder lets go, nobody knows.
  const cooled = by === null ? mine.flatMap(({ coolUntil }) => coolUntil ?? []) : [];
  return {
    ...plain,
    of,
    by,
    until: cooled.length === 0 ? null : Math.max(...cooled),
    reason: `the ${mine.length === 1 ? "lock" : "locks"} ${mine.map(lockWords).join("; ")}`,
  };
}

function lockWords({ key, holder, coolUntil }: LockWaitOf): string {
  if (holder !== null) return `${key}, which ${holder} holds`;
  return coolUntil === null ? key : `${key}, cooling until ${new Date(coolUntil).toISOString()}`;
}

function whyOf(
  task: AwaitedTask,
  held: readonly KeyRow[],
): Pick<Condition, "reason"> & Partial<Pick<Condition, "by" | "until">> {
  const { invokeId, kind, type, status, queue, attempt, attemptsMax, worker } = task;
  const what = kind === "compensation" ? `${type} to undo ${invokeId}` : `${invokeId} (${type})`;
  if (kind === "placeholder") return { reason: `${what}, which is still to be written` };
  if (status === "running") {
    return { reason: `${what}: ${worker ?? "a worker"} is at attempt ${attempt} of ${attemptsMax}` };
  }
  if (queue === null) {
    const [awaited] = taskKeys(task);
    const holder = held.find(({ scope, key }) => scope === awaited?.scope && key === awaited.key);
    const by = holder?.instanceId ?? null;
    return {
      by,
      reason: `${what}: its concurrency key ${task.concurrencyKey ?? ""} is ${by ?? "another"}’s`,
    };
  }
  if (attempt === 0) return { reason: `a worker that takes ${what}` };
  return {
    until: task.readyAt,
    reason: `${what}: tried again after ${attempt} of ${attemptsMax} attempts`,
  };
}
