/**
 * The fleet's statements.
 *
 * Holds: entries are counted in the order of the feed of changes, up to where nothing committed later can come before, so
 *        each is counted once; the database groups them, so that a minute of many steps comes back as few rows.
 */
import { must } from "@/lib/base/assert";
import {
  minuteMs,
  type FleetCount,
  type FleetFold,
  type FleetReads,
  type FleetTransaction,
  type InstanceThen,
  type LoneMove,
  type MovesTogether,
  type OpenSince,
} from "../fleet";
import { feedHead } from "./change-queries";
import { seqAt } from "./instance-queries";
import type { Provider, Reader } from "./connection";
import type { Dialect } from "./dialect";
import { empty, raw, sql, type Handle, type RowStatement, type Sql } from "./statement";
import { fleetDeltas, fleetMinutes, fleetTotals, insertRows } from "./tables";

const isLone = sql`"kind" IN ('migration', 'deleted')`;

async function movesWhere(
  handle: Reader,
  where: Sql,
): Promise<{ together: MovesTogether[]; lone: LoneMove[] }> {
  const minute = sql`("at" - "at" % ${raw(String(minuteMs))}) / ${raw(String(minuteMs))}`;
  const together = await handle.query<MovesTogether>(
    sql`SELECT "chart_id" AS "chartId", "version", ${minute} AS "minute", "exited", "entered", count(*) AS "count", min("change_tx") AS "fromTx", max("change_tx") AS "toTx" FROM "event_log" WHERE ${where} AND NOT ${isLone} GROUP BY "chart_id", "version", 3, "exited", "entered"`,
  );
  const lone = await handle.query<LoneMove>(
    sql`SELECT "instance_id" AS "instanceId", "seq", "kind", "chart_id" AS "chartId", "version", "input", "at", "change_tx" AS "tx" FROM "event_log" WHERE ${where} AND ${isLone} ORDER BY "change_tx", "change_n"`,
  );
  return { together, lone };
}

/** The server hides other users' transactions from who may not see them, and knows none where it is told not to follow them. */
const selectOpen = ((): Sql => {
  const begun = sql`(floor(extract(epoch FROM a.xact_start) * 1000)::bigint + c."offset_ms")`;
  return sql`SELECT min(${begun}) FILTER (WHERE a.backend_xid IS NOT NULL) AS "writing", min(${begun}) AS "any", bool_or(a.pid IS NOT NULL AND (a.state IS NULL OR a.state = 'disabled')) AS "hidden" FROM "clock" AS c LEFT JOIN pg_stat_activity AS a ON a.datname = current_database() AND (a.backend_type = 'client backend' OR a.backend_type IS NULL) AND a.pid <> pg_backend_pid()`;
})();

const selectFold = sql`SELECT "tx", "at" FROM "fleet_fold" WHERE "id" = 1`;
const ofChart = (chartId: string | undefined): Sql =>
  chartId === undefined ? empty : sql`AND "chart_id" = ${chartId}`;

export function fleetReads(handle: Reader, provider: Provider): FleetReads {
  return {
    async idAhead(after, count) {
      const [row] = await handle.query<{ id: string }>(
        sql`SELECT "id" FROM "instances" WHERE "id" > ${after} ORDER BY "id" LIMIT 1 OFFSET ${count - 1}`,
      );
      return row?.id ?? null;
    },
    instancesAt: (at, chartId, { after, upTo }, limit) =>
      handle.query<InstanceThen>(
        sql`SELECT "id", CASE WHEN "at" <= ${at} THEN "seq" ELSE COALESCE(${seqAt(sql`"instances"."id"`, at)}, 0) END AS "seq", CASE WHEN "at" <= ${at} THEN 0 ELSE 1 END AS "hasMoved", "chart_id" AS "chartId", "version", "status", "configuration", "at" AS "entryAt", "created_at" AS "createdAt", "deleted_at" AS "deletedAt" FROM "instances" WHERE "id" > ${after} ${upTo === null ? empty : sql`AND "id" <= ${upTo}`} AND ("created_at" <= ${at} OR "incarnation" > 1) ${chartId === undefined ? empty : sql`AND ("chart_id" = ${chartId} OR "incarnation" > 1)`} ORDER BY "id" LIMIT ${limit}`,
      ),
    async openSince() {
      if (provider === "sqlite") return null;
      const [row] = await handle.query<OpenSince & { hidden: boolean }>(selectOpen);
      const { hidden, ...open } = must(row, "an aggregate has its row");
      return hidden ? null : open;
    },
    async fleetFold() {
      const [row] = await handle.query<FleetFold>(selectFold);
      return must(row, "the fold has its row");
    },
    async uncounted({ tx: from }, limit) {
      const [bound] = await handle.query<{ head: number; cut: number | null }>(
        sql`SELECT ${feedHead(provider)} AS "head", (SELECT "change_tx" FROM "event_log" WHERE "change_tx" >= ${from} ORDER BY "change_tx", "change_n" LIMIT 1 OFFSET ${limit}) AS "cut"`,
      );
      const { head, cut } = must(bound, "a head");
      // A transaction is counted whole.
      const tx = cut === null ? head : Math.min(head, Math.max(cut, from + 1));
      if (tx <= from) return { together: [], lone: [], tx: from, more: false };
      const moves = await movesWhere(handle, sql`"change_tx" >= ${from} AND "change_tx" < ${tx}`);
      return { ...moves, tx, more: tx < head };
    },
    fleetTotals: (minute, chartId) =>
      handle.query<FleetCount>(
        sql`SELECT * FROM (SELECT t."chart_id" AS "chartId", t."version" AS "version", t."state" AS "state", (SELECT d."total" FROM "fleet_deltas" AS d WHERE d."chart_id" = t."chart_id" AND d."version" = t."version" AND d."state" = t."state" AND d."minute" <= ${minute} ORDER BY d."minute" DESC LIMIT 1) AS "count" FROM "fleet_totals" AS t WHERE 1 = 1 ${ofChart(chartId)}) AS f WHERE "count" <> 0`,
      ),
    async movesSince({ tx }, minute, at, chartId) {
      const [range] = await handle.query<{ fromTx: number; toTx: number }>(
        sql`SELECT ${fleetMinutes.pick("fromTx", "toTx")} FROM ${fleetMinutes.name} WHERE "minute" = ${minute}`,
      );
      const upTo = sql`"at" <= ${at} ${ofChart(chartId)}`;
      const fresh = await movesWhere(handle, sql`"change_tx" >= ${tx} AND ${upTo}`);
      if (!range) return fresh;
      const counted = await movesWhere(
        handle,
        sql`"change_tx" >= ${range.fromTx} AND "change_tx" <= ${range.toTx} AND "change_tx" < ${tx} AND "at" >= ${minute * minuteMs} AND ${upTo}`,
      );
      return {
        together: [...fresh.together, ...counted.together],
        lone: [...fresh.lone, ...counted.lone],
      };
    },
  };
}

