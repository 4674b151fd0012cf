/**
 * A log entry in words: what its list row, the scrubber and Why say about it.
 */
import {
  ArrowRight,
  CircleSlash,
  CircleX,
  Lock,
  Play,
  Timer,
  Trash,
  TriangleAlert,
  User,
  Zap,
  type LucideIcon,
} from "lucide-react";
import { shortStateName } from "@/components/instances/state-name";
import { formatCount } from "@/components/ui/time";
import type { LogEntry } from "@/lib/contract/instances";
import type { ChartTree } from "@/lib/diagram/chart-tree";

const reasons: Record<string, string> = {
  "guard-error": "a guard failed",
  "guards-false": "guards false",
  forbidden: "forbidden here",
  "no-handler": "no handler",
  "nothing-due": "nothing due",
  "stale-generation": "of an earlier entry",
  final: "already ended",
};

/** Where a replay began: a stored snapshot, or the instance's start when none was stored before. */
export const replayStart = (fromSnapshot: number): string =>
  fromSnapshot === 0 ? "the start" : `snapshot #${formatCount(fromSnapshot)}`;

/** `guards false`: an ignored event's reason in two words. */
export const reasonWords = (reason: string | null): string =>
  reason ? (reasons[reason] ?? reason) : "ignored";

/** The row's first line: the event, `timer 15m` for a timer's key or event. */
export const entryTitle = (entry: Pick<LogEntry, "kind" | "type">): string =>
  entry.kind === "timer" ? `timer ${entry.type}` : entry.type;

/** The row's second line. With the chart's tree it names every leaf entered, without it the innermost state. */
export function entryLine(entry: LogEntry, tree: ChartTree | null): string {
  const line = outcomeLine(entry, tree);
  return hasProblem(entry) ? `${line} · ${problems[entry.error?.code ?? ""] ?? "something failed"}` : line;
}

/** Something in it failed, though the step did not. */
const hasProblem = (entry: Pick<LogEntry, "outcome" | "error">): boolean =>
  entry.error !== null && entry.outcome !== "failed";

const problems: Record<string, string> = {
  "error.execution": "an action or guard failed",
  "error.communication": "a send reached nobody",
};

function outcomeLine(entry: LogEntry, tree: ChartTree | null): string {
  if (entry.outcome === "ignored") return reasonWords(entry.reason);
  if (entry.outcome === "failed") return entry.reason ?? "step failed, state unchanged";
  if (entry.outcome === "handled") return entry.kind === "control" ? `by ${entry.actor}` : "actions only";
  if (entry.kind === "migration" || (entry.kind === "control" && entry.entered.length === 0)) {
    return `by ${entry.actor}`;
  }
  const from = innermost(entry.exited, "first");
  const to = leaves(entry.entered, tree) ?? innermost(entry.entered, "last");
  if (from && to) return `${from} → ${to}`;
  return to ?? (from ? `left ${from}` : "moved");
}

function leaves(names: readonly string[], tree: ChartTree | null): string | undefined {
  const found = names.filter((name) => tree?.byName.get(name)?.children.length === 0);
  return found.length > 0 ? found.map(shortStateName).join(" · ") : undefined;
}

/** Exit order is inner states first, entry order inner states last. */
function innermost(names: readonly string[], end: "first" | "last"): string | undefined {
  const name = end === "first" ? names[0] : names.at(-1);
  return name === undefined || name === "" ? undefined : shortStateName(name);
}

export type EntryTone = "active" | "exited" | "failed" | "taken" | "quiet";

export function entryLook(entry: Pick<LogEntry, "kind" | "outcome" | "error">): {
  icon: LucideIcon;
  tone: EntryTone;
} {
  if (entry.outcome === "failed") return { icon: CircleX, tone: "failed" };
  if (hasProblem(entry)) return { icon: TriangleAlert, tone: "failed" };
  switch (entry.kind) {
    case "control":
    case "migration":
      return { icon: User, tone: "exited" };
    case "deleted":
      return { icon: Trash, tone: "exited" };
    case "lock-answer":
      return { icon: Lock, tone: "taken" };
    case "start":
      return { icon: Play, tone: "active" };
    case "timer":
      return { icon: Timer, tone: entry.outcome === "moved" ? "active" : "quiet" };
    case "event":
    case "task-answer":
    case "step-failed":
      if (entry.outcome === "moved") return { icon: ArrowRight, tone: "active" };
      return entry.outcome === "handled"
        ? { icon: Zap, tone: "quiet" }
        : { icon: CircleSlash, tone: "quiet" };
  }
}

/** The scrubber's marks: ✕ failure · ■ lock · ○ timer · ▲ operator. */
export function scrubberMark(
  entry: Pick<LogEntry, "kind" | "outcome">,
): "failure" | "lock" | "timer" | "operator" | null {
  if (entry.outcome === "failed") return "failure";
  if (entry.kind === "lock-answer") return "lock";
  if (entry.kind === "timer") return "timer";
  return entry.kind === "control" || entry.kind === "migration" || entry.kind === "deleted"
    ? "operator"
    : null;
}
