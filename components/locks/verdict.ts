/**
 * What releasing a lock by force would meet: is its holder alive? In the words of the dialog.
 *
 * Holds: pure, on the database's clock; says what was observed, and "probably" where it is a guess.
 */
import { shortStates } from "@/components/instances/state-name";
import { formatDuration } from "@/components/ui/time";
import type { LockView } from "@/lib/contract/locks";

export interface Verdict {
  tone: "danger" | "warning" | "calm";
  title: string;
  detail: string;
  /** A live holder may be writing at this moment: the key must be typed. */
  holderLive: boolean;
}

export function verdictOf(lock: LockView, now: number): Verdict {
  const holder = lock.holder ?? "nobody";
  const detail = [holderWords(lock), waitWords(lock)].filter(Boolean).join(" ");
  const renewed = lock.renewedAt === null ? null : `renewed ${ago(now - lock.renewedAt)}`;
  switch (lock.health) {
    case "free":
      return {
        tone: "calm",
        title: "It is free: nobody holds it",
        detail: "Releasing it only raises the fence.",
        holderLive: false,
      };
    case "expired":
      return {
        tone: "calm",
        title: `The lease ran out ${lock.expiresAt === null ? "" : ago(now - lock.expiresAt)}`.trim(),
        detail:
          `Fenced writes of ${holder} are refused already, and whoever asks next gets the lock. ${waitWords(lock)}`.trim(),
        holderLive: false,
      };
    case "holder-finished":
      return {
        tone: "calm",
        title: `The holder has finished: ${holder} is ${lock.instance?.status ?? "gone"}`,
        detail: [renewed ? `Its session ${renewed}.` : "", waitWords(lock)].filter(Boolean).join(" "),
        holderLive: false,
      };
    case "late":
      return {
        tone: "warning",
        title: `The holder is late: ${renewed ?? "it has not renewed"}, maybe gone, maybe slow`,
        detail,
        holderLive: true,
      };
    case "healthy":
      return {
        tone: "danger",
        title: renewed
          ? `The holder is alive: ${renewed}, probably still writing`
          : "The holder is alive: its state holds the lock, without a lease",
        detail,
        holderLive: true,
      };
  }
}

function holderWords(lock: LockView): string {
  if (!lock.instance)
    return `${lock.holder ?? "The holder"} holds it in session ${lock.session ?? "unknown"}.`;
  const states = shortStates(lock.instance.configuration);
  return `${lock.instance.id} is ${lock.instance.status}${states ? `, in ${states}` : ""}.`;
}

function waitWords(lock: LockView): string {
  const next = lock.queue[0];
  if (!next) return "Nobody waits for it.";
  const longest =
    lock.longestWaitMs === null ? "" : `, the longest for ${formatDuration(lock.longestWaitMs)}`;
  return `${lock.waiters === 1 ? "1 waits" : `${lock.waiters} wait`}${longest}; next is ${next.holder}.`;
}

const ago = (ms: number): string =>
  ms < 1_000 ? "just now" : `${formatDuration(Math.floor(ms / 1_000) * 1_000)} ago`;
