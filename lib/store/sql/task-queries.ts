/**
 * Tasks' statements.
 *
 * Holds: a claim touches only the index ranges of the types it asks for, where nothing but what waits is found; it never
 *        waits for another claim (SKIP LOCKED).
 */
import type { ConditionName } from "../instances";
import type { StepWrites } from "../steps";
import {
  taskKeyScope,
  type AwaitedTask,
  type KeyRow,
  type TaskKey,
  type TaskReads,
  type TaskRow,
  type TaskTransaction,
} from "../tasks";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { empty, join, raw, sql, type Handle, type RowStatement, type Sql } from "./statement";
import { columnName, concurrencyKeys, deleteFrom, insertInto, tasks, updateOf } from "./tables";

const keyColumns = ["instanceId", "taskId"];
const selectKey = tasks.pick(...keyColumns);
const isUnfinished = sql`("status" = 'pending' OR "status" = 'running')`;
/** Also one that is cancelled, whose worker has not said so yet. */
const mayBeAnswered = sql`(${isUnfinished} OR "lease_until" IS NOT NULL)`;

const conditionNames: readonly ConditionName[] = ["task", "human", "child", "lock", "breaker"];
const awaited = tasks.pick(
  ...keyColumns,
  ...["incarnation", "invokeId", "kind", "type", "status", "queue", "condition", "readyAt", "attempt"],
  ...["attemptsMax", "worker", "concurrencyKey", "error"],
);
/** Of all instances of a page together. */
const awaitedMax = 1_000;
/** By their conditions, so that none that is over is looked at. */
export const awaitedBy = (dialect: Dialect, instanceIds: readonly string[]): Sql =>
  sql`SELECT ${awaited} FROM ${tasks.name} WHERE "condition" IN (${join(conditionNames)}) AND "instance_id" IN ${dialect.texts(instanceIds)} AND ${isUnfinished} ORDER BY "created_at", "task_id" LIMIT ${awaitedMax}`;

const selectSaga = (instanceId: string, incarnation: number) =>
  sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "instance_id" = ${instanceId} AND "incarnation" = ${incarnation} AND ("compensate" IS NOT NULL OR "kind" = 'compensation')`;

export function taskReads(handle: Reader, dialect: Dialect): TaskReads {
  return {
    sagaTasks: (instanceId, incarnation) => handle.query<TaskRow>(selectSaga(instanceId, incarnation)),
    listTasks(instanceId, after, limit) {
      const behind = after
        ? sql`AND ("created_at", "task_id") < (${after.createdAt}, ${after.taskId})`
        : empty;
      return handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "instance_id" = ${instanceId} ${behind} ORDER BY "created_at" DESC, "task_id" DESC LIMIT ${limit}`,
      );
    },
    listQueue(queue, after, limit) {
      const behind = after
        ? sql`AND ("ready_at", "instance_id", "task_id") > (${after.readyAt}, ${after.instanceId}, ${after.taskId})`
        : empty;
      return handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "queue" = ${queue} ${behind} ORDER BY "ready_at", "instance_id", "task_id" LIMIT ${limit}`,
      );
    },
    async findTask({ instanceId, taskId }) {
      const [row] = await handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "instance_id" = ${instanceId} AND "task_id" = ${taskId}`,
      );
      return row ?? null;
    },
    awaitedTasks: (instanceIds) =>
      instanceIds.length === 0
        ? Promise.resolve([])
        : handle.query<AwaitedTask>(awaitedBy(dialect, instanceIds)),
    async countClaimable(types, now, limitEach) {
      if (types.length === 0) return [];
      const counted = types.map(
        (type) =>
          sql`SELECT CAST(${type} AS text) AS "type", count(*) AS "count" FROM (SELECT 1 FROM ${tasks.name} WHERE "queue" = ${type} AND "ready_at" <= ${now} LIMIT ${limitEach}) AS t`,
      );
      const rows = await handle.query<{ type: string; count: number }>(join(counted, " UNION ALL "));
      return rows.filter(({ count }) => count > 0);
    },
    findKeys: (keys) =>
      keys.length === 0 ? Promise.resolve([]) : handle.query<KeyRow>(selectKeys(dialect, keys)),
    findFreeKeys: (of, limit) =>
      handle.query<KeyRow>(
        sql`SELECT ${concurrencyKeys.all} ${freeKeys} AND "scope" LIKE ${`${of}:%`} ORDER BY "since" LIMIT ${limit}`,
      ),
    findDueTasks: (now, limit) =>
      handle.query<TaskKey>(sql`SELECT ${selectKey} ${dueTasks(now)} ORDER BY "due_at" LIMIT ${limit}`),
  };
}

