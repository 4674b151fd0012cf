/**
 * What a selection, and a batch's version and mapping, name must be there; asked alike before a batch is made and when it is
 * only counted.
 */
import { LockstepError } from "@/lib/base/errors";
import type { BatchSelection } from "./batch-views";
import { requireVersion } from "../charts/require-version";
import { requireMapping, statesOf } from "../control/plan-migration";
import { readFilter } from "../instances/instance-filter";
import type { RuntimeContext } from "../runtime-context";

export interface MoveTo {
  version: number;
  mapping: Readonly<Record<string, string>>;
}

/**
 * Each id once. Throws `bad-request`, `not-found` (chart), `version-not-found`. Of instances of several charts, each item
 * tells whether its own has the version; here, whether any has.
 */
export async function requireSelection(
  context: RuntimeContext,
  selection: BatchSelection,
  moveTo: MoveTo | null,
): Promise<BatchSelection> {
  const { store } = context;
  if ("filter" in selection) await readFilter(context, selection.filter);
  const chartId = "filter" in selection ? selection.filter.chartId : undefined;
  if (chartId !== undefined) await requireVersion(store, { chartId, version: moveTo?.version ?? null });
  if (moveTo) {
    const charts = chartId === undefined ? await store.listCharts() : [{ id: chartId, version: Infinity }];
    const having = charts.filter((chart) => moveTo.version <= (chart.version ?? 0)).map(({ id }) => id);
    if (having.length === 0) {
      const { version } = moveTo;
      throw new LockstepError("version-not-found", `No chart has a version ${version}.`, {
        details: { version },
      });
    }
    await requireStates(context, having, moveTo);
  }
  return "filter" in selection ? selection : { instanceIds: [...new Set(selection.instanceIds)] };
}

/** Each name is a state of the version moved to, or of some version of the same charts; each item takes what names its own. */
async function requireStates(
  { store, machines }: RuntimeContext,
  chartIds: readonly string[],
  { version, mapping }: MoveTo,
): Promise<void> {
  if (Object.keys(mapping).length === 0) return;
  const from = new Set<string>();
  const to = new Set<string>();
  for (const chartId of chartIds) {
    for (const name of statesOf(await machines.load({ chartId, version }))) to.add(name);
    for (const { version: each } of await store.listVersions(chartId)) {
      if (Object.keys(mapping).every((name) => from.has(name))) break;
      for (const name of statesOf(await machines.load({ chartId, version: each }))) from.add(name);
    }
  }
  const [only] = chartIds;
  const whose = chartIds.length === 1 ? `chart ${only ?? ""}` : "the charts";
  requireMapping(
    mapping,
    { lacking: `no version of ${whose} has a state`, names: from },
    { lacking: `version ${version} of ${whose} has no state`, names: to },
  );
}
