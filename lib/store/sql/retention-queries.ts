/**
 * Retention's statements: walks in key order, in portions; what is removed is looked at again by the DELETE itself.
 */
import { must } from "@/lib/base/assert";
import type { ChildRow } from "../children";
import type { LogRow, SnapshotRow } from "../instances";
import type { LockLogRow } from "../locks";
import type { DoomedLog, PlainRule, RetentionReads, RetentionRow, RetentionTransaction } from "../retention";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { empty, join, raw, sql, type Handle, type Sql } from "./statement";
import {
  audit,
  batches,
  batchItems,
  children,
  columnName,
  deadLetters,
  dedupeResults,
  deleteRows,
  doomedLogs,
  eventLog,
  insertRows,
  instanceLabels,
  instances,
  lockCommands,
  lockLog,
  mailbox,
  retention,
  snapshots,
  tasks,
  updateRows,
  type Table,
} from "./tables";

/** Batches in a portion: few have many items. */
const batchesLooked = 100;

const wholeEntry = eventLog.pick(
  ...Object.keys(eventLog.columns).filter((name) => name !== "changeTx" && name !== "changeN"),
);

export function retentionReads(handle: Reader): RetentionReads {
  return {
    listRetention: () =>
      handle.query<RetentionRow>(sql`SELECT ${retention.all} FROM ${retention.name} ORDER BY "rule"`),
    async oldestEntry(instanceId) {
      const [row] = await handle.query<{ seq: number }>(
        sql`SELECT "seq" FROM ${eventLog.name} WHERE "instance_id" = ${instanceId} ORDER BY "seq" LIMIT 1`,
      );
      return row?.seq ?? null;
    },
    readLog: (instanceId, from, limit) =>
      handle.query<LogRow>(
        sql`SELECT ${wholeEntry} FROM ${eventLog.name} WHERE "instance_id" = ${instanceId} AND "seq" >= ${from} ORDER BY "seq" LIMIT ${limit}`,
      ),
    readSnapshots: (instanceId) =>
      handle.query<SnapshotRow>(
        sql`SELECT ${snapshots.all} FROM ${snapshots.name} WHERE "instance_id" = ${instanceId} ORDER BY "seq"`,
      ),
    readChildren: (parentId) =>
      handle.query<ChildRow>(
        sql`SELECT ${children.all} FROM ${children.name} WHERE "parent_id" = ${parentId} ORDER BY "parent_task", "place"`,
      ),
    listEnded(status, after, bound, limit) {
      // A failed one has ended when nobody has mended it since.
      const ended = sql`COALESCE("ended_at", "updated_at")`;
      const behind = after ? sql`AND ("created_at", "id") > (${after.createdAt}, ${after.id})` : empty;
      return handle.query(
        sql`SELECT "id", "seq", "incarnation", "created_at" AS "createdAt", CASE WHEN ${ended} <= ${bound} THEN 1 ELSE 0 END AS "ended" FROM ${instances.name} WHERE "status" = ${status} AND "deleted_at" IS NULL AND "created_at" <= ${bound} ${behind} ORDER BY "created_at", "id" LIMIT ${limit}`,
      );
    },
  };
}

