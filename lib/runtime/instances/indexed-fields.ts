/**
 * The fields of its context that a chart lets its instances be searched by (settings.index), as a step writes them.
 *
 * Holds: I2 they are rows of the step that changes them, so that what is found has that value. A step of a chart that declares
 *        none, or that leaves its context alone, costs nothing.
 */
import { isStorable } from "@/lib/base/storable-text";
import { indexedValues } from "@/lib/statechart/instance-keys";
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { InstanceRow } from "@/lib/store/instances";
import type { StepWrites } from "@/lib/store/steps";

/** A longer field or value is not searched by: PostgreSQL takes no index entry above 2.7 KB. */
export const fieldMax = 256;
export const fieldValueMax = 256;

type Context = Snapshot["context"];

/** `before`: null of an instance that is new, or was of another version. */
export function writeFields(
  machine: Machine,
  { id: instanceId, chartId }: InstanceRow,
  before: Context | null,
  after: Context,
  writes: Pick<StepWrites, "fieldsSet" | "fieldsCleared">,
): void {
  if (before === after || machine.chart.settings?.index === undefined) return;
  const old = before === null ? {} : indexedValues(machine, before);
  for (const [field, value] of Object.entries(indexedValues(machine, after))) {
    if (field.length > fieldMax) continue;
    const [was, is] = [searchable(old[field]), searchable(value)];
    if (is === was) continue;
    if (is === null) writes.fieldsCleared.push({ instanceId, field });
    else writes.fieldsSet.push({ instanceId, field, chartId, value: is });
  }
}

/** As text; null: nothing is found by it. */
function searchable(value: string | number | boolean | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value);
  return text.length <= fieldValueMax && isStorable(text) ? text : null;
}