export function fleetTransaction(handle: Handle, dialect: Dialect): FleetTransaction {
  return {
    async holdFleet() {
      const [row] = await handle.query<FleetFold>(sql`${selectFold} ${dialect.forNoKeyUpdate}`);
      return must(row, "the fold has its row");
    },
    async addFleet(deltas) {
      const moving = deltas.filter(({ entered, left }) => entered + left > 0);
      // Minute by minute: each one's totals stand on those before.
      for (const minute of [...new Set(moving.map((delta) => delta.minute))].sort((a, b) => a - b)) {
        const rows = moving.filter((delta) => delta.minute === minute);
        await handle.executeRows(laterTotals(dialect), rows);
        await handle.executeRows(ofMinute(dialect), rows);
        await handle.executeRows(newestTotals(dialect), rows);
      }
    },
    async writeFold({ tx, at }, minutes) {
      await handle.execute(sql`UPDATE "fleet_fold" SET "tx" = ${tx}, "at" = ${at} WHERE "id" = 1`);
      const wider = `"from_tx" = CASE WHEN excluded."from_tx" < "fleet_minutes"."from_tx" THEN excluded."from_tx" ELSE "fleet_minutes"."from_tx" END, "to_tx" = CASE WHEN excluded."to_tx" > "fleet_minutes"."to_tx" THEN excluded."to_tx" ELSE "fleet_minutes"."to_tx" END`;
      await insertRows(
        handle,
        dialect,
        fleetMinutes,
        minutes,
        `ON CONFLICT ("minute") DO UPDATE SET ${wider}`,
      );
    },
  };
}

const columns = {
  chartId: "text",
  version: "int",
  state: "text",
  minute: "bigint",
  entered: "int",
  left: "int",
} as const;
const same = (table: string, dialect: Dialect): string =>
  `${table}."chart_id" = ${dialect.cell("chartId")} AND ${table}."version" = ${dialect.cell("version")} AND ${table}."state" = ${dialect.cell("state")}`;
const gain = (dialect: Dialect): string => `${dialect.cell("entered")} - ${dialect.cell("left")}`;

const laterTotals = (dialect: Dialect): RowStatement => {
  const rows = dialect.rowsTable(columns);
  return {
    table: fleetDeltas.name.sql,
    text: `UPDATE "fleet_deltas" SET "total" = "total" + ${gain(dialect)} ${rows === null ? "" : `FROM ${rows}`} WHERE ${same(`"fleet_deltas"`, dialect)} AND "fleet_deltas"."minute" > ${dialect.cell("minute")}`,
  };
};
const ofMinute = (dialect: Dialect): RowStatement => {
  const before = `COALESCE((SELECT p."total" FROM "fleet_deltas" AS p WHERE ${same("p", dialect)} AND p."minute" < ${dialect.cell("minute")} ORDER BY p."minute" DESC LIMIT 1), 0)`;
  const values = [...Object.keys(columns).map((name) => dialect.cell(name)), `${before} + ${gain(dialect)}`];
  return {
    table: fleetDeltas.name.sql,
    text: `INSERT INTO "fleet_deltas" ("chart_id", "version", "state", "minute", "entered", "left", "total") ${dialect.fromRows(values, columns)} ON CONFLICT ("chart_id", "version", "state", "minute") DO UPDATE SET "entered" = "fleet_deltas"."entered" + excluded."entered", "left" = "fleet_deltas"."left" + excluded."left", "total" = "fleet_deltas"."total" + excluded."entered" - excluded."left"`,
  };
};
const newestTotals = (dialect: Dialect): RowStatement => {
  const key = ["chartId", "version", "state"].map((name) => dialect.cell(name));
  const values = [...key, gain(dialect)];
  return {
    table: fleetTotals.name.sql,
    text: `INSERT INTO "fleet_totals" ("chart_id", "version", "state", "total") ${dialect.fromRows(values, columns)} ON CONFLICT ("chart_id", "version", "state") DO UPDATE SET "total" = "fleet_totals"."total" + excluded."total"`,
  };
};
