/**
 * The hot path's statements, each over a whole batch.
 *
 * Holds: I1 the row lock (PostgreSQL: FOR NO KEY UPDATE; SQLite: the write lock) comes before the mailbox is read.
 *        I2 writeSteps runs inside the caller's transaction, nothing in it commits alone.
 */
import { must } from "@/lib/base/assert";
import type { DeadLetterRow, DedupeRow, InstanceRow, QueuedMessage } from "../instances";
import {
  instanceExists,
  statusColumns,
  steppedColumns,
  type StepTransaction,
  type StepWrites,
} from "../steps";
import { join, raw, sql, type Handle, type RowStatement, type Sql } from "./statement";
import type { Dialect } from "./dialect";
import { writeStepChildren } from "./child-queries";
import { writeStepConcurrency } from "./concurrency-queries";
import { writeStepTasks } from "./task-queries";
import {
  columnName,
  deadLetters,
  dedupeResults,
  deleteFrom,
  eventLog,
  insertInto,
  insertRows,
  instanceFields,
  instanceLabels,
  instances,
  instanceStates,
  mailbox,
  renameOf,
  snapshots,
  timers,
  updateOf,
  type Table,
} from "./tables";

/** Per instance in mailbox order. */
function mailboxesOf(dialect: Dialect, instanceIds: readonly string[], limitEach: number): Sql {
  if (instanceIds.length === 1) {
    return sql`SELECT ${mailbox.all} FROM ${mailbox.name} WHERE "instance_id" = ${must(instanceIds[0], "one id")} ORDER BY "enqueued_tx", "enqueued_n" LIMIT ${limitEach}`;
  }
  return sql`SELECT ${mailboxNames} FROM (SELECT ${mailbox.all}, row_number() OVER (PARTITION BY "instance_id" ORDER BY "enqueued_tx", "enqueued_n") AS "place" FROM ${mailbox.name} WHERE "instance_id" IN ${dialect.texts(instanceIds)}) AS m WHERE "place" <= ${limitEach} ORDER BY "instanceId", "place"`;
}
const mailboxNames = join(Object.keys(mailbox.columns).map((name) => raw(`"${name}"`)));

/** Each looked up by itself, as where they are found (instance-queries): one plan, whatever is in the tables. */
export function claimable(dialect: Dialect, instanceIds: readonly string[], now: number, limit: number): Sql {
  const id = sql`"instances"."id"`;
  const waits = sql`(SELECT "instance_id" FROM "mailbox" WHERE "parked" = 0 AND "instance_id" = ${id} ORDER BY "instance_id" LIMIT 1) IS NOT NULL`;
  // "+ 0": an instance has few timers, of those that wait there are many.
  const isDue = sql`(SELECT 1 FROM "timers" WHERE "instance_id" = ${id} AND "parked" + 0 = 0 AND "due_at" <= ${now} LIMIT 1) IS NOT NULL`;
  return sql`SELECT ${id} AS "id" FROM ${dialect.placed(instanceIds)} CROSS JOIN "instances" WHERE ${id} = p."text" AND (${waits} OR ${isDue}) ORDER BY p."place" LIMIT ${limit} ${dialect.forNoKeyUpdateSkipLocked}`;
}

/** A row in which these are the same is the same: whatever else changes makes an entry, or a new life. */
const marksOfState = instances.pick("id", "seq", "incarnation", "status", "session");
const isSame = (mark: InstanceRow, known: InstanceRow | undefined): boolean =>
  known !== undefined &&
  mark.seq === known.seq &&
  mark.incarnation === known.incarnation &&
  mark.status === known.status &&
  mark.session === known.session;

function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  const first: T[] = [];
  const second: T[] = [];
  for (const one of all) (isFirst(one) ? first : second).push(one);
  return [first, second];
}

