/**
 * Statements of instances' concurrency keys.
 *
 * Holds: lock order: the instance's row, then the key's. Taking or touching a key's row holds it, so that whoever frees it
 *        meanwhile finds us in line.
 */
import type { ConcurrencyReads, ConcurrencyTransaction, KeyName } from "../concurrency";
import type { KeyRow } from "../tasks";
import type { StepWrites } from "../steps";
import type { Reader } from "./connection";
import type { Dialect } from "./dialect";
import { sql, type Handle, type Sql } from "./statement";
import { concurrencyKeys, concurrencyWaits, deleteFrom, insertInto, updateOf } from "./tables";

/** In place of a task: the instance itself has the key. */
const noTask = "";

const line = ({ scope, key }: KeyName): Sql =>
  sql`SELECT "instance_id" AS "instanceId" FROM ${concurrencyWaits.name} WHERE "scope" = ${scope} AND "key" = ${key} ORDER BY "since", "instance_id" LIMIT 1`;

export function concurrencyReads(handle: Reader): ConcurrencyReads {
  return {
    async firstInLine(key) {
      const [first] = await handle.query<{ instanceId: string }>(line(key));
      return first?.instanceId ?? null;
    },
  };
}

export function concurrencyTransaction(handle: Handle, dialect: Dialect): ConcurrencyTransaction {
  const ofKey = ({ scope, key }: KeyName) => sql`WHERE "scope" = ${scope} AND "key" = ${key}`;
  const held = async (key: KeyName, lock: Sql): Promise<KeyRow | undefined> => {
    const [row] = await handle.query<KeyRow>(
      sql`SELECT ${concurrencyKeys.all} FROM ${concurrencyKeys.name} ${ofKey(key)} ${lock}`,
    );
    return row;
  };
  const first = async (key: KeyName): Promise<string | undefined> =>
    (await handle.query<{ instanceId: string }>(line(key)))[0]?.instanceId;
  return {
    async takeKey({ scope, key }, instanceId, since) {
      const touch = `ON CONFLICT ("scope", "key") DO UPDATE SET "since" = "concurrency_keys"."since"`;
      const wanted: KeyRow = { scope, key, instanceId, taskId: noTask, since, free: 0 };
      handle.postRows(insertInto(dialect, concurrencyKeys, touch), [wanted]);
      const row = await held({ scope, key }, dialect.forUpdate);
      if (row?.free === 0 && row.instanceId === instanceId && row.taskId === noTask) return true;
      handle.postRows(insertInto(dialect, concurrencyWaits), [{ scope, key, since, instanceId }]);
      return false;
    },
    async passKey({ scope, key }, instanceId, now) {
      const row = await held({ scope, key }, dialect.forUpdate);
      if (row?.free !== 1 || (await first({ scope, key })) !== instanceId) return false;
      handle.postRows(deleteFrom(dialect, concurrencyWaits, ["instanceId"]), [{ instanceId }]);
      handle.postRows(
        updateOf(dialect, concurrencyKeys, ["scope", "key"], ["instanceId", "taskId", "since", "free"]),
        [{ scope, key, instanceId, taskId: noTask, since: now, free: 0 }],
      );
      return true;
    },
    async dropKey({ scope, key }) {
      const row = await held({ scope, key }, dialect.forUpdate);
      if (row?.free !== 1 || (await first({ scope, key })) !== undefined) return;
      handle.postRows(deleteFrom(dialect, concurrencyKeys, ["scope", "key"]), [{ scope, key }]);
    },
  };
}

/** A step's part: instances that are under way no more, or were in line. */
export function writeStepConcurrency(
  handle: Handle,
  dialect: Dialect,
  { keysLeft, emptied }: Pick<StepWrites, "keysLeft" | "emptied">,
): void {
  if (keysLeft.length > 0) {
    const rows = keysLeft.map((instanceId) => ({ instanceId, taskId: noTask, free: 1 }));
    handle.postRows(updateOf(dialect, concurrencyKeys, ["instanceId", "taskId"], ["free"]), rows);
  }
  const gone = [...keysLeft, ...emptied].map((instanceId) => ({ instanceId }));
  if (gone.length > 0) handle.postRows(deleteFrom(dialect, concurrencyWaits, ["instanceId"]), gone);
}
