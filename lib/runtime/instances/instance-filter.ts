/**
 * Which instances a list shows and a batch is about: the caller's filters, checked, as the store takes them.
 *
 * Holds: all of them must hold at once; one that is not understood is refused, never "everything".
 */
import { LockstepError } from "@/lib/base/errors";
import { readLabelFilter } from "@/lib/base/label-filter";
import type { InstanceFilter, LabelRow } from "@/lib/store/instances";
import type { Condition, InstanceStatus } from "./instance-views";
import { chartNotFound } from "../charts/get-chart";
import { requireFilter, requireText } from "../require-payload";
import type { RuntimeContext } from "../runtime-context";

export interface InstanceFilterArgs {
  chartId?: string | undefined;
  status?: InstanceStatus | undefined;
  state?: string | undefined;
  idPrefix?: string | undefined;
  businessKey?: string | undefined;
  /** Children of that instance's invocations. */
  parent?: string | undefined;
  /** What they wait for. */
  condition?: Condition["for"] | undefined;
  /** `key:value`, each; the key ends at the first colon, one within it is written `\:`. */
  label?: string[] | undefined;
  /** `field:value`, each; the field is one that the chart of `chartId` declares by settings.index. */
  index?: string[] | undefined;
}

/** Throws `bad-request`; `not-found` (chart, of `index`). */
export async function readFilter(
  context: Pick<RuntimeContext, "store" | "machines">,
  { label = [], index = [], ...plain }: InstanceFilterArgs,
): Promise<InstanceFilter> {
  requireFilter(plain);
  const labels = label.map(readLabel);
  if (index.length === 0) return { ...plain, labels };
  const { chartId } = plain;
  if (chartId === undefined) {
    throw new LockstepError(
      "bad-request",
      "index searches by the fields that a chart declares (settings.index): name the chart too, by chartId.",
      { details: { field: "index" } },
    );
  }
  const fields: Field[] = [];
  for (const text of index) fields.push(await readField(context, chartId, requireText(text, "index")));
  return { ...plain, labels, fields };
}

type Field = NonNullable<InstanceFilter["fields"]>[number];

/** A field may hold a colon itself, so it is looked for among those that the chart's versions declare, newest first. */
async function readField(
  { store, machines }: Pick<RuntimeContext, "store" | "machines">,
  chartId: string,
  text: string,
): Promise<Field> {
  const chart = await store.findChart(chartId);
  if (!chart) throw chartNotFound(chartId);
  const declared = new Set<string>();
  for (let version = chart.version ?? 0; version > 0; version -= 1) {
    const { settings } = (await machines.load({ chartId, version })).chart;
    for (const field of settings?.index ?? []) {
      declared.add(field);
      if (text.startsWith(`${field}:`)) return { chartId, field, value: text.slice(field.length + 1) };
    }
  }
  const known = declared.size === 0 ? "It declares none" : `It declares ${[...declared].join(", ")}`;
  throw new LockstepError(
    "bad-request",
    `index takes field:value, and chart ${chartId} has no field for "${text.slice(0, 100)}". ${known} (settings.index).`,
    { details: { field: "index", fields: [...declared] } },
  );
}

function readLabel(text: string): Pick<LabelRow, "key" | "value"> {
  const label = readLabelFilter(requireText(text, "label"));
  if (label) return label;
  throw new LockstepError(
    "bad-request",
    String.raw`label takes key:value, as site:north (a colon in the key is written \:), not "${text.slice(0, 100)}".`,
    { details: { field: "label" } },
  );
}
