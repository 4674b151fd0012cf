/**
 * What must hold at a seed's end of instances that belong together: children and their parents, sagas, locks of states,
 * sessions, events sent together. A part of check.ts.
 */
import type { Json } from "@/lib/base/json";
import { familyOf } from "@/lib/store/children";
import { decide, progressOf } from "@/lib/runtime/tasks/child-rules";
import { isEnded, isUnderWay, parentOf, sessionCause } from "@/lib/runtime/instances/instance-views";
import { foldLockLog } from "@/lib/runtime/locks/lock-rules";
import { chartKeyScope } from "@/lib/store/concurrency";
import type { LockLogRow, LockRow } from "@/lib/store/locks";
import type { Store } from "@/lib/store/store";
import { taskKeyScope, type TaskRow } from "@/lib/store/tasks";
import type { History } from "./history";
import { all, markOf, type Entry, type InstanceEnd } from "./instance-end";
import type { Committed } from "./world";

const goingOn: ReadonlySet<string> = new Set(["queued", "running", "suspended", "compensating"]);

/** I9: nobody lives on whom nobody waits for, and a join counts what there is. */
export async function checkFamily(store: Store, { row }: InstanceEnd, wrong: string[]): Promise<void> {
  const parent = parentOf(row);
  if (parent && row.deletedAt === null && goingOn.has(row.status)) {
    const task = await store.findTask(parent);
    if (task?.incarnation !== parent.incarnation || task.status !== "running")
      wrong.push(
        `I9: ${row.id} is an orphan: ${parent.instanceId}'s ${parent.taskId} is ${task?.status ?? "gone"}`,
      );
  }
  if (row.deletedAt !== null) return;
  const tasks = await store.listTasks(row.id, null, all);
  for (const task of tasks)
    if (task.kind === "each" && task.progress !== null) await checkJoin(store, task, wrong);
}

async function checkJoin(store: Store, task: TaskRow, wrong: string[]): Promise<void> {
  const name = `${task.instanceId}'s ${task.taskId}`;
  const progress = progressOf(task);
  const rows = await store.transaction((tx) => tx.readFamily(familyOf(task)));
  const count = (...of: string[]) => rows.filter(({ status }) => of.includes(status)).length;
  if (rows.length !== progress.started || new Set(rows.map(({ place }) => place)).size !== rows.length)
    wrong.push(`I9: ${name} says that ${progress.started} children began, and ${rows.length} did`);
  if (count("running") > progress.cap)
    wrong.push(`I9: ${name} has more children at once than ${progress.cap}`);
  if (task.status === "running") {
    const succeeded = count("succeeded");
    const failed = count("failed", "cancelled");
    if (succeeded !== progress.succeeded || failed !== progress.failed)
      wrong.push(
        `I9: ${name} counts ${progress.succeeded} and ${progress.failed}, and ${succeeded} succeeded, ${failed} failed`,
      );
    if (decide(progress, null) !== "open") wrong.push(`I9: ${name} is decided and goes on`);
    if (progress.started < Math.min(progress.cap, progress.total))
      wrong.push(`I8: ${name} has room for children and began ${progress.started}`);
  }
  if (task.status === "succeeded") {
    const { results } = JSON.parse(task.result ?? "{}") as { results: Json[] };
    const given = results.filter((result) => result !== null).length;
    if (given !== progress.succeeded || progress.succeeded < (progress.need ?? 0))
      wrong.push(
        `I9: ${name} needed ${progress.need ?? "all"} results and gave ${given} of ${progress.succeeded}`,
      );
  }
}

export const isUndoing = (taskId: string): boolean => taskId.startsWith("undo:");

