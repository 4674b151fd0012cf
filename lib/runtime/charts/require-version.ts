/**
 * Whether a chart, and a version of it, is there, asked when a call names them for later: charts and versions are never
 * removed, so what is there now is there then.
 */
import type { ChartReads } from "@/lib/store/charts";
import { chartNotFound } from "./get-chart";
import { versionNotFound } from "./machines";

/** Throws `not-found`, `version-not-found`. Without a version the chart alone is asked for: it may be published later. */
export async function requireVersion(
  store: Pick<ChartReads, "findChart">,
  { chartId, version }: { chartId: string; version: number | null },
): Promise<void> {
  const chart = await store.findChart(chartId);
  if (!chart) throw chartNotFound(chartId);
  if (version !== null && version > (chart.version ?? 0)) throw versionNotFound({ chartId, version });
}
