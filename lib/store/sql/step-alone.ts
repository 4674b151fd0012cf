/**
 * One step of one instance in two statements, each a transaction by itself: PostgreSQL's short way for a sender who is alone.
 *
 * Holds: I1 the write takes the row's lock and changes nothing unless seq and incarnation are as they were read, the instance
 *        runs, and no message has come before. Who holds the row is not waited for: the statement's view would be old.
 *        I2 all of it is one statement.
 *        I10 the step's time is one that the database's clock has just passed, or nothing is written.
 */
import type { InstanceRow } from "../instances";
import {
  statusColumns,
  steppedColumns,
  type AloneStep,
  type AloneSteps,
  type FoundForStep,
  type StatesMoved,
} from "../steps";
import type { DatabaseConnection } from "./connection";
import type { Dialect } from "./dialect";
import type { Prepared } from "./statement";
import { columnName, eventLog, instances, type Table } from "./tables";

export function aloneSteps(
  send: NonNullable<DatabaseConnection["alone"]>,
  dialect: Dialect,
  committed: () => void,
): AloneSteps {
  const clock = `floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + (SELECT "offset_ms" FROM "clock")`;
  const read = `SELECT ${instances.all.sql}, ${clock} AS "now", EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = "instances"."id") AS "waiting" FROM "instances" WHERE "id" = $1`;
  const timely = `($4::bigint IS NULL OR ${clock} - $5::bigint BETWEEN 0 AND $4)`;
  const asRead = `"ctid" = (SELECT "ctid" FROM "instances" WHERE "id" = $1 AND "seq" = $2 AND "incarnation" = $3 AND "status" = 'running' AND "session" IS NULL AND NOT EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = $1) AND ${timely} FOR NO KEY UPDATE SKIP LOCKED)`;
  const logNames = Object.keys(eventLog.columns).filter((name) => eventLog.columns[name] !== "change");
  const textOf = (columns: readonly string[], moved: Moved): string => {
    let place = 5;
    const parameter = ({ columns: types }: Table, name: string) => `$${(place += 1)}::${types[name]}`;
    const set = columns.map((name) => `${columnName(name)} = ${parameter(instances, name)}`);
    const entry = logNames.map((name) => parameter(eventLog, name));
    return (
      [
        `WITH mine AS (UPDATE "instances" SET ${set.join(", ")} WHERE ${asRead} RETURNING "id", ${clock} AS "now")`,
        `logged AS (INSERT INTO "event_log" (${[...logNames.map(columnName), '"change_tx"'].join(", ")}) SELECT ${[...entry, dialect.changeTx.sql].join(", ")} FROM mine)`,
        ...movedText(moved, `$${place + 1}`, `$${place + 2}`),
      ].join(", ") + ` SELECT "now" FROM mine`
    );
  };
  const texts = new Map<string, string>();
  const prepared = (columns: readonly string[], moved: Moved): string => {
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
    async write({ before, row, log, moved, lagMaxMs }: AloneStep) {
      const columns = row.status === before.status ? steppedColumns : statusColumns;
      const entry: Record<string, unknown> = { ...log, changeN: 1 };
      const statement: Prepared = {
        text: prepared(columns, howMoved(moved)),
        values: [
          row.id,
          before.seq,
          before.incarnation,
          lagMaxMs,
          row.at,
          ...columns.map((name) => row[name]),
          ...logNames.map((name) => entry[name]),
          ...movedValues(moved),
        ],
      };
      const [written] = await send<{ now: number }>(statement);
      if (!written) return null;
      committed();
      return written.now;
    },
  };
}

/** One state for another, as in most steps: a row renamed costs half of one deleted and one inserted. */
type Moved = "no" | "renamed" | "moved";
const howMoved = (moved: StatesMoved | null): Moved =>
  moved === null ? "no" : moved.left.length === 1 && moved.entered.length === 1 ? "renamed" : "moved";

function movedText(moved: Moved, left: string, entered: string): string[] {
  if (moved === "no") return [];
  const ofMine = `"instance_id" = (SELECT "id" FROM mine)`;
  if (moved === "renamed")
    return [
      `renamed AS (UPDATE "instance_states" SET "state" = ${entered}::text WHERE ${ofMine} AND "state" = ${left}::text)`,
    ];
  return [
    `gone AS (DELETE FROM "instance_states" WHERE ${ofMine} AND "state" = ANY (${left}::text[]))`,
    `come AS (INSERT INTO "instance_states" ("instance_id", "state") SELECT mine."id", s FROM mine, unnest(${entered}::text[]) AS s)`,
  ];
}

const movedValues = (moved: StatesMoved | null): unknown[] =>
  moved === null
    ? []
    : howMoved(moved) === "renamed"
      ? [moved.left[0], moved.entered[0]]
      : [moved.left, moved.entered];