/** I9: a saga is undone one deed at a time, last done first undone, to its end or to where it is stuck. */
export async function checkSaga(
  store: Store,
  { row }: InstanceEnd,
  { answers, deleted }: Pick<History, "answers" | "deleted">,
  wrong: string[],
): Promise<void> {
  if (row.deletedAt !== null) return;
  if (row.status === "compensating") wrong.push(`I8: ${row.id} has not been undone to the end`);
  const tasks = await store.sagaTasks(row.id, row.incarnation);
  const undoings = tasks.filter(({ kind }) => kind === "compensation");
  if (row.status === "stuck" && !undoings.some(({ status }) => status === "failed"))
    wrong.push(`I9: ${row.id} is stuck, and no undoing has failed`);
  for (const { instanceId, taskId, answer } of answers) {
    if (instanceId !== row.id || answer !== "succeeded" || !isUndoing(taskId) || deleted.has(row.id))
      continue;
    const task = undoings.find((undoing) => undoing.taskId === taskId);
    if (task?.status !== "succeeded")
      wrong.push(`I2: ${row.id}'s ${taskId} was acknowledged as done, and is ${task?.status ?? "gone"}`);
  }
  const begun = [...undoings].sort((a, b) => a.createdAt - b.createdAt);
  begun.forEach((task, index) => {
    const before = begun[index - 1];
    if (before && (before.endedAt ?? Infinity) > task.createdAt)
      wrong.push(`I9: ${row.id}'s ${task.taskId} began before ${before.taskId} was over`);
  });
}

/** I2: at no commit does an instance that isn't in its `zone` hold a lock. */
export function checkStateLocks(
  ends: ReadonlyMap<string, InstanceEnd>,
  lockLogs: ReadonlyMap<string, readonly LockLogRow[]>,
  committed: readonly Committed[],
  wrong: string[],
): void {
  const entries = new Map<string, Entry>();
  for (const { log } of ends.values())
    for (const entry of log) entries.set(`${entry.instanceId}#${entry.seq}`, entry);
  const holders = new Map<string, LockRow>();
  const logOf = new Map(
    [...lockLogs].map(([key, log]) => [key, new Map(log.map((entry) => [entry.seq, entry]))]),
  );
  const inZone = new Map<string, boolean>();
  const folds = new Map<string, LockLogRow[]>();
  for (let from = 0; from < committed.length;) {
    const tx = committed[from]?.tx;
    let to = from;
    const stepped = new Set<string>();
    for (; committed[to]?.tx === tx && to < committed.length; to += 1) {
      const change = committed[to] as Committed;
      if (change.kind === "lock") {
        const entry = logOf.get(change.id)?.get(change.seq);
        if (!entry) continue;
        const log = folds.get(change.id) ?? [];
        log.push(entry);
        folds.set(change.id, log);
        holders.set(change.id, foldLockLog(change.id, log));
      } else {
        const entry = entries.get(`${change.id}#${change.seq}`);
        if (!entry) continue;
        stepped.add(change.id);
        const exited = JSON.parse(entry.exited) as string[];
        const entered = JSON.parse(entry.entered) as string[];
        if (entry.kind === "start" || exited.includes("zone")) inZone.set(change.id, false);
        if (entered.includes("zone")) inZone.set(change.id, true);
        if (isEnded(entry.status)) inZone.set(change.id, false);
      }
    }
    for (const id of stepped) {
      if (inZone.get(id)) continue;
      for (const [key, { session }] of holders)
        if (session?.startsWith(`state:${id}:`)) wrong.push(`I2: ${id} has left its zone and holds ${key}`);
    }
    from = to;
  }
}

/** They pass a session. */
const byOperator: ReadonlySet<string> = new Set(["control", "migration"]);