export function stepTransaction(
  handle: Handle,
  dialect: Dialect,
  nextN: () => number,
  now: () => Promise<number>,
): StepTransaction {
  const lockNow = (instanceIds: readonly string[], columns: Sql = instances.all) =>
    handle.query<InstanceRow>(
      sql`SELECT ${columns} FROM ${instances.name} WHERE "id" IN ${dialect.texts(instanceIds)} ${dialect.forNoKeyUpdateSkipLocked}`,
    );
  return {
    lockInstances: (instanceIds, options) =>
      handle.query<InstanceRow>(
        sql`SELECT ${instances.all} FROM ${instances.name} WHERE "id" IN ${dialect.texts(instanceIds)} ORDER BY "id" ${options?.skipBusy ? dialect.forNoKeyUpdateSkipLocked : dialect.forNoKeyUpdate}`,
      ),

    async lockKnown(instanceIds, known) {
      const [remembered, others] = split(instanceIds, (id) => known.has(id));
      // Nobody waits here, so two statements can't lock in a wrong order.
      const [marks, rows] = await Promise.all([
        remembered.length > 0 ? lockNow(remembered, marksOfState) : [],
        others.length > 0 ? lockNow(others) : [],
      ]);
      const [same, changed] = split(marks, (mark) => isSame(mark, known.get(mark.id)));
      const again = changed.length > 0 ? await lockNow(changed.map(({ id }) => id)) : [];
      return [...same.map(({ id }) => must(known.get(id), "it is known")), ...rows, ...again];
    },

    async claimInstances(instanceIds, now, limit) {
      const rows = await handle.query<{ id: string }>(claimable(dialect, instanceIds, now, limit));
      return rows.map(({ id }) => id);
    },

    readMailboxes: (instanceIds, limitEach) => handle.query(mailboxesOf(dialect, instanceIds, limitEach)),

    async readWaiting(instanceIds, limitEach) {
      const mailboxes = mailboxesOf(dialect, instanceIds, limitEach);
      if (dialect.provider === "sqlite") return { now: await now(), messages: await handle.query(mailboxes) };
      // One statement, so one answer: the time comes also when no message waits.
      const rows = await handle.query<QueuedMessage & { now: number }>(
        sql`SELECT m.*, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + c."offset_ms" AS "now" FROM "clock" AS c LEFT JOIN (${mailboxes}) AS m ON true ORDER BY m."instanceId", m."enqueuedTx", m."enqueuedN"`,
      );
      return {
        now: must(rows[0], "the clock has its row").now,
        messages: rows.filter((row) => (row.messageId as string | null) !== null),
      };
    },

    async findAnswers(keys) {
      if (keys.length === 0) return [];
      return handle.query<DedupeRow>(
        sql`SELECT ${dedupeResults.all} FROM ${dedupeResults.name} WHERE ("scope", "key") IN (SELECT r."scope", r."key" FROM ${dialect.records(keys, { scope: "text", key: "text" })})`,
      );
    },

    async incarnationsOf(instanceIds) {
      if (instanceIds.length === 0) return [];
      return handle.query(
        sql`SELECT ${instances.pick("id", "incarnation", "status", "deletedAt")} FROM ${instances.name} WHERE "id" IN ${dialect.texts(instanceIds)}`,
      );
    },

    async claimAnswer(row) {
      const conflict = `ON CONFLICT ("scope", "key") DO NOTHING`;
      if ((await insertRows(handle, dialect, dedupeResults, [row], conflict)) === 1) return null;
      const [found] = await handle.query<DedupeRow>(
        sql`SELECT ${dedupeResults.all} FROM ${dedupeResults.name} WHERE "scope" = ${row.scope} AND "key" = ${row.key}`,
      );
      return must(found, "a conflicting row is there");
    },

    async retireDeadLetter(instanceId, messageId, retriedAs) {
      const retired = await handle.execute(
        sql`UPDATE ${deadLetters.name} SET "retried_as" = ${retriedAs} WHERE "instance_id" = ${instanceId} AND "message_id" = ${messageId} AND "retried_as" IS NULL`,
      );
      if (retired > 0) return null;
      const [dead] = await handle.query<Pick<DeadLetterRow, "retriedAs">>(
        sql`SELECT ${deadLetters.pick("retriedAs")} FROM ${deadLetters.name} WHERE "instance_id" = ${instanceId} AND "message_id" = ${messageId}`,
      );
      return dead?.retriedAs ?? null;
    },

    writeSteps: (writes) => writeSteps(handle, dialect, nextN, writes),
  };
}

