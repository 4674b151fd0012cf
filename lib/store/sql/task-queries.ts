/**
 * Tasks' statements.
 *
 * Holds: a claim touches only the index ranges of the types it asks for, where nothing but what waits is found; it never
 *        waits for another claim (SKIP LOCKED).
 */
import type { StepWrites } from "../steps";
import type { TaskKey, TaskReads, TaskRow, TaskTransaction } from "../tasks";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { empty, join, sql, type Handle } from "./statement";
import { deleteFrom, insertInto, tasks, updateOf } from "./tables";

const keyColumns = ["instanceId", "taskId"];
const selectKey = tasks.pick(...keyColumns);
const isUnfinished = sql`("status" = 'pending' OR "status" = 'running')`;

export function taskReads(handle: Reader): TaskReads {
  return {
    listTasks(instanceId, after, limit) {
      const behind = after
        ? sql`AND ("created_at", "task_id") < (${after.createdAt}, ${after.taskId})`
        : empty;
      return handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "instance_id" = ${instanceId} ${behind} ORDER BY "created_at" DESC, "task_id" DESC LIMIT ${limit}`,
      );
    },
    async findTask({ instanceId, taskId }) {
      const [row] = await handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "instance_id" = ${instanceId} AND "task_id" = ${taskId}`,
      );
      return row ?? null;
    },
    async countClaimable(types, now, limitEach) {
      if (types.length === 0) return [];
      const counted = types.map(
        (type) =>
          sql`SELECT CAST(${type} AS text) AS "type", count(*) AS "count" FROM (SELECT 1 FROM ${tasks.name} WHERE "queue" = ${type} AND "ready_at" <= ${now} LIMIT ${limitEach}) AS t`,
      );
      const rows = await handle.query<{ type: string; count: number }>(join(counted, " UNION ALL "));
      return rows.filter(({ count }) => count > 0);
    },
    findDueTasks: (now, limit) =>
      handle.query<TaskKey>(
        sql`SELECT ${selectKey} FROM ${tasks.name} WHERE "due_at" <= ${now} ORDER BY "due_at" LIMIT ${limit}`,
      ),
  };
}

export function taskTransaction(handle: Handle, dialect: Dialect): TaskTransaction {
  return {
    lockClaimable(type, { by, bound }, now, limit) {
      const [range, order] =
        by === "rank" ? [sql`"rank" <= ${bound}`, sql`"rank"`] : [sql`"rank" > ${bound}`, sql`"ready_at"`];
      return handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "queue" = ${type} AND "ready_at" <= ${now} AND ${range} ORDER BY ${order} LIMIT ${limit} ${dialect.forNoKeyUpdateSkipLocked}`,
      );
    },
    async lockTaskByToken(token) {
      const [row] = await handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "token" = ${token} ${dialect.forNoKeyUpdate}`,
      );
      return row ?? null;
    },
    async lockTasks(keys, options) {
      if (keys.length === 0) return [];
      const wanted = dialect.records(keys, { instanceId: "text", taskId: "text" });
      return handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE ("instance_id", "task_id") IN (SELECT r."instanceId", r."taskId" FROM ${wanted}) ORDER BY "instance_id", "task_id" ${options?.skipBusy ? dialect.forNoKeyUpdateSkipLocked : dialect.forNoKeyUpdate}`,
      );
    },
    async holdTasksOf(instanceIds) {
      if (instanceIds.length === 0) return;
      await handle.query(
        sql`SELECT ${selectKey} FROM ${tasks.name} WHERE "instance_id" IN ${dialect.texts(instanceIds)} AND ${isUnfinished} ORDER BY "instance_id", "task_id" ${dialect.forNoKeyUpdate}`,
      );
    },
    writeTasks(rows) {
      if (rows.length > 0) handle.postRows(updateOf(dialect, tasks, keyColumns, changing), rows);
      return Promise.resolve();
    },
  };
}

/** What a claim, an answer or the sweeper may change. */
const changing = [
  "status",
  "queue",
  "rank",
  "readyAt",
  "attempt",
  "fence",
  "attemptUntil",
  "overallUntil",
  "dueAt",
  "worker",
  "token",
  "leaseUntil",
  "progress",
  "result",
  "error",
  "startedAt",
  "updatedAt",
  "endedAt",
];

/** A step's part: tasks begin and are cancelled. An attempt under way keeps its claim, so that its worker can be told. */
export async function writeStepTasks(handle: Handle, dialect: Dialect, writes: StepWrites): Promise<void> {
  const { tasksBegun, tasksCancelled, ended, emptied } = writes;
  if (tasksBegun.length > 0) handle.postRows(insertInto(dialect, tasks), tasksBegun);
  const cancelled = sql`"status" = 'cancelled', "queue" = NULL, "due_at" = NULL, "updated_at" = r."at", "ended_at" = r."at"`;
  if (tasksCancelled.length > 0) {
    const rows = dialect.records(tasksCancelled, { instanceId: "text", taskId: "text", at: "bigint" });
    await handle.execute(
      sql`UPDATE ${tasks.name} SET ${cancelled} FROM ${rows} WHERE "instance_id" = r."instanceId" AND "task_id" = r."taskId" AND ${isUnfinished}`,
    );
  }
  if (ended.length > 0) {
    const rows = dialect.records(ended, { instanceId: "text", at: "bigint" });
    await handle.execute(
      sql`UPDATE ${tasks.name} SET ${cancelled} FROM ${rows} WHERE "instance_id" = r."instanceId" AND ${isUnfinished}`,
    );
  }
  if (emptied.length > 0) {
    handle.postRows(
      deleteFrom(dialect, tasks, ["instanceId"]),
      emptied.map((instanceId) => ({ instanceId })),
    );
  }
}
