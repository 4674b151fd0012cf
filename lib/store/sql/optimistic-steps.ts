/**
 * Steps without a transaction held open: one read, and one write of any number of steps that leaves out those that were
 * overtaken. PostgreSQL alone: each statement is a transaction by itself.
 *
 * Holds: I1 the write takes each row's lock and changes nothing of it unless seq and incarnation are as they were read, the
 *        instance runs, and no message has come before. Who holds a row is not waited for: the statement's view would be old.
 *        I2 all of a step is in the one statement.
 *        I10 a step's time is one that the database's clock has just passed, or it is not written.
 */
import { must } from "@/lib/base/assert";
import type { InstanceRow } from "../instances";
import {
  statusColumns,
  type FoundForStep,
  type OptimisticStep,
  type OptimisticSteps,
  type StatesMoved,
} from "../steps";
import type { DatabaseConnection } from "./connection";
import type { Dialect } from "./dialect";
import { columnName, eventLog, instances } from "./tables";

export function optimisticSteps(
  send: NonNullable<DatabaseConnection["alone"]>,
  dialect: Dialect,
  committed: () => void,
): OptimisticSteps {
  const clock = `floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + (SELECT "offset_ms" FROM "clock")`;
  const read = `SELECT ${instances.all.sql}, ${clock} AS "now", EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = "instances"."id") AS "waiting" FROM "instances" WHERE "id" = $1`;
  const text = (source: Source) => ({
    renames: writeText(clock, dialect, source, "renames"),
    any: writeText(clock, dialect, source, "any"),
  });
  const texts = { one: text("one"), many: text("many") };
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
    async write(steps, lagMaxMs) {
      const moves = steps.every(({ moved }) => moved === null || isRename(moved)) ? "renames" : "any";
      const records = steps.map(recordOf);
      const [only, more] = records;
      const values =
        only && !more ? recordTypes.map(([name]) => parameterOf(only[name])) : [JSON.stringify(records)];
      const [end] = await send<{ now: number; count: number; ids: string[] | null }>({
        text: texts[more ? "many" : "one"][moves],
        values: [steps.length, lagMaxMs, ...values],
      });
      if (!end || end.count === 0) return { now: end?.now ?? 0, written: [] };
      committed();
      return { now: end.now, written: end.ids ?? steps.map(({ row }) => row.id) };
    },
  };
}

/** What travels of a log entry: the rest is its instance's. */
const entryColumns = [
  "kind",
  "input",
  "actor",
  "cause",
  "messageId",
  "outcome",
  "reason",
  "exited",
  "entered",
  "patch",
  "trace",
  "logs",
  "errorCode",
  "errorMessage",
] as const;
const instanceColumns = ["id", "incarnation", ...statusColumns] as const;

/** A step as it travels: columns by short names, for each is in every record. */
const ofInstance = instanceColumns.map((name, at) => ({ name, as: `i${at}`, type: instances.columns[name] }));
const ofEntry = entryColumns.map((name, at) => ({ name, as: `e${at}`, type: eventLog.columns[name] }));
const ofMove = [
  ["from", "text"],
  ["to", "text"],
  ["left", "json"],
  ["come", "json"],
] as const;
const recordTypes = [...[...ofInstance, ...ofEntry].map(({ as, type }) => [as, type] as const), ...ofMove];

function recordOf({ row, log, moved }: OptimisticStep): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  // What is left out is NULL there.
  for (const { name, as } of ofInstance) record[as] = row[name] ?? undefined;
  for (const { name, as } of ofEntry) record[as] = log[name] ?? undefined;
  if (moved !== null && isRename(moved)) {
    record["from"] = moved.left[0];
    record["to"] = moved.entered[0];
  } else if (moved !== null) {
    record["left"] = moved.left;
    record["come"] = moved.entered;
  }
  return record;
}

