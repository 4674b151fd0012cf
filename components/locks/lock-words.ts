/**
 * A lock log entry in words.
 */
import {
  Archive,
  ArrowRightLeft,
  CircleSlash,
  Hand,
  ListEnd,
  Lock,
  LockOpen,
  RefreshCw,
  ShieldX,
  Snowflake,
  TimerOff,
  Trash,
  type LucideIcon,
} from "lucide-react";
import { formatDuration } from "@/components/ui/time";
import { coolsUntil, grantTerms, type LockLogEntry, type LockView } from "@/lib/contract/locks";

export const lockEntryLooks: Record<LockLogEntry["type"], { icon: LucideIcon; tone: string }> = {
  REQUESTED: { icon: Hand, tone: "text-text-3" },
  ENQUEUED: { icon: ListEnd, tone: "text-text-3" },
  ACQUIRED: { icon: Lock, tone: "text-taken" },
  RENEWED: { icon: RefreshCw, tone: "text-text-3" },
  RELEASED: { icon: LockOpen, tone: "text-text-3" },
  EXPIRED: { icon: TimerOff, tone: "text-exited" },
  FORCE_RELEASED: { icon: LockOpen, tone: "text-exited" },
  WAIT_TIMEOUT: { icon: CircleSlash, tone: "text-exited" },
  COOLED: { icon: Snowflake, tone: "text-text-3" },
  HANDOFF: { icon: ArrowRightLeft, tone: "text-text-3" },
  WRITE_REJECTED: { icon: ShieldX, tone: "text-failed" },
  DELETED: { icon: Trash, tone: "text-exited" },
  CHECKPOINT: { icon: Archive, tone: "text-text-3" },
};

/** What one who waits waits for. */
export const waitWords: Record<LockView["queue"][number]["waitsFor"], string> = {
  line: "Others are before it",
  holder: "It is next, when the holder lets go",
  cooling: "It is next, when the lock has cooled",
  keys: "It is next here, and another of its keys is not to be had",
};

export function lockEntryText(entry: LockLogEntry): string {
  const who = entry.holder ?? "nobody";
  const { details } = entry;
  switch (entry.type) {
    case "ACQUIRED":
    case "HANDOFF":
      return [`${who}, fence ${entry.fence}`, ...termsWords(entry)].join(", ");
    case "ENQUEUED":
      return `${who}${details["position"] === undefined ? "" : `, position ${String(details["position"])}`}`;
    case "FORCE_RELEASED":
      return `by ${entry.actor}, from ${who}, fence now ${entry.fence}${coolingWords(entry)}${entry.reason ? `: “${entry.reason}”` : ""}`;
    case "WRITE_REJECTED":
      return [
        ...(entry.holder === null ? [] : [who]),
        ...Object.entries(details).map(([name, value]) => `${words(name)} ${String(value)}`),
      ].join(", ");
    case "CHECKPOINT":
      return `all before is forgotten; ${entry.holder === null ? "free" : `held by ${who}`}, fence ${entry.fence}`;
    case "EXPIRED":
      return `${who}, fence ${entry.fence}${coolingWords(entry)}`;
    case "RELEASED":
      return `${who}${coolingWords(entry)}`;
    default:
      return [who, entry.reason ?? ""].filter(Boolean).join(": ");
  }
}

function termsWords(entry: LockLogEntry): string[] {
  const { ttlMs, holdMaxMs, coolMs } = grantTerms(entry);
  return [
    ...(ttlMs === null ? [] : [ttlMs === 0 ? "until its state is left" : `ttl ${formatDuration(ttlMs)}`]),
    ...(holdMaxMs === null ? [] : [`held at most ${formatDuration(holdMaxMs)}`]),
    ...(coolMs === null ? [] : [`cools ${formatDuration(coolMs)} after`]),
  ];
}

function coolingWords(entry: LockLogEntry): string {
  const until = coolsUntil(entry);
  return until === null ? "" : `, cools for ${formatDuration(until - entry.at)}`;
}

/** `refusedFence` → `refused fence`. */
const words = (name: string): string => name.replace(/([A-Z])/g, " $1").toLowerCase();
