/**
 * Statements of instances' concurrency keys.
 *
 * Holds: lock order: instances' rows, tasks', then the key's. Taking or touching a key's row holds it, so that whoever frees
 *        it meanwhile finds us in line.
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

type Place = Pick<StandsInLine, "instanceId" | "then">;
interface StandsInLine extends KeyName {
  since: number;
  instanceId: string;
  then: string;
}

const line = ({ scope, key }: KeyName): Sql =>
  sql`SELECT ${concurrencyWaits.pick("instanceId", "then")} FROM ${concurrencyWaits.name} WHERE "scope" = ${scope} AND "key" = ${key} ORDER BY "since", "instance_id" LIMIT 1`;

export function concurrencyReads(handle: Reader): ConcurrencyReads {
  return {
    async firstInLine(key) {
      const [first] = await handle.query<Place>(line(key));
      return first?.instanceId ?? null;
    },
  };
}

export function concurrencyTransaction(handle: Handle, dialect: Dialect): ConcurrencyTransaction {
  const hold = async ({ scope, key }: KeyName): Promise<KeyRow | undefined> => {
    const [row] = await handle.query<KeyRow>(
      sql`SELECT ${concurrencyKeys.all} FROM ${concurrencyKeys.name} WHERE "scope" = ${scope} AND "key" = ${key} ${dialect.forUpdate}`,
    );
    return row;
  };
  const first = async (key: KeyName): Promise<Place | undefined> => (await handle.query<Place>(line(key)))[0];
  const give = ({ scope, key }: KeyName, instanceId: string, since: number): void =>
    handle.postRows(
      updateOf(dialect, concurrencyKeys, ["scope", "key"], ["instanceId", "taskId", "since", "free"]),
      [{ scope, key, instanceId, taskId: noTask, since, free: 0 }],
    );
  return {
    async takeKey({ scope, key }, instanceId, since, then) {
      const touch = `ON CONFLICT ("scope", "key") DO UPDATE SET "since" = "concurrency_keys"."since"`;
      const wanted: KeyRow = { scope, key, instanceId, taskId: noTask, since, free: 0 };
      handle.postRows(insertInto(dialect, concurrencyKeys, touch), [wanted]);
      const row = await hold({ scope, key });
      if (row?.free === 0 && row.instanceId === instanceId && row.taskId === noTask) return true;
      if (row?.free === 1 && (await first({ scope, key })) === undefined) {
        give({ scope, key }, instanceId, since);
        return true;
      }
      const place: StandsInLine = { scope, key, since, instanceId, then };
      handle.postRows(insertInto(dialect, concurrencyWaits), [place]);
      return false;
    },
    async passKey(key, instanceId, now) {
      const row = await hold(key);
      const next = row?.free === 1 ? await first(key) : undefined;
      if (next?.instanceId !== instanceId) return null;
      handle.postRows(deleteFrom(dialect, concurrencyWaits, ["instanceId"]), [{ instanceId }]);
      give(key, instanceId, now);
      return next.then;
    },
    async dropKey(key) {
      const row = await hold(key);
      if (row?.free !== 1 || (await first(key)) !== undefined) return;
      const { scope, key: name } = key;
      handle.postRows(deleteFrom(dialect, concurrencyKeys, ["scope", "key"]), [{ scope, key: name }]);
    },
  };
}

/** A step's part: instances that are under way no more, or were in line. */
export async function writeStepConcurrency(
  handle: Handle,
  dialect: Dialect,
  { keysLeft, emptied }: Pick<StepWrites, "keysLeft" | "emptied">,
): Promise<void> {
  if (keysLeft.length > 0) {
    // In one order by all: an UPDATE takes them as they come.
    await handle.query(
      sql`SELECT "key" FROM ${concurrencyKeys.name} WHERE "instance_id" IN ${dialect.texts(keysLeft)} AND "task_id" = ${noTask} ORDER BY "scope"${dialect.byBytes}, "key"${dialect.byBytes} ${dialect.forUpdate}`,
    );
    const rows = keysLeft.map((instanceId) => ({ instanceId, taskId: noTask, free: 1 }));
    handle.postRows(updateOf(dialect, concurrencyKeys, ["instanceId", "taskId"], ["free"]), rows);
  }
  const gone = [...keysLeft, ...emptied].map((instanceId) => ({ instanceId }));
  if (gone.length > 0) handle.postRows(deleteFrom(dialect, concurrencyWaits, ["instanceId"]), gone);
}
