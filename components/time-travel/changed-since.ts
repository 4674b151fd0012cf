/**
 * An instance that is not as it was when it was looked at, in words.
 */
import { formatCount } from "@/components/ui/time";
import type { InstanceView } from "@/lib/contract/instances";

/** Which life of an id, and how far it has come. */
export type Life = Pick<InstanceView, "id" | "incarnation" | "seq" | "status">;

export function changedSince(seen: Life, now: Life): string {
  const happened =
    now.incarnation === seen.incarnation
      ? `${now.id} has moved on, from #${formatCount(seen.seq)} to #${formatCount(now.seq)}`
      : `${now.id} was deleted and made anew meanwhile: this is another instance, at #${formatCount(now.seq)}`;
  return `${happened}, and is ${now.status}. Nothing was deleted. Look again; if it is still to go, type its id once more.`;
}