export const freeKeys = sql`FROM ${concurrencyKeys.name} WHERE "free" = 1`;
export const dueTasks = (now: number | Sql): Sql =>
  sql`FROM ${tasks.name} WHERE "due_at" <= ${now} AND "kind" NOT IN ('chart', 'each', 'lock')`;

export function taskTransaction(handle: Handle, dialect: Dialect): TaskTransaction {
  return {
    sagaTasks: (instanceId, incarnation) => handle.query<TaskRow>(selectSaga(instanceId, incarnation)),
    lockClaimable(type, { by, bound }, now, limit, partitions) {
      const [range, order] =
        by === "rank" ? [sql`"rank" <= ${bound}`, sql`"rank"`] : [sql`"rank" > ${bound}`, sql`"ready_at"`];
      const ofShare = partitions
        ? sql`AND EXISTS (SELECT 1 FROM "instances" AS s WHERE s."id" = "tasks"."instance_id" AND s."partition" BETWEEN ${partitions.from} AND ${partitions.to})`
        : empty;
      return handle.query<TaskRow>(
        sql`SELECT ${tasks.all} FROM ${tasks.name} WHERE "queue" = ${type} AND "ready_at" <= ${now} AND ${range} AND ("overall_until" IS NULL OR "overall_until" > ${now}) ${ofShare} ORDER BY ${order} LIMIT ${limit} ${dialect.forNoKeyUpdateSkipLocked}`,
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
        sql`SELECT ${selectKey} FROM ${tasks.name} WHERE "instance_id" IN ${dialect.texts(instanceIds)} AND ${mayBeAnswered} ORDER BY "instance_id", "task_id" ${dialect.forNoKeyUpdate}`,
      );
    },
    writeTasks(rows) {
      if (rows.length > 0) handle.postRows(updateOf(dialect, tasks, keyColumns, changing), rows);
      const over = rows.filter(
        (row) => row.concurrencyKey !== null && row.endedAt !== null && row.leaseUntil === null,
      );
      if (over.length > 0) {
        handle.postRows(
          givingBack(dialect),
          over.map(({ instanceId, taskId }) => ({ instanceId, taskId, isOver: 1 })),
        );
      }
      return Promise.resolve();
    },
    async beginTasksAnew(rows) {
      if (rows.length === 0) return;
      const placed = await withTurns(handle, dialect, rows);
      handle.postRows(updateOf(dialect, tasks, keyColumns, [...changing, "input", "attemptsMax"]), placed);
    },
    async serveKey({ scope, key }, now) {
      const [held] = await handle.query<KeyRow>(
        sql`SELECT ${concurrencyKeys.all} FROM ${concurrencyKeys.name} WHERE "scope" = ${scope} AND "key" = ${key} ${dialect.forUpdate}`,
      );
      if (held?.free !== 1) return;
      const type = scope.slice(taskKeyScope("").length);
      const waits = sql`"concurrency_key" = ${key} AND "type" = ${type} AND "status" = 'pending' AND "queue" IS NULL`;
      const [next] = await handle.query<TaskKey>(
        sql`SELECT ${selectKey} FROM ${tasks.name} WHERE ${waits} ORDER BY "created_at", "instance_id", "task_id" LIMIT 1`,
      );
      if (!next) {
        handle.postRows(deleteFrom(dialect, concurrencyKeys, ["scope", "key"]), [{ scope, key }]);
        return;
      }
      const [mine] = await handle.query<TaskKey>(
        sql`SELECT ${selectKey} FROM ${tasks.name} WHERE "instance_id" = ${next.instanceId} AND "task_id" = ${next.taskId} AND ${waits} ${dialect.forNoKeyUpdateSkipLocked}`,
      );
      // Whoever has its row may want the key next, and waits for us then: it is served at another look.
      if (!mine) return;
      handle.postRows(updateOf(dialect, tasks, keyColumns, ["queue"]), [{ ...next, queue: type }]);
      handle.postRows(
        updateOf(dialect, concurrencyKeys, ["scope", "key"], ["instanceId", "taskId", "since", "free"]),
        [{ scope, key, ...next, since: now, free: 0 }],
      );
    },
  };
}