export function retentionTransaction(
  handle: Handle,
  dialect: Dialect,
  nextN: () => number,
): RetentionTransaction {
  return {
    async holdRule(rule, options) {
      const [row] = await handle.query<RetentionRow>(
        sql`SELECT ${retention.all} FROM ${retention.name} WHERE "rule" = ${rule} ${options?.wait ? dialect.forNoKeyUpdate : dialect.forNoKeyUpdateSkipLocked}`,
      );
      return row ?? null;
    },
    async writeRule(row) {
      const set = Object.keys(retention.columns).filter((name) => name !== "rule");
      await updateRows(handle, dialect, retention, ["rule"], set, [row]);
    },
    async sweep(rule, after, { bound, limit, dry }) {
      const { table, key, age, over, along } = plain[rule];
      const nameOf = (row: KeyedRow) => JSON.stringify(key.map((name) => row[name]));
      const order = (along === "age" ? [age, ...key] : key).map((name) => raw(columnName(name)));
      const isOver = sql`${raw(columnName(age))} <= ${bound}${over}`;
      const conditions: Sql[] = [];
      if (after !== null) {
        const place = JSON.parse(after) as (string | number)[];
        conditions.push(sql`(${join(order)}) > (${join(place)})`);
      }
      if (along === "age") conditions.push(sql`${raw(columnName(age))} <= ${bound}`);
      const where = conditions.length === 0 ? empty : sql`WHERE ${join(conditions, " AND ")}`;
      const columns = [...key, ...(along === "age" ? [age] : [])];
      const rows = await handle.query<Record<string, string | number>>(
        sql`SELECT ${table.pick(...columns)}, CASE WHEN ${isOver} THEN 1 ELSE 0 END AS "over" FROM ${table.name} ${where} ORDER BY ${join(order)} LIMIT ${limit}`,
      );
      const aged = rows.filter((row) => row["over"] === 1);
      const needed = new Set((await plain[rule].needed?.(handle, dialect, aged))?.map(nameOf));
      const gone = aged.filter((row) => !needed.has(nameOf(row)));
      const last = rows.length === limit ? must(rows.at(-1), "a full portion") : null;
      const names = along === "age" ? [age, ...key] : key;
      const next = last && JSON.stringify(names.map((name) => last[name]));
      if (dry) return { removed: gone.length, next };
      let removed = 0;
      if (gone.length > 0) {
        const wanted = dialect.records(gone, Object.fromEntries(key.map((name) => [name, "text"] as const)));
        removed = await handle.execute(
          sql`DELETE FROM ${table.name} WHERE (${join(key.map((name) => raw(columnName(name))))}) IN (SELECT ${join(key.map((name) => raw(`r."${name}"`)))} FROM ${wanted}) AND ${isOver}`,
        );
        if (rule === "tasks") {
          const families = gone.map(({ instanceId, taskId }) => ({
            parentId: instanceId,
            parentTask: taskId,
          }));
          removed += await deleteRows(handle, dialect, children, ["parentId", "parentTask"], families);
        }
        if (rule === "tombstones") {
          const ids = gone.map(({ id }) => ({ instanceId: id }));
          removed += await deleteRows(handle, dialect, instanceLabels, ["instanceId"], ids);
        }
      }
      return { removed, next };
    },
    async sweepBatches(after, { bound, limit, dry }) {
      const isOver = sql`"ended_at" <= ${bound}`;
      const rows = await handle.query<{ id: string; total: number; over: number }>(
        sql`SELECT "id", "total", CASE WHEN ${isOver} THEN 1 ELSE 0 END AS "over" FROM ${batches.name} WHERE "id" > ${after} ORDER BY "id" LIMIT ${batchesLooked}`,
      );
      const gone = rows.filter(({ over }) => over === 1);
      const next = rows.length === batchesLooked ? must(rows.at(-1), "a full portion").id : null;
      if (dry) return { removed: gone.reduce((sum, { total }) => sum + total + 1, 0), next };
      if (gone.length === 0) return { removed: 0, next };
      // One that was cancelled may be going on by now: held, it stays as it is found.
      const held = await handle.query<{ id: string }>(
        sql`SELECT "id" FROM ${batches.name} WHERE "id" IN ${dialect.texts(gone.map(({ id }) => id))} AND ${isOver} ${dialect.forNoKeyUpdateSkipLocked}`,
      );
      const ids = dialect.texts(held.map(({ id }) => id));
      const items = await handle.execute(
        sql`DELETE FROM ${batchItems.name} WHERE ("batch_id", "place") IN (SELECT "batch_id", "place" FROM ${batchItems.name} WHERE "batch_id" IN ${ids} ORDER BY "batch_id", "place" LIMIT ${limit})`,
      );
      if (items === limit) return { removed: items, next: after };
      const removed = await handle.execute(sql`DELETE FROM ${batches.name} WHERE "id" IN ${ids}`);
      return { removed: items + removed, next };
    },
    findCompactable: (after, bound, limit) =>
      handle.query(
        sql`SELECT s."instance_id" AS "instanceId", s."seq" AS "seq", s."seq" - COALESCE((SELECT min(e."seq") FROM "event_log" AS e WHERE e."instance_id" = s."instance_id"), s."seq") AS "entries" FROM (SELECT "instance_id", max("seq") AS "seq" FROM ${snapshots.name} WHERE "instance_id" > ${after} AND "at" <= ${bound} AND NOT ${mayBeRedriven} GROUP BY "instance_id" ORDER BY "instance_id" LIMIT ${limit}) AS s ORDER BY s."instance_id"`,
      ),
    async removeLog(instanceId, below, limit) {
      const [found] = await handle.query<{ count: number; last: number | null; tx: number | null }>(
        sql`SELECT count(*) AS "count", max("seq") AS "last", max("change_tx") AS "tx" FROM (SELECT "seq", "change_tx" FROM ${eventLog.name} WHERE "instance_id" = ${instanceId} AND "seq" < ${below} AND "change_tx" < (SELECT "tx" FROM "fleet_fold") ORDER BY "seq" LIMIT ${limit}) AS e`,
      );
      const { count, last, tx } = must(found, "counts give one row");
      const mine = sql`"instance_id" = ${instanceId}`;
      if (last !== null)
        await handle.execute(sql`DELETE FROM ${eventLog.name} WHERE ${mine} AND "seq" <= ${last}`);
      const left = await handle.query(
        sql`SELECT 1 FROM ${eventLog.name} WHERE ${mine} AND "seq" < ${below} LIMIT 1`,
      );
      const more = left.length > 0;
      if (!more) await handle.execute(sql`DELETE FROM ${snapshots.name} WHERE ${mine} AND "seq" < ${below}`);
      return { removed: count, more, purgedTx: tx ?? 0 };
    },
    async addDoomed(rows) {
      const set = `ON CONFLICT ("instance_id", "up_to_seq") DO UPDATE SET "at_once" = excluded."at_once"`;
      await insertRows(handle, dialect, doomedLogs, rows, set);
    },
    findDoomed: (bound, limit) =>
      handle.query<DoomedLog>(
        sql`SELECT ${doomedLogs.all} FROM ${doomedLogs.name} WHERE "at_once" = 1 OR ("at_once" = 0 AND "deleted_at" <= ${bound ?? -1}) ORDER BY "at_once", "deleted_at" LIMIT ${limit}`,
      ),
    async removeDoomed({ instanceId, upToSeq }) {
      await deleteRows(handle, dialect, doomedLogs, ["instanceId", "upToSeq"], [{ instanceId, upToSeq }]);
    },
    async forgetInstances(instanceIds) {
      const rows = instanceIds.map((instanceId) => ({ instanceId }));
      // An orphan's row goes on until somebody has terminated it.
      const families = await handle.execute(
        sql`DELETE FROM ${children.name} WHERE "parent_id" IN ${dialect.texts(instanceIds)} AND "status" NOT IN ('running', 'orphan')`,
      );
      return (
        families +
        (await deleteRows(handle, dialect, instanceLabels, ["instanceId"], rows)) +
        (await deleteRows(handle, dialect, deadLetters, ["instanceId"], rows))
      );
    },
    findAgedLocks: (after, bound, limit) =>
      handle.query(
        sql`SELECT "key", max("seq") AS "seq" FROM ${lockLog.name} WHERE "key" > ${after} AND "at" <= ${bound} GROUP BY "key" HAVING count(*) > 1 ORDER BY "key" LIMIT ${limit}`,
      ),
    readLockPrefix: (key, upTo, limit) =>
      handle.query<LockLogRow>(
        sql`SELECT ${lockLog.pick(...Object.keys(lockLog.columns).filter((name) => !name.startsWith("change")))} FROM ${lockLog.name} WHERE "key" = ${key} AND "seq" <= ${upTo} ORDER BY "seq" LIMIT ${limit}`,
      ),
    async replaceLockPrefix(entry) {
      const prefix = sql`"key" = ${entry.key} AND "seq" <= ${entry.seq}`;
      const [newest] = await handle.query<{ tx: number | null }>(
        sql`SELECT max("change_tx") AS "tx" FROM ${lockLog.name} WHERE ${prefix}`,
      );
      const removed = await handle.execute(sql`DELETE FROM ${lockLog.name} WHERE ${prefix}`);
      await insertRows(handle, dialect, lockLog, [{ ...entry, changeN: nextN() }]);
      return { removed: removed - 1, purgedTx: newest?.tx ?? 0 };
    },
  };
}

