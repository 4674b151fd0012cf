/**
 * A child's end, written in the child's own step: its row, and what it is to the invocation that waits for it.
 *
 * Holds: I2 the end and the answer commit together. Lock order: the parent's task is held behind the child's instance; the
 *        parent itself is not touched, the answer is a message.
 */
import type { Json } from "@/lib/base/json";
import { familyOf, type ChildRow, type ParentRef } from "@/lib/store/children";
import type { InstanceRow } from "@/lib/store/instances";
import type { StepWrites } from "@/lib/store/steps";
import type { StoreTransaction } from "@/lib/store/store";
import type { TaskRow } from "@/lib/store/tasks";
import {
  decide,
  endedChild,
  endOf,
  joinedOutput,
  progressOf,
  roomOf,
  runningOf,
  withProgress,
  type ChildEnd,
} from "./child-rules";
import { answerMessage } from "./task-answer";
import { failed, succeeded } from "./task-rules";

export interface Ending {
  parent: ParentRef;
  row: InstanceRow;
  output: Json;
}
export interface EndedChild {
  row: ChildRow;
  end: ChildEnd;
}

/** Adds to `writes` what follows from these ends; tasks are written at once. */
export async function answerParents(
  tx: StoreTransaction,
  endings: readonly Ending[],
  writes: StepWrites,
  now: number,
): Promise<void> {
  if (endings.length === 0) return;
  const tasks = await tx.lockTasks(endings.map(({ parent }) => parent));
  const children = await tx.findChildren(
    endings.map(({ parent }) => ({ ...keyOf(parent), place: parent.place })),
  );
  const ofChild = new Map(children.map((child) => [child.childId, child]));
  const open = endings.flatMap(({ parent, row, output }) => {
    const child = ofChild.get(row.id);
    if (child?.status !== "running" && child?.status !== "orphan") return [];
    const end = endOf(row, output);
    const ended = endedChild(child, end);
    writes.childrenEnded.push(ended);
    return [{ parent, row: ended, end }];
  });
  for (const task of tasks) {
    const mine = open.filter(
      ({ parent }) =>
        parent.instanceId === task.instanceId &&
        parent.incarnation === task.incarnation &&
        parent.taskId === task.taskId,
    );
    if (mine.length > 0) await tx.writeTasks([await afterEnds(tx, task, mine, writes, now)]);
  }
}

const keyOf = ({ instanceId, incarnation, taskId }: ParentRef) =>
  familyOf({ instanceId, incarnation, taskId });

/** The task, which is held, after these ends; its answer, when it is over, is among the writes. */
export async function afterEnds(
  tx: StoreTransaction,
  task: TaskRow,
  ends: readonly EndedChild[],
  writes: StepWrites,
  now: number,
): Promise<TaskRow> {
  const [last] = ends.slice(-1);
  if (!last) return task;
  const by = `instance:${last.row.childId}`;
  if (task.kind === "chart") {
    if (task.status === "running") return over(task, last.end, by, writes, now);
    // Too late to move anything: kept, for who undoes it.
    const { result, error } = last.row;
    return { ...task, result, error, updatedAt: now };
  }
  if (task.status !== "running") return task;

  const before = progressOf(task);
  const errors = ends.flatMap(({ end }) => ("error" in end ? [end.error] : []));
  const progress = {
    ...before,
    succeeded: before.succeeded + ends.length - errors.length,
    failed: before.failed + errors.length,
  };
  const counted = withProgress(task, progress, now);
  const verdict = decide(progress, errors[0] ?? null);
  if (verdict === "open") return roomOf(progress) > 0 ? { ...counted, dueAt: now } : counted;
  if (runningOf(progress) > 0) writes.childrenLeft.push(familyOf(task));
  if (verdict !== "done") return over(counted, { error: verdict }, by, writes, now);
  const rows = new Map((await tx.readFamily(familyOf(task))).map((row) => [row.place, row]));
  for (const row of [...writes.childrenBegun, ...writes.childrenEnded]) {
    if (row.parentId === task.instanceId && row.parentTask === task.taskId) rows.set(row.place, row);
  }
  return over(counted, joinedOutput([...rows.values()], progress.total), by, writes, now);
}

/** The task's end, its answer on the way. */
export function over(task: TaskRow, end: ChildEnd, by: string, writes: StepWrites, now: number): TaskRow {
  writes.enqueued.push(answerMessage(task, end, by, now));
  return "output" in end
    ? succeeded(task, end.output, now)
    : failed(task, end.error, { now, chance: 0, retry: false });
}
