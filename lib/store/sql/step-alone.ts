/**
 * One step of one instance in two statements, each a transaction by itself: PostgreSQL's short way for a sender who is alone.
 *
 * Holds: I1 the write takes the row's lock and changes nothing unless seq and incarnation are as they were read, the instance
 *        runs, and no message has come before. Who holds the row is not waited for: the statement's view would be old.
 *        I2 all of it is one statement.
 */
import type { InstanceRow } from "../instances";
import { statusColumns, steppedColumns, type AloneStep, type AloneSteps, type FoundForStep } from "../steps";
import type { DatabaseConnection } from "./connection";
import type { Dialect } from "./dialect";
import type { Prepared } from "./statement";
import { columnName, eventLog, instances, type Table } from "./tables";

export function aloneSteps(
  send: NonNullable<DatabaseConnection["alone"]>,
  dialect: Dialect,
  committed: () => void,
): AloneSteps {
  const read = `SELECT ${instances.all.sql}, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + (SELECT "offset_ms" FROM "clock") AS "now", EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = "instances"."id") AS "waiting" FROM "instances" WHERE "id" = $1`;
  const mine = `WITH mine AS (SELECT "id" FROM "instances" WHERE "id" = $1 AND "seq" = $2 AND "incarnation" = $3 AND "status" = 'running' AND "session" IS NULL AND NOT EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = $1) FOR NO KEY UPDATE SKIP LOCKED)`;
  const logNames = Object.keys(eventLog.columns).filter((name) => eventLog.columns[name] !== "change");
  const textOf = (columns: readonly string[], moved: boolean): string => {
    let place = 3;
    const parameter = ({ columns: types }: Table, name: string) => `$${(place += 1)}::${types[name]}`;
    const set = columns.map((name) => `${columnName(name)} = ${parameter(instances, name)}`);
    const entry = logNames.map((name) => parameter(eventLog, name));
    return (
      [
        `${mine}, stepped AS (UPDATE "instances" SET ${set.join(", ")} WHERE "id" = (SELECT "id" FROM mine))`,
        `logged AS (INSERT INTO "event_log" (${[...logNames.map(columnName), '"change_tx"'].join(", ")}) SELECT ${[...entry, dialect.changeTx.sql].join(", ")} FROM mine)`,
        ...(moved
          ? [
              `gone AS (DELETE FROM "instance_states" WHERE "instance_id" = (SELECT "id" FROM mine) AND "state" = ANY ($${place + 1}::text[]))`,
              `come AS (INSERT INTO "instance_states" ("instance_id", "state") SELECT mine."id", s FROM mine, unnest($${place + 2}::text[]) AS s)`,
            ]
          : []),
      ].join(", ") + ` SELECT count(*) AS "done" FROM mine`
    );
  };
  const texts = new Map<string, string>();
  const prepared = (columns: readonly string[], moved: boolean): string => {
    const name = `${columns.length} ${moved}`;
    let text = texts.get(name);
    if (text === undefined) {
      text = textOf(columns, moved);
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
    async write({ before, row, log, moved }: AloneStep) {
      const columns = row.status === before.status ? steppedColumns : statusColumns;
      const entry: Record<string, unknown> = { ...log, changeN: 1 };
      const statement: Prepared = {
        text: prepared(columns, moved !== null),
        values: [
          row.id,
          before.seq,
          before.incarnation,
          ...columns.map((name) => row[name]),
          ...logNames.map((name) => entry[name]),
          ...(moved ? [moved.left, moved.entered] : []),
        ],
      };
      const [answer] = await send<{ done: number }>(statement);
      if (answer?.done !== 1) return false;
      committed();
      return true;
    },
  };
}