/** How a table is walked: `age`: by an index on the time; `key`: all of it. */
interface Plain {
  table: Table;
  key: string[];
  /** The column that tells since when a row is over. */
  age: string;
  /** What else must hold. */
  over: Sql;
  along: "age" | "key";
  /** Which of these rows, named by their keys, are needed nevertheless. */
  needed?: (handle: Handle, dialect: Dialect, rows: readonly KeyedRow[]) => Promise<readonly KeyedRow[]>;
}
type KeyedRow = Record<string, string | number>;
/**
 * Answers to come: of messages that wait. They are looked up where they would wait, in their instance's mailbox: a send's scope
 * is `send:ID:incarnation:caller`, of several events `send-events:`, and an id may hold colons.
 */
async function stillAwaited(
  handle: Handle,
  dialect: Dialect,
  rows: readonly KeyedRow[],
): Promise<readonly KeyedRow[]> {
  if (rows.length === 0) return [];
  const wanted = dialect.records(rows, { scope: "text", key: "text" });
  const open = await handle.query<{ scope: string; key: string; messageId: string }>(
    sql`SELECT d."scope" AS "scope", d."key" AS "key", d."message_id" AS "messageId" FROM ${wanted} JOIN ${dedupeResults.name} AS d ON d."scope" = r."scope" AND d."key" = r."key" WHERE d."result" IS NULL`,
  );
  const places = open.flatMap(({ scope, messageId }) =>
    [...scope.matchAll(/:(?=\d+:)/g)].map(({ index }) => ({
      instanceId: scope.slice(scope.indexOf(":") + 1, index),
      messageId,
    })),
  );
  if (places.length === 0) return [];
  const asked = dialect.records(places, { instanceId: "text", messageId: "text" });
  const waiting = await handle.query<{ messageId: string }>(
    sql`SELECT m."message_id" AS "messageId" FROM ${asked} JOIN ${mailbox.name} AS m ON m."instance_id" = r."instanceId" AND m."message_id" = r."messageId"`,
  );
  const ids = new Set(waiting.map(({ messageId }) => messageId));
  return open.filter(({ messageId }) => ids.has(messageId));
}