/** Between two events of one session nothing else is applied. */
export function checkSessions(
  { sends }: History,
  ends: ReadonlyMap<string, InstanceEnd>,
  wrong: string[],
): void {
  const sessionOfMark = new Map(
    sends.flatMap(({ mark, session }) => (session === null ? [] : [[mark, session]])),
  );
  for (const { row, log } of ends.values()) {
    const lastOf = new Map<string, number>();
    log.forEach((entry, index) => {
      const session = entry.cause?.startsWith(sessionCause(""))
        ? sessionOfMark.get(markOf(entry.input) ?? "")
        : undefined;
      if (session === undefined) return;
      const between = log.slice((lastOf.get(session) ?? index) + 1, index);
      const stranger = between.find(
        ({ kind, cause }) => !byOperator.has(kind) && !cause?.startsWith(sessionCause("")),
      );
      if (stranger) wrong.push(`I3: ${row.id}#${stranger.seq} (${stranger.kind}) came into a session`);
      lastOf.set(session, index);
    });
  }
}

/** I2: events sent together are all in the log, one after another, or none is. */
export function checkTogether(
  { sends, deleted }: History,
  ends: ReadonlyMap<string, InstanceEnd>,
  wrong: string[],
): void {
  const groups = new Map<string, typeof sends>();
  for (const sent of sends) {
    if (sent.together === null || deleted.has(sent.instanceId)) continue;
    groups.set(sent.together, [...(groups.get(sent.together) ?? []), sent]);
  }
  for (const [name, group] of groups) {
    const log = ends.get(group[0]?.instanceId ?? "")?.log ?? [];
    const places = group.map(({ mark }) =>
      log.findIndex(({ input, cause }) => cause === null && markOf(input) === mark),
    );
    const found = places.filter((place) => place >= 0);
    if (found.length !== 0 && found.length !== group.length)
      wrong.push(`I2: of the ${group.length} events of ${name} ${found.length} were applied`);
  }
}

/** Of instances that share a concurrency key one is under way, and has it; who waits for it waits for one that does. */
export async function checkConcurrency(
  store: Store,
  ends: ReadonlyMap<string, InstanceEnd>,
  wrong: string[],
): Promise<void> {
  const alive = [...ends.values()].filter(({ row }) => row.deletedAt === null && row.concurrencyKey !== null);
  for (const { row } of alive) {
    const { id, status, chartId, concurrencyKey: key } = row;
    if (key === null || !isUnderWay(status)) continue;
    const name = { scope: chartKeyScope(chartId), key };
    const [held] = await store.findKeys([name]);
    if (status !== "queued" && (held?.instanceId !== id || held.free !== 0))
      wrong.push(`I1: ${id} is ${status}, and its concurrency key is ${held?.instanceId ?? "nobody"}'s`);
    const holder = ends.get(held?.instanceId ?? "")?.row;
    const has = holder?.deletedAt === null && isUnderWay(holder.status) && holder.status !== "queued";
    if (status === "queued" && !has) wrong.push(`I8: ${id} waits for a key that nobody under way has`);
  }
}

/** I8: a task that waits for a concurrency key waits for one that an open task has. */
export async function checkTaskKey(
  store: Store,
  { instanceId, taskId, status, queue, type, concurrencyKey: key }: TaskRow,
  wrong: string[],
): Promise<void> {
  if (key === null || status !== "pending" || queue !== null) return;
  const [held] = await store.findKeys([{ scope: taskKeyScope(type), key }]);
  const holder = held && (await store.findTask(held));
  if (held?.free !== 0 || !holder || (holder.endedAt !== null && holder.leaseUntil === null))
    wrong.push(`I8: ${instanceId}'s ${taskId} waits for a key that no task has`);
}

/** I4, I9: a batch comes to its end, with an outcome for each. */
export async function checkBatches(
  store: Store,
  { batches }: Pick<History, "batches">,
  wrong: string[],
): Promise<void> {
  for (const id of batches) {
    const batch = await store.findBatch(id);
    if (!batch) wrong.push(`I2: there is no batch ${id}, and its caller was told of it`);
    else if (batch.status !== "done" || batch.ok + batch.refused + batch.skipped !== batch.total)
      wrong.push(`I8: batch ${id} is ${batch.status}, ${batch.ok + batch.refused} of ${batch.total} done`);
  }
}
