/**
 * The entry after which an instance is to go on: read from what was typed, and whether it can.
 */
import { formatCount } from "@/components/ui/time";
import type { InstanceView, StateAt } from "@/lib/contract/instances";

/** `412`, `#412` and `5,031`; nothing typed is no error yet. */
export function readPoint(typed: string, total: number): { seq: number | null; error: string | null } {
  const text = typed.trim().replace(/^#/, "").replace(/,/g, "");
  if (text === "") return { seq: null, error: null };
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (seq >= 1 && seq <= total) return { seq, error: null };
  return { seq: null, error: `There is no such event: give a number from 1 to ${formatCount(total)}.` };
}

/** Null: it can go on from there. */
export function whyNotFrom(
  then: Pick<StateAt, "seq" | "status" | "version">,
  instance: Pick<InstanceView, "version">,
): string | null {
  const at = `At #${formatCount(then.seq)} it`;
  if (then.status !== "running") {
    return `${at} had ${then.status === "failed" ? "failed" : "ended"}: nothing goes on from there. Take an earlier event.`;
  }
  if (then.version !== instance.version) {
    return `${at} was on v${then.version}, now it is on v${instance.version}. Fork it from there instead.`;
  }
  return null;
}