/** Its redrive begins at the entry that failed it, from the state before that one. */
const mayBeRedriven = sql`EXISTS (SELECT 1 FROM "instances" AS i WHERE i."id" = "snapshots"."instance_id" AND i."status" IN ('failed', 'compensating', 'stuck'))`;
const unfinishedChild = sql`EXISTS (SELECT 1 FROM "children" AS c WHERE c."parent_id" = "tasks"."instance_id" AND c."parent_task" = "tasks"."task_id" AND c."status" IN ('running', 'orphan'))`;
/** What a saga of an instance that goes on may still have to undo. */
const neededBySaga = sql`("compensate" IS NOT NULL OR "kind" = 'compensation') AND EXISTS (SELECT 1 FROM "instances" AS i WHERE i."id" = "tasks"."instance_id" AND i."ended_at" IS NULL)`;
const plain: Record<PlainRule, Plain> = {
  // I4: never while the message waits.
  answers: {
    table: dedupeResults,
    key: ["scope", "key"],
    age: "at",
    over: empty,
    along: "key",
    needed: stillAwaited,
  },
  "lock-answers": {
    table: lockCommands,
    key: ["key", "scope", "idem"],
    age: "at",
    over: empty,
    along: "key",
  },
  tasks: {
    table: tasks,
    key: ["instanceId", "taskId"],
    age: "endedAt",
    over: sql` AND "lease_until" IS NULL AND NOT (${neededBySaga}) AND NOT ${unfinishedChild}`,
    along: "key",
  },
  "dead-letters": {
    table: deadLetters,
    key: ["instanceId", "messageId"],
    age: "at",
    over: empty,
    along: "age",
  },
  audit: { table: audit, key: ["id"], age: "at", over: empty, along: "age" },
  tombstones: {
    table: instances,
    key: ["id"],
    age: "deletedAt",
    over: sql` AND NOT EXISTS (SELECT 1 FROM "doomed_logs" AS d WHERE d."instance_id" = "instances"."id")`,
    along: "key",
  },
};
