/**
 * Reading instances: lists, log, snapshots, messages.
 */
import type {
  DeadLetterRow,
  InstanceReads,
  InstanceRow,
  LabelRow,
  LogInput,
  LogLine,
  LogRow,
  Partitions,
  QueuedMessage,
  Runnable,
  SnapshotRow,
} from "../instances";
import type { Reader } from "./connection";
import { filteredInstances } from "./instance-filters";
import { empty, join, sql, type Sql } from "./statement";
import type { Dialect } from "./dialect";
import { dueTimers } from "./timer-queries";
import { deadLetters, eventLog, instanceLabels, instances, mailbox, snapshots } from "./tables";

const without = (columns: object, ...names: string[]): string[] =>
  Object.keys(columns).filter((name) => !names.includes(name));

const listed = instances.pick(...without(instances.columns, "snapshot"));
const logRow = eventLog.pick(...without(eventLog.columns, "changeTx", "changeN"));
const logLine = eventLog.pick(
  ...without(eventLog.columns, "changeTx", "changeN", "input", "patch", "trace", "logs"),
);
const logInput = eventLog.pick(
  ...[
    "seq",
    "incarnation",
    "kind",
    "type",
    "input",
    "at",
    "chartId",
    "version",
    "semantics",
    "stateHash",
    "status",
  ],
);

/** Of the newest entry of that time, null without one. `at` never goes back with seq: snapshots bound what is looked at. */
export function seqAt(instanceId: Sql, at: number): Sql {
  const snapshot = (side: Sql, order: Sql) =>
    sql`(SELECT s."seq" FROM ${snapshots.name} AS s WHERE s."instance_id" = ${instanceId} AND s."at" ${side} ${at} ORDER BY s."seq" ${order} LIMIT 1)`;
  const from = sql`COALESCE(${snapshot(sql`<=`, sql`DESC`)}, 0)`;
  const to = sql`COALESCE(${snapshot(sql`>`, sql`ASC`)}, ${Number.MAX_SAFE_INTEGER})`;
  return sql`(SELECT e."seq" FROM ${eventLog.name} AS e WHERE e."instance_id" = ${instanceId} AND e."at" <= ${at} AND e."seq" >= ${from} AND e."seq" < ${to} ORDER BY e."seq" DESC LIMIT 1)`;
}

export function instanceReads(handle: Reader, dialect: Dialect): InstanceReads {
  async function first<Row>(statement: Sql): Promise<Row | null> {
    const [row] = await handle.query<Row>(statement);
    return row ?? null;
  }
  return {
    findInstance: (instanceId) =>
      first<InstanceRow>(sql`SELECT ${instances.all} FROM ${instances.name} WHERE "id" = ${instanceId}`),

    async listInstances(filter, after, limit) {
      const { from, conditions } = await filteredInstances(handle, dialect, filter);
      if (after) conditions.push(sql`("created_at", "id") < (${after.createdAt}, ${after.id})`);
      return handle.query(
        sql`SELECT ${listed} FROM ${from} WHERE ${join(conditions, " AND ")} ORDER BY "created_at" DESC, "id" DESC LIMIT ${limit}`,
      );
    },

    labelsOf: (instanceIds) =>
      handle.query<LabelRow>(
        sql`SELECT ${instanceLabels.all} FROM ${instanceLabels.name} WHERE "instance_id" IN ${dialect.texts(instanceIds)} ORDER BY "instance_id", "key"`,
      ),

    async countMailbox(instanceId) {
      const row = await first<{ count: number }>(
        sql`SELECT count(*) AS "count" FROM ${mailbox.name} WHERE "instance_id" = ${instanceId}`,
      );
      return row?.count ?? 0;
    },

    listLog: (instanceId, before, limit) =>
      handle.query<LogLine>(
        sql`SELECT ${logLine} FROM ${eventLog.name} WHERE "instance_id" = ${instanceId} AND "seq" < ${before ?? Number.MAX_SAFE_INTEGER} ORDER BY "seq" DESC LIMIT ${limit}`,
      ),

    findLogEntry: (instanceId, seq) =>
      first<LogRow>(
        sql`SELECT ${logRow} FROM ${eventLog.name} WHERE "instance_id" = ${instanceId} AND "seq" = ${seq}`,
      ),

    logInputs: (instanceId, from, to, limit) =>
      handle.query<LogInput>(
        sql`SELECT ${logInput} FROM ${eventLog.name} WHERE "instance_id" = ${instanceId} AND "seq" > ${from} AND "seq" <= ${to} ORDER BY "seq" LIMIT ${limit}`,
      ),

    async seqAt(instanceId, at) {
      const row = await first<{ seq: number | null }>(sql`SELECT ${seqAt(sql`${instanceId}`, at)} AS "seq"`);
      return row?.seq ?? 0;
    },

    snapshotBefore: (instanceId, seq) =>
      first<SnapshotRow>(
        sql`SELECT ${snapshots.all} FROM ${snapshots.name} WHERE "instance_id" = ${instanceId} AND "seq" <= ${seq} ORDER BY "seq" DESC LIMIT 1`,
      ),

    findEntryOfMessage: (instanceId, messageId) =>
      first<LogLine>(
        sql`SELECT ${logLine} FROM ${eventLog.name} WHERE "instance_id" = ${instanceId} AND "message_id" = ${messageId}`,
      ),

    findQueued: (instanceId, messageId) =>
      first<QueuedMessage>(
        sql`SELECT ${mailbox.all} FROM ${mailbox.name} WHERE "instance_id" = ${instanceId} AND "message_id" = ${messageId}`,
      ),

    findDeadLetter: (instanceId, messageId) =>
      first<DeadLetterRow>(
        sql`SELECT ${deadLetters.all} FROM ${deadLetters.name} WHERE "instance_id" = ${instanceId} AND "message_id" = ${messageId}`,
      ),

    listDeadLetters(instanceId, after, limit) {
      const conditions = [sql`1 = 1`];
      if (instanceId !== null) conditions.push(sql`"instance_id" = ${instanceId}`);
      if (after) {
        conditions.push(
          sql`("at", "instance_id", "message_id") < (${after.at}, ${after.instanceId}, ${after.messageId})`,
        );
      }
      return handle.query<DeadLetterRow>(
        sql`SELECT ${deadLetters.all} FROM ${deadLetters.name} WHERE ${join(conditions, " AND ")} ORDER BY "at" DESC, "instance_id" DESC, "message_id" DESC LIMIT ${limit}`,
      );
    },

    async findRunnable(now, after, partitions) {
      const rows = await handle.query<Runnable & { last: string | null; steps: number | null }>(
        runnable(now, after, partitions),
      );
      const end = rows.find(({ steps }) => steps !== null);
      const found = rows.flatMap(({ id, rank, servedAt, steps }) =>
        steps === null ? [{ id, rank, servedAt }] : [],
      );
      // A walk that was not cut off has come to the end: the next begins anew.
      return { found, next: end?.steps === walkMax ? (end.last ?? "") : "" };
    },
  };
}

