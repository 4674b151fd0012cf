/**
 * The control verbs in words: when they make sense, what they do, and how a status that an operator made reads.
 */
import {
  Ban,
  Boxes,
  Cpu,
  KeyRound,
  Lock,
  OctagonX,
  Pause,
  Play,
  RotateCcw,
  UserRound,
  ZapOff,
  type LucideIcon,
} from "lucide-react";
import { formatCount } from "@/components/ui/time";
import type { ConditionName, InstanceStatus, InstanceSummary } from "@/lib/contract/instances";

export type ControlVerb = "suspend" | "resume" | "cancel" | "terminate" | "redrive";

export interface ControlWords {
  /** On the button: a verb. */
  label: string;
  /** While it is under way. */
  doing: string;
  icon: LucideIcon;
  danger: boolean;
  from: readonly InstanceStatus[];
  /** What it does, a line each. */
  does: readonly string[];
}

export const controlVerbs = ["suspend", "resume", "redrive", "cancel", "terminate"] as const;

export const controlWords: Record<ControlVerb, ControlWords> = {
  suspend: {
    label: "Suspend",
    doing: "Suspending…",
    icon: Pause,
    danger: false,
    from: ["running"],
    does: [
      "What is sent to it waits in its mailbox, in order.",
      "Its timers do not fire; those that come due meanwhile fire when it is resumed.",
      "Tasks under way go on and answer into the mailbox. Locks it holds stay held.",
    ],
  },
  resume: {
    label: "Resume",
    doing: "Resuming…",
    icon: Play,
    danger: false,
    from: ["suspended"],
    does: ["Timers that came due fire first, then what waits is applied in order."],
  },
  redrive: {
    label: "Redrive",
    doing: "Redriving…",
    icon: RotateCcw,
    danger: false,
    from: ["failed", "stuck"],
    does: [
      "One that failed runs again, from the event that failed: that one first, then what waits behind it.",
      "One that is stuck goes on undoing: what could not be undone is tried again, with all its attempts.",
      "If nothing has changed since, it fails again.",
    ],
  },
  cancel: {
    label: "Cancel",
    doing: "Cancelling…",
    icon: Ban,
    danger: true,
    from: ["queued", "running", "suspended", "failed", "stuck"],
    does: [
      "Its chart gets the event cancel. If it handles it, it cleans up and ends as cancelled.",
      "If it doesn’t, it ends where it is, at once.",
    ],
  },
  terminate: {
    label: "Terminate",
    doing: "Terminating…",
    icon: OctagonX,
    danger: true,
    from: ["queued", "running", "suspended", "cancelling", "compensating", "stuck", "failed"],
    does: [
      "It ends now, without a word to its chart: nothing is cleaned up.",
      "What waits for it becomes dead letters. Its timers and tasks go.",
    ],
  },
};

export const possibleVerbs = (status: string): ControlVerb[] =>
  controlVerbs.filter((verb) => controlWords[verb].from.includes(status as InstanceStatus));

/** Statuses from which it can be reset to an earlier entry. */
const resettable: readonly InstanceStatus[] = ["running", "suspended", "cancelling", "failed", "stuck"];
export const canReset = (status: string): boolean => resettable.includes(status as InstanceStatus);

/** It has not ended: there is something to move to another version. */
export const canMigrate = (status: string): boolean => possibleVerbs(status).length > 0;

type Awaiting = Pick<InstanceSummary, "status" | "conditions">;

type Condition = InstanceSummary["conditions"][number];

/** Its invocation's id, as the chart has it; null: of a concurrency key. */
const invokeIdOf = ({ taskId }: Condition): string | null =>
  taskId === null ? null : taskId.slice(taskId.indexOf(":") + 1);

/** The locks that it waits for; none: it has just asked. */
export const locksAwaited = ({ for: kind, of, by }: Condition): string[] =>
  kind !== "lock" || (of === "lock" && by === null) ? [] : of.split(", ");

/** To be put after "waits for". */
export function reasonOf(condition: Condition): string {
  if (condition.for !== "child") return condition.reason;
  return `the ${condition.of === "chart" ? "child" : "children"} of ${invokeIdOf(condition) ?? ""}`;
}

/** The point of it first, for a narrow place; the whole is `waitsFor`. */
export function shortReasonOf(condition: Condition): string {
  const locks = locksAwaited(condition);
  return locks.length === 0
    ? reasonOf(condition)
    : `the ${locks.length === 1 ? "lock" : "locks"} ${locks.join(", ")}`;
}

/** What of the words about it are names. */
export const namesIn = (condition: Condition): string[] =>
  [...locksAwaited(condition), condition.of, condition.by, invokeIdOf(condition)].filter(
    (name) => name !== null && name !== "",
  ) as string[];

/** The text in pieces, the names apart: each odd one is a name. */
export function splitNames(text: string, names: readonly string[]): string[] {
  if (names.length === 0) return [text];
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const any = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text.split(new RegExp(`(?<![\\w-])(${any})(?![\\w-])`));
}

/** What it waits for, in one sentence; null: for nothing but events and time. */
export function waitsFor({
  conditions: [first, ...more],
}: Pick<InstanceSummary, "conditions">): string | null {
  if (!first) return null;
  const others = more.length === 0 ? "" : ` And for ${formatCount(more.length)} more.`;
  return `It waits for ${reasonOf(first)}.${others}`;
}

/** What an instance can be found by. */
export const conditionLabels: Record<ConditionName, string> = {
  key: "a concurrency key",
  lock: "a lock",
  task: "a worker’s task",
  human: "a person",
  child: "a child instance",
  breaker: "a breaker",
};

export const conditionIcons: Record<ConditionName, LucideIcon> = {
  key: KeyRound,
  lock: Lock,
  task: Cpu,
  human: UserRound,
  child: Boxes,
  breaker: ZapOff,
};

/** What an instance that does not run waits for, and the verb that helps; null: nothing to say. */
export function haltOf(
  instance: Awaiting & { pending: number; error: { code: string; message: string } | null },
): { title: string; text: string; verb: ControlVerb } | null {
  const { status, pending, error } = instance;
  const waiting =
    pending === 0 ? "" : ` ${formatCount(pending)} ${pending === 1 ? "message waits" : "messages wait"}.`;
  switch (status) {
    case "queued":
      return {
        title: "Queued.",
        text: `${waitsFor(instance) ?? "It waits for its turn."} It begins when its turn comes.`,
        verb: "cancel",
      };
    case "suspended":
      return { title: "Suspended.", text: `Events wait, timers do not fire.${waiting}`, verb: "resume" };
    case "failed":
      return {
        title: "Failed.",
        text: `${error ? `${error.code}: ${error.message}.` : ""}${waiting}`,
        verb: "redrive",
      };
    case "stuck":
      return {
        title: "Stuck.",
        text: `${error ? `${error.code}: ${error.message}. ` : ""}What it did could not be undone: mend the cause and redrive it, or put it right by hand and terminate it.${waiting}`,
        verb: "redrive",
      };
    case "cancelling":
      return { title: "Being cancelled.", text: "Its chart cleans up.", verb: "terminate" };
    default:
      return null;
  }
}