/** What a step leaves as it was need not travel. */
const steppedPart = (row: InstanceRow) => ({
  id: row.id,
  seq: row.seq,
  at: row.at,
  rank: row.rank,
  configuration: row.configuration,
  snapshot: row.snapshot,
  stateHash: row.stateHash,
  snapshotSeq: row.snapshotSeq,
  logBytes: row.logBytes,
  lastEvent: row.lastEvent,
  updatedAt: row.updatedAt,
});
const restatedPart = (row: InstanceRow) => ({
  ...steppedPart(row),
  status: row.status,
  errorCode: row.errorCode,
  errorMessage: row.errorMessage,
  endedAt: row.endedAt,
});

/** What may change of an existing instance. */
const changingColumns = Object.keys(instances.columns).filter((name) => !["id", "partition"].includes(name));
/** Only the tombstone that was read may be written over: one that came to be meanwhile has had a life of its own. */
const overTombstone = `ON CONFLICT ("id") DO UPDATE SET ${changingColumns
  .map((name) => `${columnName(name)} = excluded.${columnName(name)}`)
  .join(
    ", ",
  )} WHERE "instances"."deleted_at" IS NOT NULL AND "instances"."incarnation" = excluded."incarnation"`;
const rearm = `ON CONFLICT ("instance_id", "timer_id") DO UPDATE SET ${[
  "incarnation",
  "dueAt",
  "kind",
  "state",
  "label",
  "priority",
  "parked",
]
  .map((name) => `${columnName(name)} = excluded.${columnName(name)}`)
  .join(", ")}`;

const overField = `ON CONFLICT ("instance_id", "field") DO UPDATE SET "value" = excluded."value"`;

/** Everything is sent without waiting; what fails fails the COMMIT. */
export async function writeSteps(
  handle: Handle,
  dialect: Dialect,
  nextN: () => number,
  writes: StepWrites,
): Promise<void> {
  const insert = (table: Table, rows: readonly object[], onConflict?: string) => {
    if (rows.length > 0) handle.postApart(insertInto(dialect, table, onConflict), rows);
  };
  const update = (table: Table, key: readonly string[], set: readonly string[], rows: readonly object[]) => {
    if (rows.length > 0) handle.postApart(updateOf(dialect, table, key, set), rows);
  };
  const remove = (table: Table, key: readonly string[], rows: readonly object[]) => {
    if (rows.length > 0) handle.postApart(deleteFrom(dialect, table, key), rows);
  };
  const park = (instanceIds: readonly string[], parked: number) => {
    const rows = instanceIds.map((instanceId) => ({ instanceId, parked }));
    for (const table of [mailbox, timers]) update(table, ["instanceId"], ["parked"], rows);
  };

  const inserted = await insertRows(handle, dialect, instances, writes.created, overTombstone);
  const [first] = writes.created;
  if (first && inserted < writes.created.length) throw instanceExists(first.id);
  // First what goes, then what comes: each half is one statement on PostgreSQL.
  // Row by row only what is named is taken.
  const part = <Part>(rows: InstanceRow[], partOf: (row: InstanceRow) => Part) =>
    dialect.rowsTable(instances.columns) === null ? rows : rows.map(partOf);
  update(instances, ["id"], steppedColumns, part(writes.stepped, steppedPart));
  // A tombstone's labels stay until its id is used again.
  remove(
    instanceLabels,
    ["instanceId"],
    writes.created.map((row) => ({ instanceId: row.id })),
  );
  const states = statesMoved(writes.configurations);
  if (states.renamed.length > 0)
    handle.postApart(renameOf(dialect, instanceStates, ["instanceId"], "state"), states.renamed);
  remove(instanceStates, ["instanceId", "state"], states.left);
  remove(mailbox, ["instanceId", "enqueuedTx", "enqueuedN"], writes.consumed);
  remove(timers, ["instanceId", "timerId"], writes.cancelled);
  // Also what the step did not read: a mailbox may be longer than a turn.
  if (writes.ended.length > 0) {
    handle.postRows(buryMailboxes(dialect), writes.ended);
    handle.postRows(removeBuried(dialect), writes.ended);
  }
  const emptied = writes.emptied.map((instanceId) => ({ instanceId }));
  remove(mailbox, ["instanceId"], emptied);
  remove(instanceFields, ["instanceId", "field"], writes.fieldsCleared);
  const replaced = writes.fieldsReplaced.map((instanceId) => ({ instanceId }));
  remove(instanceFields, ["instanceId"], [...emptied, ...replaced]);
  remove(timers, ["instanceId"], [...emptied, ...writes.ended.map(({ instanceId }) => ({ instanceId }))]);
  park(writes.parked, 1);
  park(writes.unparked, 0);
  await writeStepTasks(handle, dialect, writes);
  await writeStepConcurrency(handle, dialect, writes);
  writeStepChildren(handle, dialect, writes);
  update(instances, ["id"], statusColumns, part(writes.restated, restatedPart));
  update(instances, ["id"], changingColumns, writes.changed);
  insert(instanceLabels, writes.labels);
  insert(instanceFields, writes.fieldsSet, overField);
  insert(instanceStates, states.entered);
  insert(
    eventLog,
    writes.log.map((row) => ({ ...row, changeN: nextN() })),
  );
  insert(snapshots, writes.snapshots);
  // After parking: what is armed now is looked at when it is due, whatever else waits.
  insert(
    timers,
    writes.armed.map((row) => ({ ...row, parked: 0 })),
    rearm,
  );
  insert(
    mailbox,
    writes.enqueued.map((row) => ({ ...row, enqueuedN: nextN(), parked: 0 })),
  );
  insert(deadLetters, writes.deadLetters);
  insert(dedupeResults, writes.dedupe);
  update(dedupeResults, ["scope", "key"], ["result", "at"], writes.answered);
}

