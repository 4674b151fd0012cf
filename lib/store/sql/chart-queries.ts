/**
 * Charts and versions: ordinary Prisma for what screens read, raw statements where a row lock or a change position is needed.
 */
import type { ChartReads, ChartRow, ChartWrites, VersionRow } from "../charts";
import type { Reader } from "./connection";
import { sql, type Handle } from "./statement";
import type { Dialect } from "./dialect";
import { charts, chartVersions, insertRows, updateRows } from "./tables";

export function chartReads(handle: Reader): ChartReads {
  const { chart, chartVersion } = handle.models;
  return {
    async listCharts() {
      const rows = await chart.findMany({
        omit: { draftText: true, draftLayout: true },
        orderBy: { id: "asc" },
      });
      return rows.map(plain);
    },
    async findChart(chartId) {
      const row = await chart.findUnique({ where: { id: chartId } });
      return row && plain(row);
    },
    async listVersions(chartId) {
      const rows = await chartVersion.findMany({
        where: { chartId },
        omit: { text: true, layout: true },
        orderBy: { version: "desc" },
      });
      return rows.map(plain);
    },
    async findVersion(chartId, version) {
      const row = await chartVersion.findUnique({ where: { chartId_version: { chartId, version } } });
      return row && plain(row);
    },
    async countInstances(chartIds) {
      const groups = await handle.models.instance.groupBy({
        by: ["chartId", "status"],
        where: { chartId: { in: [...chartIds] }, deletedAt: null },
        _count: true,
        orderBy: [{ chartId: "asc" }, { status: "asc" }],
      });
      return groups.map(({ chartId, status, _count }) => ({ chartId, status, count: _count }));
    },
  };
}

export function chartWrites(handle: Handle, dialect: Dialect, nextN: () => number): ChartWrites {
  return {
    async lockChart(chartId) {
      const [row] = await handle.query<ChartRow>(
        sql`SELECT ${charts.all} FROM ${charts.name} WHERE "id" = ${chartId} ${dialect.forUpdate}`,
      );
      return row ?? null;
    },
    async insertChart(row) {
      const inserted = await insertRows(
        handle,
        dialect,
        charts,
        [{ ...row, changeN: nextN() }],
        `ON CONFLICT ("id") DO NOTHING`,
      );
      return inserted === 1;
    },
    async updateChart(row) {
      const set = Object.keys(charts.columns).filter((name) => name !== "id");
      await updateRows(handle, dialect, charts, ["id"], set, [{ ...row, changeN: nextN() }]);
    },
    async insertVersion(row: VersionRow) {
      await insertRows(handle, dialect, chartVersions, [row]);
    },
  };
}

type Plain<Row> = {
  [Name in keyof Row]: bigint extends Row[Name] ? Exclude<Row[Name], bigint> | number : Row[Name];
};

/** Prisma gives 64-bit columns as BigInt; ours are times and counts, whole numbers below 2^53. */
function plain<Row extends object>(row: Row): Plain<Row> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "bigint" ? Number(value) : (value as unknown),
    ]),
  ) as Plain<Row>;
}
