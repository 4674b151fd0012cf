/** All charts, by id. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { viewChartSummary, type ChartSummary } from "./chart-views";
import type { NoArgs, Page } from "../call";
import type { RuntimeContext } from "../runtime-context";

export async function listCharts(
  { store }: RuntimeContext,
  actor: Actor,
  _args: NoArgs,
): Promise<Page<ChartSummary>> {
  requirePermission(actor, "charts:read");
  const rows = await store.listCharts();
  const counts = await store.countInstances(rows.map((row) => row.id));
  return { items: rows.map((row) => viewChartSummary(row, counts)), nextCursor: null };
}