/** What a claim, an answer or the sweeper may change. */
const changing = [
  "status",
  "queue",
  "condition",
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
  "lost",
  "startedAt",
  "updatedAt",
  "endedAt",
];

const selectKeys = (dialect: Dialect, keys: readonly Pick<KeyRow, "scope" | "key">[]) =>
  sql`SELECT ${concurrencyKeys.all} FROM ${concurrencyKeys.name} WHERE ("scope", "key") IN (SELECT r."scope", r."key" FROM ${dialect.records(keys, { scope: "text", key: "text" })})`;

/**
 * A step's part: tasks begin and are cancelled. An attempt under way keeps its claim, so that its worker can be told; a key
 * is held for as long as one may be under way.
 */
export async function writeStepTasks(handle: Handle, dialect: Dialect, writes: StepWrites): Promise<void> {
  const { tasksBegun, tasksCancelled, ended, emptied } = writes;
  const done: Done[] = [
    ...tasksCancelled.map(({ instanceId, taskId }) => ({ instanceId, taskId, isOver: 0 as const })),
    ...ended.map(({ instanceId }) => ({ instanceId, taskId: null, isOver: 0 as const })),
    ...emptied.map((instanceId) => ({ instanceId, taskId: null, isOver: 1 as const })),
  ];
  if (tasksBegun.length > 0) {
    const rows = await withTurns(handle, dialect, tasksBegun, done);
    handle.postRows(insertInto(dialect, tasks), rows);
  }
  if (tasksCancelled.length > 0) handle.postRows(cancelling(dialect, keyColumns), tasksCancelled);
  if (ended.length > 0) handle.postRows(cancelling(dialect, ["instanceId"]), ended);
  if (emptied.length > 0) {
    const rows = emptied.map((instanceId) => ({ instanceId }));
    handle.postRows(deleteFrom(dialect, tasks, ["instanceId"]), rows);
  }
  if (done.length > 0) handle.postRows(givingBack(dialect), done);
}

/** Cancels the unfinished tasks of each row's key, at its time. */
const cancelling = (dialect: Dialect, key: readonly string[]): RowStatement => {
  const at = dialect.cell("at");
  const set = `"status" = 'cancelled', "queue" = NULL, "condition" = NULL, "due_at" = "lease_until", "updated_at" = ${at}, "ended_at" = ${at}`;
  return {
    table: tasks.name.sql,
    text: `UPDATE "tasks" SET ${set} ${fromRows(dialect)} WHERE ${matching(dialect, "tasks", key)} AND ${isUnfinished.sql}`,
  };
};

/** Whose keys are given back. */
interface Done {
  instanceId: string;
  /** Null: each of the instance. */
  taskId: string | null;
  /** 0: of those tasks only that are cancelled, and under way no more. */
  isOver: 0 | 1;
}
const doneColumns = { instanceId: "text", taskId: "text", isOver: "int" } as const;

/** `of` one row of Done: the keys that it has. */
const keysHad = (of: (name: keyof Done) => string): string =>
  `k."instance_id" = ${of("instanceId")} AND (${of("taskId")} IS NULL OR k."task_id" = ${of("taskId")}) AND k."free" = 0`;

/**
 * Frees the keys that they have, in the order of keys, as those who begin take them. One that is free already is left alone:
 * whoever gives it on holds its row and waits for the next one's task, which may be ours.
 */
