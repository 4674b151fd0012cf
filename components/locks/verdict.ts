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

/** Nobody holds it, and for a while no other session is to have it. */
export const isCooling = ({ status, coolUntil }: Pick<LockView, "status" | "coolUntil">): boolean =>
  status === "free" && coolUntil !== null;

/** How long no other session gets it after a release by force; 0: at once, also when it cools now. */
export function coolsFor(lock: LockView, now: number): number {
  if (lock.status === "free") return 0;
  const from = lock.status === "expired" ? (lock.expiresAt ?? now) : now;
  const asked = lock.coolMs === null ? 0 : from + lock.coolMs - now;
  return Math.max(0, (lock.coolUntil ?? now) - now, asked);
}

export function verdictOf(lock: LockView, now: number): Verdict {
  const holder = lock.holder ?? "nobody";
  const cools = coolsFor(lock, now);
  const then = cools > 0 ? `Once released it cools for ${span(cools)}.` : "";
  const sentences = (...all: string[]) => all.filter(Boolean).join(" ");
  const detail = sentences(holderWords(lock), then, waitWords(lock));
  const renewed = lock.renewedAt === null ? null : `renewed ${ago(now - lock.renewedAt)}`;
  switch (lock.health) {
    case "free":
      if (isCooling(lock)) {
        return {
          tone: "calm",
          title: `It cools for ${span((lock.coolUntil ?? now) - now)} more: nobody holds it`,
          detail: sentences(
            "Releasing it ends the cooling. What its last holder left to settle may not have settled.",
            waitWords(lock),
          ),
          holderLive: false,
        };
      }
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
        detail: sentences(
          `Fenced writes of ${holder} are refused already, and`,
          cools > 0
            ? `no other session gets the lock for ${span(cools)} more.`
            : "whoever asks next gets the lock.",
          waitWords(lock),
        ),
        holderLive: false,
      };
    case "holder-finished":
      return {
        tone: "calm",
        title: `The holder has finished: ${holder} is ${lock.instance?.status ?? "gone"}`,
        detail: sentences(renewed ? `Its session ${renewed}.` : "", then, waitWords(lock)),
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

const ago = (ms: number): string => (ms < 1_000 ? "just now" : `${span(ms)} ago`);

const span = (ms: number): string => formatDuration(Math.max(0, Math.floor(ms / 1_000) * 1_000));
