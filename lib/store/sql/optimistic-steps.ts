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
import { changeTxOfClock } from "./dialect";
import { columnName, eventLog, instances } from "./tables";

export function optimisticSteps(
  send: NonNullable<DatabaseConnection["alone"]>,
  committed: () => void,
): OptimisticSteps {
  const read = `WITH ${clock} SELECT ${instances.all.sql}, (SELECT "now" FROM c), EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = "instances"."id") AS "waiting" FROM "instances" WHERE "id" = $1`;
  const text = (source: Source) => ({
    renames: writeText(source, "renames"),
    any: writeText(source, "any"),
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
      const all = steps.map((step) => fieldsOf(step, moves));
      const sent = all.length === 1 ? all : all.filter(fitsLine);
      const [only, more] = sent;
      if (!only) return { now: 0, written: [] };
      const [end] = await send<{ now: number; count: number; ids: string[] | null }>({
        text: texts[more ? "many" : "one"][moves],
        values: [lagMaxMs, ...(more ? [sent.map(lineOf).join(separators.line), sent.length] : only)],
      });
      if (!end || end.count === 0) return { now: end?.now ?? 0, written: [] };
      committed();
      return { now: end.now, written: end.ids ?? sent.map(([id]) => id as string) };
    },
  };
}

/** Read once: its arithmetic costs as much as a row's lock, and nobody is waited for in between. */
const clock = `c AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + "offset_ms" AS "now", "tx_base" FROM "clock")`;

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

/** A step as it travels: its columns in this order. */
const ofInstance = instanceColumns.map((name, at) => ({ name, as: `i${at}`, type: instances.columns[name] }));
const ofEntry = entryColumns.map((name, at) => ({ name, as: `e${at}`, type: eventLog.columns[name] }));
const ofRename: [name: string, type: string][] = [
  ["from", "text"],
  ["to", "text"],
];
const ofOtherMove: [name: string, type: string][] = [
  ["left", "json"],
  ["come", "json"],
];

/** One state for another, as in most steps: a row renamed costs half of one deleted and one inserted. */
type Moves = "renames" | "any";
const isRename = ({ left, entered }: StatesMoved): boolean => left.length === 1 && entered.length === 1;

const noMove: StatesMoved = { left: [], entered: [] };

type Cell = string | number | null;

function fieldsOf({ row, log, moved }: OptimisticStep, moves: Moves): Cell[] {
  const fields: Cell[] = [];
  for (const { name } of ofInstance) fields.push(row[name]);
  for (const { name } of ofEntry) fields.push(log[name]);
  const renames = moved !== null && isRename(moved);
  fields.push(renames ? (moved.left[0] ?? null) : null, renames ? (moved.entered[0] ?? null) : null);
  if (moves === "any") {
    const { left, entered }: StatesMoved = renames || moved === null ? noMove : moved;
    fields.push(JSON.stringify(left), JSON.stringify(entered));
  }
  return fields;
}

/**
 * Many steps come as lines of one text, for which the server works half of what it would for JSON. A step that has a
 * separator in a text of its own is left out, and so not written: JSON has none, and names of events and people rarely.
 */
const separators = { line: "\x1e", field: "\x1f" };
const nothing = "\x1d";
const fitsLine = (fields: readonly Cell[]): boolean =>
  fields.every(
    (field) =>
      typeof field !== "string" ||
      !(field.includes(separators.line) || field.includes(separators.field) || field === nothing),
  );
const lineOf = (fields: readonly Cell[]): string =>
  fields.map((field) => field ?? nothing).join(separators.field);

/** One step comes as parameters. */
type Source = "one" | "many";

/** A column of a step, `relation` being what it has come to by then. */
type Field = (name: string, relation: "r" | "held" | "mine") => string;
const shortNames = {
  instance: new Map<string, string>(ofInstance.map(({ name, as }) => [name, as])),
  entry: new Map<string, string>(ofEntry.map(({ name, as }) => [name, as])),
};

