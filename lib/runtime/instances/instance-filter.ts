/**
 * Which instances a list shows and a batch is about: the caller's filters, checked, as the store takes them.
 *
 * Holds: all of them must hold at once; one that is not understood is refused, never "everything".
 */
import { LockstepError } from "@/lib/base/errors";
import type { InstanceFilter, LabelRow } from "@/lib/store/instances";
import type { InstanceStatus } from "./instance-views";
import { requireFilter, requireText } from "../require-payload";

export interface InstanceFilterArgs {
  chartId?: string | undefined;
  status?: InstanceStatus | undefined;
  state?: string | undefined;
  idPrefix?: string | undefined;
  businessKey?: string | undefined;
  /** Children of that instance's invocations. */
  parent?: string | undefined;
  /** `key:value`, each; the key ends at the first colon. */
  label?: string[] | undefined;
}

/** Throws `bad-request`. */
export function readFilter({ label = [], ...plain }: InstanceFilterArgs): InstanceFilter {
  requireFilter(plain);
  return { ...plain, labels: label.map(readLabel) };
}

function readLabel(text: string): Pick<LabelRow, "key" | "value"> {
  const at = requireText(text, "label").indexOf(":");
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  throw new LockstepError(
    "bad-request",
    `label takes key:value, as site:north, not "${text.slice(0, 100)}".`,
    { details: { field: "label" } },
  );
}
