/**
 * What needs a person now, worst first: from failed and stuck instances, and from locks nobody will free.
 *
 * Holds: pure; a row is there as long as its cause is.
 */
import { shortStateName } from "@/components/instances/state-name";
import { formatDuration } from "@/components/ui/time";
import type { InstanceSummary } from "@/lib/contract/instances";
import type { LockSummary, LockView } from "@/lib/contract/locks";

export interface AttentionRow {
  kind: "stuck" | "failed" | "expired" | "finished" | "waits";
  /** What it is about. */
  subject: string;
  text: string;
  why: string;
  /** Since when, on the clock its numbers come from. */
  since: number | null;
  href: string;
}

/** `queue`: of one that is free and long waited for, when it has been read (longWaitedFree). */
export type WatchedLock = LockSummary & { queue?: LockView["queue"] | undefined };

/** Two minutes: a person notices a wait that long. */
const longWaitMs = 120_000;
const order: AttentionRow["kind"][] = ["stuck", "failed", "finished", "expired", "waits"];

export function attentionRows(
  instances: readonly InstanceSummary[],
  locks: readonly WatchedLock[],
  /** The database's clock. */
  now: number,
): AttentionRow[] {
  const rows: AttentionRow[] = [];
  for (const instance of instances) {
    if (instance.status !== "stuck" && instance.status !== "failed") continue;
    rows.push({
      kind: instance.status,
      subject: instance.id,
      text: `of ${instance.chartId} v${instance.version}${where(instance.configuration)}`,
      why: instance.error?.message ?? "no error was recorded",
      since: instance.updatedAt,
      href: `/instances/${encodeURIComponent(instance.id)}`,
    });
  }
  for (const lock of locks) {
    const href = `/locks?key=${encodeURIComponent(lock.key)}`;
    const waiting =
      lock.waiters === 0 ? "nobody waits" : lock.waiters === 1 ? "1 waits" : `${lock.waiters} wait`;
    if (lock.health === "holder-finished") {
      rows.push({
        kind: "finished",
        subject: lock.key,
        text: `is held by ${lock.holder ?? "nobody"}, which is ${lock.instance?.status ?? "gone"}`,
        why: waiting,
        since: lock.acquiredAt,
        href,
      });
    } else if (lock.health === "expired") {
      rows.push({
        kind: "expired",
        subject: lock.key,
        text: `ran out; ${lock.holder ?? "its holder"} never released it`,
        why: waiting,
        since: lock.expiresAt,
        href,
      });
    } else if (isLongWaited(lock)) {
      rows.push({
        kind: "waits",
        subject: lock.key,
        text: lock.status === "free" ? freeWords(lock, now) : `is held by ${lock.holder ?? "nobody"}`,
        why: `${waiting}, the longest for ${formatDuration(lock.longestWaitMs ?? 0)}`,
        since: now - (lock.longestWaitMs ?? 0),
        href,
      });
    }
  }
  return rows.sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || (a.since ?? 0) - (b.since ?? 0),
  );
}

const isLongWaited = ({ longestWaitMs }: LockSummary): boolean => (longestWaitMs ?? 0) > longWaitMs;

/** What keeps who is first from a lock that nobody holds is not in the list: each is to be read for it. */
export const longWaitedFree = (locks: readonly LockSummary[]): LockSummary[] =>
  locks.filter((lock) => lock.status === "free" && isLongWaited(lock));

function freeWords({ key, coolUntil, queue }: WatchedLock, now: number): string {
  const cools =
    coolUntil !== null && coolUntil > now
      ? ` and cools for ${formatDuration(Math.ceil((coolUntil - now) / 1_000) * 1_000)} more`
      : "";
  const first = queue?.[0];
  if (!first) return `is free${cools}`;
  const others = first.keys.filter((each) => each !== key).join(", ");
  return `is free${cools}: ${first.holder}, first in line, ${firstWords[first.waitsFor](others)}`;
}

const firstWords: Record<LockView["queue"][number]["waitsFor"], (others: string) => string> = {
  line: () => "is about to get it",
  holder: () => "is about to get it",
  cooling: () => "waits until it has cooled",
  keys: (others) => `waits for another of its keys: ${others}`,
};

const where = (states: readonly string[]): string =>
  states.length === 0 ? "" : `, in ${states.map(shortStateName).join(" · ")}`;