/** One state for another, as in most steps: a row renamed costs half of one deleted and one inserted. */
type Moves = "renames" | "any";
const isRename = ({ left, entered }: StatesMoved): boolean => left.length === 1 && entered.length === 1;

/** The driver would make an array of PostgreSQL's of one. */
const parameterOf = (value: unknown): unknown => (Array.isArray(value) ? JSON.stringify(value) : value);

/** One step's columns are parameters: a quarter less work for the server than JSON. */
type Source = "one" | "many";
const sources: Record<Source, string> = {
  one: `(SELECT ${recordTypes.map(([name, type], at) => `$${at + 3}::${type} AS "${name}"`).join(", ")}, 1 AS "n") AS r`,
  many: `ROWS FROM (json_to_recordset($3::json) AS (${recordTypes.map(([name, type]) => `"${name}" ${type}`).join(", ")})) WITH ORDINALITY AS r(${recordTypes.map(([name]) => `"${name}"`).join(", ")}, "n")`,
};

const inRecord = new Map<string, string>(ofInstance.map(({ name, as }) => [name, `"${as}"`]));
const column = (name: (typeof instanceColumns)[number]): string => must(inRecord.get(name), name);

/** $1: how many steps; $2: lagMaxMs; then the records. */
function writeText(clock: string, dialect: Dialect, source: Source, moves: Moves): string {
  const id = column("id");
  const set = statusColumns.map((name) => `${columnName(name)} = held.${column(name)}`);
  const entry: Record<string, string> = {
    instanceId: id,
    type: column("lastEvent"),
    dedupeKey: "NULL",
    chartId: `"chartId"`,
    version: `"version"`,
    semantics: `"semantics"`,
    changeTx: dialect.changeTx.sql,
    changeN: `"n"`,
  };
  const sent = new Map<string, string>(ofEntry.map(({ name, as }) => [name, `"${as}"`]));
  const logged = Object.keys(eventLog.columns);
  const valueOf = (name: string) =>
    sent.get(name) ?? entry[name] ?? must(inRecord.get(name), `event_log.${name}`);
  const isTimely = `($2::bigint IS NULL OR ${clock} - r.${column("at")} BETWEEN 0 AND $2)`;
  const asRead = `"id" = r.${id} AND "seq" = r.${column("seq")} - 1 AND "incarnation" = r.${column("incarnation")} AND "status" = 'running' AND "session" IS NULL`;
  const noneWaits = `NOT EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = r.${id})`;
  const parts = [
    // Row by row: the planner would begin with all that run.
    `held AS (SELECT i."place", r.* FROM ${sources[source]}, LATERAL (SELECT "ctid" AS "place" FROM "instances" WHERE ${asRead} AND ${noneWaits} AND ${isTimely} FOR NO KEY UPDATE SKIP LOCKED) AS i)`,
    `mine AS (UPDATE "instances" SET ${set.join(", ")} FROM held WHERE "instances"."ctid" = held."place" RETURNING held.*, ${instances.pick("chartId", "version", "semantics").sql})`,
    `logged AS (INSERT INTO "event_log" (${logged.map(columnName).join(", ")}) SELECT ${logged.map(valueOf).join(", ")} FROM mine)`,
    `renamed AS (UPDATE "instance_states" SET "state" = mine."to" FROM mine WHERE "instance_id" = mine.${id} AND "state" = mine."from")`,
  ];
  if (moves === "any")
    parts.push(
      `gone AS (DELETE FROM "instance_states" USING (SELECT ${id}, json_array_elements_text("left") AS "state" FROM mine) AS l WHERE "instance_id" = l.${id} AND "instance_states"."state" = l."state")`,
      `came AS (INSERT INTO "instance_states" ("instance_id", "state") SELECT ${id}, json_array_elements_text("come") FROM mine)`,
    );
  return `WITH ${parts.join(", ")} SELECT ${clock} AS "now", count(*)::int AS "count", CASE WHEN count(*) < $1 THEN array_agg(${id}) END AS "ids" FROM mine`;
}