/** A state left and one entered share a row: in most steps that is all there is. */
function statesMoved(configurations: StepWrites["configurations"]) {
  const renamed: { instanceId: string; from: string; to: string }[] = [];
  const left: { instanceId: string; state: string }[] = [];
  const entered: { instanceId: string; state: string }[] = [];
  for (const { instanceId, ...moved } of configurations) {
    const shared = Math.min(moved.left.length, moved.entered.length);
    for (const [place, to] of moved.entered.entries()) {
      const from = moved.left[place];
      if (from === undefined) entered.push({ instanceId, state: to });
      else renamed.push({ instanceId, from, to });
    }
    for (const state of moved.left.slice(shared)) left.push({ instanceId, state });
  }
  return { renamed, left, entered };
}

/** What came after the burial waits, and the next turn buries it: who puts a message into a mailbox holds no instance. */
function removeBuried(dialect: Dialect): RowStatement {
  const rows = dialect.rowsTable({ instanceId: "text" });
  const box = mailbox.name.sql;
  return {
    table: box,
    text: `DELETE FROM ${box} ${rows === null ? "" : `USING ${rows}`} WHERE ${box}."instance_id" = ${dialect.cell("instanceId")} AND EXISTS (SELECT 1 FROM ${deadLetters.name.sql} AS d WHERE d."instance_id" = ${box}."instance_id" AND d."message_id" = ${box}."message_id")`,
  };
}

/** What lies in a mailbox becomes dead letters. */
function buryMailboxes(dialect: Dialect): RowStatement {
  const taken = Object.keys(deadLetters.columns).filter((name) => name in mailbox.columns);
  const names = [...taken, "at", "reason"].map(columnName).join(", ");
  const rows = dialect.rowsTable({ instanceId: "text", at: "bigint", reason: "text" });
  const from = `${mailbox.name.sql}${rows === null ? "" : `, ${rows}`}`;
  return {
    table: deadLetters.name.sql,
    text: `INSERT INTO ${deadLetters.name.sql} (${names}) SELECT ${mailbox.pick(...taken).sql}, ${dialect.cell("at")}, ${dialect.cell("reason")} FROM ${from} WHERE ${mailbox.name.sql}."instance_id" = ${dialect.cell("instanceId")}`,
  };
}