const givingBack = (dialect: Dialect): RowStatement => {
  const isDone = `(${dialect.cell("isOver")} = 1 OR EXISTS (SELECT 1 FROM "tasks" AS t WHERE t."instance_id" = k."instance_id" AND t."task_id" = k."task_id" AND t."status" = 'cancelled' AND t."lease_until" IS NULL))`;
  const rows = dialect.rowsTable(doneColumns);
  const their = `${keysHad((name) => dialect.cell(name))} AND ${isDone}`;
  const text =
    rows === null
      ? `UPDATE "concurrency_keys" AS k SET "free" = 1 WHERE ${their}`
      : `UPDATE "concurrency_keys" AS c SET "free" = 1 FROM (SELECT k."scope", k."key" FROM "concurrency_keys" AS k, ${rows} WHERE ${their} ORDER BY k."scope"${dialect.byBytes.sql}, k."key"${dialect.byBytes.sql} ${dialect.forUpdate.sql} OF k) AS l WHERE c."scope" = l."scope" AND c."key" = l."key"`;
  return { table: concurrencyKeys.name.sql, text };
};

const fromRows = (dialect: Dialect): string => {
  const rows = dialect.rowsTable({ instanceId: "text", taskId: "text", at: "bigint" });
  return rows === null ? "" : `FROM ${rows}`;
};
const matching = (dialect: Dialect, table: string, key: readonly string[]): string =>
  key.map((name) => `"${table}".${columnName(name)} = ${dialect.cell(name)}`).join(" AND ");

/**
 * Tasks that begin; one whose concurrency key another holds may not be claimed yet. Taking or touching a key's row holds it, so
 * that whoever frees it meanwhile finds us waiting. Those that `done` gives back behind it are held with them, in one order.
 */
async function withTurns(
  handle: Handle,
  dialect: Dialect,
  begun: readonly TaskRow[],
  done: readonly Done[] = [],
): Promise<TaskRow[]> {
  const wanted = new Map<string, KeyRow>();
  const add = (row: KeyRow) => {
    const name = JSON.stringify([row.scope, row.key]);
    if (!wanted.has(name)) wanted.set(name, row);
  };
  for (const { type, concurrencyKey: key, queue, instanceId, taskId, createdAt } of begun) {
    if (key === null || queue === null) continue;
    add({ scope: taskKeyScope(type), key, instanceId, taskId, since: createdAt, free: 0 });
  }
  if (wanted.size === 0) return [...begun];
  if (done.length > 0) {
    const of = (name: keyof Done) => `r."${name}"`;
    const theirs = dialect.records(done, doneColumns);
    const [had] = await Promise.all([
      handle.query<KeyRow>(
        sql`SELECT k."scope", k."key", k."instance_id" AS "instanceId", k."task_id" AS "taskId", k."since", k."free" FROM ${concurrencyKeys.name} AS k, ${theirs} WHERE ${raw(keysHad(of))} AND k."task_id" <> ''`,
      ),
      // Who answers one of them holds it, and then its key.
      handle.query(
        sql`SELECT t."task_id" FROM ${tasks.name} AS t, ${theirs} WHERE t."instance_id" = r."instanceId" AND (r."taskId" IS NULL OR t."task_id" = r."taskId") AND ${mayBeAnswered} ORDER BY t."instance_id", t."task_id" ${dialect.forNoKeyUpdate}`,
      ),
    ]);
    // One that came free since and was dropped comes back free: nobody would ever give it back.
    for (const row of had) add({ ...row, free: 1 });
  }
  const inOrder = [...wanted.values()].sort((a, b) =>
    a.scope === b.scope ? (a.key < b.key ? -1 : 1) : a.scope < b.scope ? -1 : 1,
  );
  const touch = `ON CONFLICT ("scope", "key") DO UPDATE SET "since" = "concurrency_keys"."since"`;
  handle.postRows(insertInto(dialect, concurrencyKeys, touch), inOrder);
  const held = await handle.query<KeyRow>(selectKeys(dialect, inOrder));
  const holders = new Set(
    held
      .filter(({ free }) => free === 0)
      .map(({ instanceId, taskId }) => JSON.stringify([instanceId, taskId])),
  );
  return begun.map((task) =>
    task.concurrencyKey === null || holders.has(JSON.stringify([task.instanceId, task.taskId]))
      ? task
      : { ...task, queue: null },
  );
}
