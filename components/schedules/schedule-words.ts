/**
 * Schedules in words: what one does, when it fires next, what became of its ticks.
 */
import { Ban, Check, CircleX, Pause, type LucideIcon } from "lucide-react";
import type { Tone } from "@/components/ui/chip";
import { formatCount, formatRelative } from "@/components/ui/time";
import type { Misfire, ScheduleView, TickView } from "@/lib/contract/schedules";

/** `start order v2`, `start order, newest`, `send tick to agv-07`. */
export function actionWords(action: ScheduleView["action"]): string {
  if (action.kind === "start") {
    return `start ${action.chartId}${action.version === null ? ", newest" : ` v${action.version}`}`;
  }
  return `send ${action.type} to ${"instanceId" in action.to ? action.to.instanceId : `key ${action.to.businessKey}`}`;
}

/** `in 3 h 12 m`, `due now`, `paused`, `no time ahead`. */
export function nextWords({ paused, nextAt }: Pick<ScheduleView, "paused" | "nextAt">, now: number): string {
  if (paused) return "paused";
  if (nextAt === null) return "no time ahead";
  // On whole seconds, so that the countdown ticks evenly.
  const wait = Math.ceil((nextAt - now) / 1_000) * 1_000;
  return wait <= 0 ? "due now" : formatRelative(now + wait, now);
}

export const misfireWords: Record<Misfire, { name: string; says: (max: number) => string }> = {
  once: { name: "run once for all of them", says: () => "One run for all missed ticks, the newest." },
  skip: { name: "skip them", says: () => "Missed ticks are recorded and not run." },
  all: {
    name: "run each of them",
    says: (max) => `Missed ticks are run, oldest first; of more than ${formatCount(max)} the newest.`,
  },
};

export const tickLooks: Record<TickView["outcome"], { icon: LucideIcon; tone: Tone; word: string }> = {
  started: { icon: Check, tone: "neutral", word: "started" },
  sent: { icon: Check, tone: "neutral", word: "sent" },
  skipped: { icon: Ban, tone: "exited", word: "skipped" },
  refused: { icon: CircleX, tone: "failed", word: "refused" },
};

export type ScheduleStatus = "active" | "paused" | "over";
export const statusOf = ({ paused, nextAt }: Pick<ScheduleView, "paused" | "nextAt">): ScheduleStatus =>
  paused ? "paused" : nextAt === null ? "over" : "active";
export const statusLooks: Record<ScheduleStatus, { tone: Tone; icon?: LucideIcon }> = {
  active: { tone: "active" },
  paused: { tone: "neutral", icon: Pause },
  over: { tone: "neutral", icon: Check },
};

/** `and 3 missed before it`; the count stops at 99. */
export const missedWords = (missed: number): string =>
  missed === 0 ? "" : `and ${missed >= 99 ? "99 or more" : formatCount(missed)} missed before it`;

export const isByHand = (tick: Pick<TickView, "tick">): boolean => tick.tick.startsWith("hand:");
