/**
 * The hot path's statements, each over a whole batch.
 *
 * Holds: I1 the row lock (PostgreSQL: FOR NO KEY UPDATE; SQLite: the write lock) comes before the mailbox is read.
 *        I2 writeSteps runs inside the caller's transaction, nothing in it commits alone.
 */
import { must } from "@/lib/base/assert";
import type { DedupeRow, InstanceRow, QueuedMessage } from "../instances";
import { instanceExists, type StepTransaction, type StepWrites } from "../steps";
import { join, raw, sql, type Handle } from "./connection";
import type { Dialect } from "./dialect";
import {
  deadLetters,
  dedupeResults,
  deleteRows,
  eventLog,
  insertRows,
  instanceLabels,
  instances,
  instanceStates,
  mailbox,
  snapshots,
  timers,
  updateRows,
} from "./tables";

export function stepTransaction(handle: Handle, dialect: Dialect, nextN: () => number): StepTransaction {
  return {
    lockInstances: (instanceIds, options) =>
      handle.query<InstanceRow>(
        sql`SELECT ${instances.all} FROM ${instances.name} WHERE "id" IN ${dialect.texts(instanceIds)} ORDER BY "id" ${options?.skipBusy ? dialect.forNoKeyUpdateSkipLocked : dialect.forNoKeyUpdate}`,
      ),

    async readMailboxes(instanceIds, limitEach) {
      if (instanceIds.length === 1) {
        return handle.query<QueuedMessage>(
          sql`SELECT ${mailbox.all} FROM ${mailbox.name} WHERE "instance_id" = ${must(instanceIds[0], "one id")} ORDER BY "enqueued_tx", "enqueued_n" LIMIT ${limitEach}`,
        );
      }
      const names = Object.keys(mailbox.columns).map((name) => raw(`"${name}"`));
      return handle.query<QueuedMessage>(
        sql`SELECT ${join(names)} FROM (SELECT ${mailbox.all}, row_number() OVER (PARTITION BY "instance_id" ORDER BY "enqueued_tx", "enqueued_n") AS "place" FROM ${mailbox.name} WHERE "instance_id" IN ${dialect.texts(instanceIds)}) AS m WHERE "place" <= ${limitEach} ORDER BY "instanceId", "place"`,
      );
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
      const conflict = sql`ON CONFLICT ("scope", "key") DO NOTHING`;
      if ((await insertRows(handle, dialect, dedupeResults, [row], conflict)) === 1) return null;
      const [found] = await handle.query<DedupeRow>(
        sql`SELECT ${dedupeResults.all} FROM ${dedupeResults.name} WHERE "scope" = ${row.scope} AND "key" = ${row.key}`,
      );
      return must(found, "a conflicting row is there");
    },

    writeSteps: (writes) => writeSteps(handle, dialect, nextN, writes),
  };
}

/** What a step may change of an existing instance. */
const steppedColumns = Object.keys(instances.columns).filter((name) => !["id", "partition"].includes(name));

async function writeSteps(
  handle: Handle,
  dialect: Dialect,
  nextN: () => number,
  writes: StepWrites,
): Promise<void> {
  const revived = steppedColumns
    .map((name) => instanceColumn(name))
    .map((name) => `${name} = excluded.${name}`);
  const inserted = await insertRows(
    handle,
    dialect,
    instances,
    writes.created,
    // Only a tombstone may be written over.
    sql`ON CONFLICT ("id") DO UPDATE SET ${raw(revived.join(", "))} WHERE "instances"."deleted_at" IS NOT NULL`,
  );
  const [first] = writes.created;
  if (first && inserted < writes.created.length) throw instanceExists(first.id);
  await updateRows(handle, dialect, instances, ["id"], steppedColumns, writes.stepped);
  // A tombstone's labels stay until its id is used again.
  const created = writes.created.map((row) => ({ instanceId: row.id }));
  await deleteRows(handle, dialect, instanceLabels, ["instanceId"], created);
  await insertRows(handle, dialect, instanceLabels, writes.labels);
  await deleteRows(handle, dialect, instanceStates, ["instanceId"], writes.configurations);
  await insertRows(
    handle,
    dialect,
    instanceStates,
    writes.configurations.flatMap(({ instanceId, states }) => states.map((state) => ({ instanceId, state }))),
  );
  await insertRows(
    handle,
    dialect,
    eventLog,
    writes.log.map((row) => ({ ...row, changeN: nextN() })),
  );
  await insertRows(handle, dialect, snapshots, writes.snapshots);
  await deleteRows(handle, dialect, mailbox, ["instanceId", "enqueuedTx", "enqueuedN"], writes.consumed);
  await buryMailboxes(handle, dialect, writes.ended);
  const emptied = [...writes.emptied, ...writes.ended.map((each) => each.instanceId)].map((instanceId) => ({
    instanceId,
  }));
  await deleteRows(handle, dialect, mailbox, ["instanceId"], emptied);
  await deleteRows(handle, dialect, timers, ["instanceId"], emptied);
  await deleteRows(handle, dialect, timers, ["instanceId", "timerId"], writes.cancelled);
  await insertRows(
    handle,
    dialect,
    timers,
    writes.armed,
    sql`ON CONFLICT ("instance_id", "timer_id") DO UPDATE SET "incarnation" = excluded."incarnation", "due_at" = excluded."due_at", "kind" = excluded."kind", "state" = excluded."state", "label" = excluded."label"`,
  );
  await insertRows(
    handle,
    dialect,
    mailbox,
    writes.enqueued.map((row) => ({ ...row, enqueuedN: nextN() })),
  );
  await insertRows(handle, dialect, deadLetters, writes.deadLetters);
  await insertRows(handle, dialect, dedupeResults, writes.dedupe);
  await updateRows(handle, dialect, dedupeResults, ["scope", "key"], ["result", "at"], writes.answered);
}

/** Also those that the step did not read: a mailbox may be longer than a turn. */
async function buryMailboxes(handle: Handle, dialect: Dialect, ended: StepWrites["ended"]): Promise<void> {
  if (ended.length === 0) return;
  const rows = dialect.records(ended, { instanceId: "text", at: "bigint", reason: "text" });
  const names = raw(Object.keys(deadLetters.columns).map(instanceColumn).join(", "));
  const kept = mailbox.pick(
    ...Object.keys(deadLetters.columns).filter((name) => name !== "at" && name !== "reason"),
  );
  await handle.execute(
    sql`INSERT INTO ${deadLetters.name} (${names}) SELECT ${kept}, r."at", r."reason" FROM ${mailbox.name} JOIN ${rows} ON r."instanceId" = ${mailbox.name}."instance_id"`,
  );
}

const instanceColumn = (name: string): string =>
  `"${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;
