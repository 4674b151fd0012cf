/**
 * One step of one instance in two statements, each a transaction by itself: PostgreSQL's short way for a sender who is alone.
 *
 * Holds: I1 the write takes the row's lock and changes nothing unless seq and incarnation are as they were read, the instance
 *        runs, and no message has come before. Who holds the row is not waited for: the statement's view would be old.
 *        I2 all of it is one statement.
 */
import type { InstanceRow } from "../instances";
import { steppedColumns, type AloneStep, type AloneSteps, type FoundForStep } from "../steps";
import type { DatabaseConnection } from "./connection";
import type { Dialect } from "./dialect";
import type { Prepared, RowStatement } from "./statement";
import { changingColumns } from "./step-queries";
import { eventLog, insertInto, instances, instanceStates, updateOf } from "./tables";

export function aloneSteps(
  send: NonNullable<DatabaseConnection["alone"]>,
  dialect: Dialect,
  committed: () => void,
): AloneSteps {
  const read = `SELECT ${instances.all.sql}, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + (SELECT "offset_ms" FROM "clock") AS "now", EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = "instances"."id") AS "waiting" FROM "instances" WHERE "id" = $1`;
  const mine = `WITH mine AS (SELECT "id" FROM "instances" WHERE "id" = $1 AND "seq" = $2 AND "incarnation" = $3 AND "status" = 'running' AND "session" IS NULL AND NOT EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = $1) FOR NO KEY UPDATE SKIP LOCKED)`;
  const part = (statement: RowStatement, parameter: number) =>
    statement.text.replace("$1::json", `$${parameter}::json`);
  const ifMine = "EXISTS (SELECT 1 FROM mine)";
  const textOf = (columns: readonly string[], moved: boolean) =>
    [
      `${mine}, stepped AS (${part(updateOf(dialect, instances, ["id"], columns), 4)} AND ${ifMine})`,
      `logged AS (${part(insertInto(dialect, eventLog), 5)} WHERE ${ifMine})`,
      // A state that stays is in both lists, and one statement can't delete and insert one key.
      ...(moved
        ? [
            `gone AS (DELETE FROM "instance_states" WHERE "instance_id" = (SELECT "id" FROM mine) AND "state" NOT IN (SELECT r."state" FROM json_to_recordset($6::json) AS r("state" text)))`,
            `come AS (${part(insertInto(dialect, instanceStates), 6)} WHERE ${ifMine} ON CONFLICT DO NOTHING)`,
          ]
        : []),
    ].join(", ") + ` SELECT count(*) AS "done" FROM mine`;
  const texts = new Map<string, string>();
  const prepared = (wide: boolean, moved: boolean): string => {
    const name = `${wide} ${moved}`;
    let text = texts.get(name);
    if (text === undefined) {
      text = textOf(wide ? changingColumns : steppedColumns, moved);
      texts.set(name, text);
    }
    return text;
  };

  return {
    async find(instanceId) {
      const [found] = await send<InstanceRow & Omit<FoundForStep, "row">>({
        text: read,
        values: [instanceId],
      });
      if (!found) return null;
      const { now, waiting, ...row } = found;
      return { now, waiting, row };
    },
    async write({ before, row, log, states }: AloneStep) {
      const wide = row.status !== before.status;
      const statement: Prepared = {
        text: prepared(wide, states !== null),
        values: [
          row.id,
          before.seq,
          before.incarnation,
          JSON.stringify([row]),
          JSON.stringify([{ ...log, changeN: 1 }]),
          ...(states === null
            ? []
            : [JSON.stringify(states.map((state) => ({ instanceId: row.id, state })))]),
        ],
      };
      const [answer] = await send<{ done: number }>(statement);
      if (answer?.done !== 1) return false;
      committed();
      return true;
    },
  };
}