/** $1: lagMaxMs; then the one's fields, or the lines of many and how many they are. */
function writeText(source: Source, moves: Moves): string {
  const travelling: [name: string, type: string][] = [
    ...[...ofInstance, ...ofEntry].map(({ as, type }): [string, string] => [as, must(type, as)]),
    ...ofRename,
    ...(moves === "any" ? ofOtherMove : []),
  ];
  const parameters = new Map(travelling.map(([name, type], at) => [name, `$${at + 2}::${type}`]));
  const field: Field = (name, relation) =>
    source === "one" ? must(parameters.get(name), name) : `${relation}."${name}"`;
  const ofRow = (name: string, relation: "r" | "held" | "mine") =>
    field(must(shortNames.instance.get(name), name), relation);
  const entry: Record<string, string> = {
    instanceId: ofRow("id", "mine"),
    type: ofRow("lastEvent", "mine"),
    dedupeKey: "NULL",
    chartId: `"chartId"`,
    version: `"version"`,
    semantics: `"semantics"`,
    changeTx: `(SELECT ${changeTxOfClock} FROM c)`,
    changeN: source === "one" ? "1" : `"n"`,
  };
  const entryValue = (name: string): string => {
    const sent = shortNames.entry.get(name);
    return sent === undefined ? (entry[name] ?? ofRow(name, "mine")) : field(sent, "mine");
  };
  const logged = Object.keys(eventLog.columns);
  const set = statusColumns.map((name) => `${columnName(name)} = ${ofRow(name, "held")}`);
  // No index of the status: on a small table the planner would take it for as good as the key's.
  const asRead = `"id" = ${ofRow("id", "r")} AND "seq" = ${ofRow("seq", "r")} - 1 AND "incarnation" = ${ofRow("incarnation", "r")} AND "status" IS NOT DISTINCT FROM 'running' AND "session" IS NULL`;
  const noneWaits = `NOT EXISTS (SELECT 1 FROM "mailbox" WHERE "instance_id" = ${ofRow("id", "r")})`;
  const isTimely = `($1::bigint IS NULL OR "now" - ${ofRow("at", "r")} BETWEEN 0 AND $1)`;
  const place = `SELECT "instances"."ctid" AS "place" FROM "instances", c WHERE ${asRead} AND ${noneWaits} AND ${isTimely} FOR NO KEY UPDATE OF "instances" SKIP LOCKED`;
  const kept = instances.pick("chartId", "version", "semantics").sql;
  const update = `UPDATE "instances" SET ${set.join(", ")}`;
  const cells = travelling.map(([name, type], at) => `f[${at + 1}]::${type} AS "${name}"`);
  // OFFSET 0: or it would be taken apart again for each of its fields.
  const split = `SELECT string_to_array("line", '${separators.field}', '${nothing}') AS f, "n" FROM string_to_table($2::text, '${separators.line}') WITH ORDINALITY AS l("line", "n") OFFSET 0`;
  // Row by row: the planner would begin with all that run.
  const places = `SELECT i."place", r.* FROM (SELECT ${cells.join(", ")}, "n" FROM (${split}) AS s OFFSET 0) AS r, LATERAL (${place}) AS i`;
  const parts = [
    source === "one"
      ? `mine AS (${update} WHERE "ctid" = (${place}) RETURNING ${kept})`
      : `held AS (${places}), mine AS (${update} FROM held WHERE "instances"."ctid" = held."place" RETURNING held.*, ${kept})`,
    `logged AS (INSERT INTO "event_log" (${logged.map(columnName).join(", ")}) SELECT ${logged.map(entryValue).join(", ")} FROM mine)`,
    `renamed AS (UPDATE "instance_states" SET "state" = ${field("to", "mine")} FROM mine WHERE "instance_id" = ${ofRow("id", "mine")} AND "state" = ${field("from", "mine")})`,
  ];
  if (moves === "any") {
    const each = (name: "left" | "come") =>
      `SELECT ${ofRow("id", "mine")} AS "id", json_array_elements_text(${field(name, "mine")}) AS "state" FROM mine`;
    parts.push(
      `gone AS (DELETE FROM "instance_states" USING (${each("left")}) AS l WHERE "instance_id" = l."id" AND "instance_states"."state" = l."state")`,
      `came AS (INSERT INTO "instance_states" ("instance_id", "state") ${each("come")})`,
    );
  }
  const end =
    source === "one"
      ? `1 AS "count", NULL AS "ids"`
      : `count(*)::int AS "count", CASE WHEN count(*) < $3::int THEN array_agg(${ofRow("id", "mine")}) END AS "ids"`;
  return `WITH ${[clock, ...parts].join(", ")} SELECT (SELECT "now" FROM c), ${end} FROM mine`;
}