/**
 * The instances that have something to do, and one row without an id that tells how far the walk came.
 *
 * Each part is a bounded walk along an index: 10,000 messages of one instance must not hide the others. Of partitions, the
 * walk over all mailboxes looks at the others' too and goes on behind them; timers are filtered as they are met. Instances are looked up
 * one by one, in no join: grouping would have SQLite go through all of them in the order of their ids, and PostgreSQL keeps the plan
 * of a time when there were none.
 */
export function runnable(now: number, after: string, partitions: Partitions | undefined): Sql {
  const of = (column: Sql, row: Sql): Sql =>
    sql`(SELECT i.${column} FROM "instances" AS i WHERE i."id" = ${row})`;
  const id = sql`w."id"`;
  const inShare = (row: Sql): Sql =>
    partitions
      ? sql`AND ${of(sql`"partition"`, row)} BETWEEN ${partitions.from} AND ${partitions.to}`
      : empty;
  return sql`WITH RECURSIVE walk("id", "n") AS (
          SELECT (SELECT "instance_id" FROM "mailbox" WHERE "parked" = 0 AND "instance_id" > ${after} ORDER BY "instance_id" LIMIT 1), 1
          UNION ALL
          SELECT (SELECT "instance_id" FROM "mailbox" WHERE "parked" = 0 AND "instance_id" > walk."id" ORDER BY "instance_id" LIMIT 1), "n" + 1 FROM walk WHERE walk."id" IS NOT NULL AND "n" < ${walkMax}
        ), due("id", "rank", "at") AS MATERIALIZED (${dueTimers(now, walkMax, inShare(sql`"timers"."instance_id"`))}), waiting("id", "rank") AS (
          SELECT "instance_id", "rank" FROM (SELECT "instance_id", "rank" FROM "mailbox" WHERE "parked" = 0 ORDER BY "rank" LIMIT ${walkMax}) AS m
          UNION ALL SELECT "id", NULL FROM walk WHERE "id" IS NOT NULL
          UNION ALL SELECT * FROM (SELECT * FROM (SELECT "id", "rank" FROM due ORDER BY "rank" LIMIT ${walkMax}) AS u UNION SELECT * FROM (SELECT "id", "rank" FROM due ORDER BY "at" LIMIT ${longestMax}) AS l) AS t
        ) SELECT w."id" AS "id", min(COALESCE(w."rank", ${of(sql`"rank"`, id)})) AS "rank", ${of(sql`"at"`, id)} AS "servedAt", NULL AS "last", NULL AS "steps" FROM waiting AS w WHERE ${of(sql`"id"`, id)} = w."id" ${inShare(id)} GROUP BY w."id" UNION ALL SELECT NULL, NULL, NULL, (SELECT max("id") FROM walk), (SELECT count("id") FROM walk)`;
}

/** Of each kind of candidate at most this many are looked at in one call. */
const walkMax = 256;
/** Of due timers beside them, whatever their rank: what a claim that heeds no priority has to choose from. */
const longestMax = 64;
