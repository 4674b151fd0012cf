/** A chart with its draft and the list of its versions. */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import { viewChart, type ChartView } from "./chart-views";
import type { RuntimeContext } from "../runtime-context";

export async function getChart(
  { store }: RuntimeContext,
  actor: Actor,
  { chartId }: { chartId: string },
): Promise<ChartView> {
  requirePermission(actor, "charts:read");
  return readChart(store, chartId);
}

/** Throws `not-found`. */
export async function readChart(store: Store, chartId: string): Promise<ChartView> {
  const row = await store.findChart(chartId);
  if (!row) throw chartNotFound(chartId);
  return viewChart(row, await store.countInstances([chartId]), await store.listVersions(chartId));
}

export const chartNotFound = (chartId: string): LockstepError =>
  new LockstepError("not-found", `There is no chart ${chartId}.`, { details: { chartId } });
