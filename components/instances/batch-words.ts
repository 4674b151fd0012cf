/**
 * Batches in words: the verbs that can be done to many, which instances they fit, and how far a batch is.
 */
import {
  ArrowRightLeft,
  Check,
  CircleX,
  GitFork,
  Hourglass,
  Inbox,
  Rewind,
  Square,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import type { Tone } from "@/components/ui/chip";
import { formatCount } from "@/components/ui/time";
import type { BatchCount, BatchItem, BatchVerb, BatchView } from "@/lib/contract/batches";
import { controlWords, type ControlVerb } from "./control-words";

export interface BatchWords {
  /** On the button: a verb. */
  label: string;
  icon: LucideIcon;
  /** What it destroys is not brought back: the count is typed. */
  danger: boolean;
  /** Statuses that it fits; null: that is not told by the status. */
  from: readonly string[] | null;
  does: readonly string[];
}

const ofControl = (verb: ControlVerb): BatchWords => {
  const { label, icon, danger, from, does } = controlWords[verb];
  return { label, icon, danger, from, does };
};

export const batchWords: Record<BatchVerb, BatchWords> = {
  suspend: ofControl("suspend"),
  resume: ofControl("resume"),
  redrive: ofControl("redrive"),
  cancel: ofControl("cancel"),
  terminate: ofControl("terminate"),
  "retry-dead-letters": {
    label: "Retry dead letters",
    icon: Inbox,
    danger: false,
    from: null,
    does: [
      "Each message that was set aside is sent again, once, to the end of its instance’s mailbox.",
      "An instance without any is skipped.",
    ],
  },
  reset: {
    label: "Reset",
    icon: Rewind,
    danger: true,
    from: ["running", "suspended", "cancelling", "failed", "stuck"],
    does: [
      "Each instance goes on from what it was at that entry; 1 is its start. Its history stays.",
      "Tasks under way are cancelled and not sent again; no timer is armed.",
    ],
  },
  fork: {
    label: "Fork",
    icon: GitFork,
    danger: false,
    from: null,
    does: ["A new instance begins where each one is, or was."],
  },
  delete: {
    label: "Delete",
    icon: Trash2,
    danger: true,
    from: null,
    does: [
      "Each instance goes, whatever its status: mailbox, timers and tasks with it.",
      "Its log stays for as long as logs of deleted instances are kept.",
    ],
  },
  migrate: {
    label: "Migrate",
    icon: ArrowRightLeft,
    danger: false,
    from: ["queued", "running", "suspended", "cancelling", "compensating", "stuck", "failed"],
    does: [
      "Each instance goes on as one of the other version of its chart, in the states of the same name.",
      "One whose states the other version doesn’t have is refused, unless the mapping names them.",
    ],
  },
};
/** In the order of the menu, gentlest first. Not `fork`: copies by the hundred are for programs. */
export const batchVerbs = [
  "suspend",
  "resume",
  "redrive",
  "retry-dead-letters",
  "migrate",
  "reset",
  "cancel",
  "terminate",
  "delete",
] as const satisfies readonly BatchVerb[];

/** What is asked beside the verb: `to #1`, `from #412`, `to v3`; null: nothing. */
export function targetWords({
  verb,
  seq,
  version,
}: Pick<BatchView, "verb" | "seq" | "version">): string | null {
  if (version !== null) return `to v${version}`;
  if (seq !== null) return `${verb === "fork" ? "from" : "to"} #${formatCount(seq)}`;
  return verb === "fork" ? "from each one’s newest" : null;
}

/** `status failed, label site:north, label line:2`. */
export function filterWords(filter: object): string {
  const parts = Object.entries(filter).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name} ${String(each)}`),
  );
  return parts.length === 0 ? "all" : parts.join(", ");
}

/** What is wrong with a number that may be left out. */
export function numberProblem(text: string, max: number): string | null {
  if (text === "") return null;
  if (!/^\d+$/.test(text) || Number(text) < 1)
    return `A whole number from 1${max > 1e6 ? " on" : ` to ${formatCount(max)}`}.`;
  return Number(text) <= max ? null : `Too large: at most ${formatCount(max)}.`;
}

/** `1,204`, `100,000+`. */
export const countWords = ({ count, capped }: Pick<BatchCount, "count" | "capped">): string =>
  `${formatCount(count)}${capped ? "+" : ""}`;

/** `3 instances`, `1 instance`. */
export const instancesWords = (count: Pick<BatchCount, "count" | "capped">): string =>
  `${countWords(count)} ${count.count === 1 && !count.capped ? "instance" : "instances"}`;

/** How many of those counted the verb does not fit; they will be refused, or skipped. Null: not told by the status. */
export function unfit(verb: BatchVerb, { byStatus }: BatchCount): number | null {
  const { from } = batchWords[verb];
  if (from === null) return null;
  return byStatus.reduce((sum, { status, count }) => (from.includes(status) ? sum : sum + count), 0);
}

/** What is not done yet, of those that are listed. */
export const leftOf = ({ total, ok, refused, skipped }: BatchView): number => total - ok - refused - skipped;

export function progressWords(batch: BatchView): string {
  const done = batch.total - leftOf(batch);
  switch (batch.status) {
    case "listing":
      return `listing, ${formatCount(batch.total)} so far`;
    case "running":
      return `${formatCount(done)} of ${formatCount(batch.total)}`;
    case "cancelled":
      return `stopped at ${formatCount(done)} of ${formatCount(batch.total)}`;
    case "done":
      return `all ${formatCount(batch.total)}`;
  }
}

export const batchLooks: Record<BatchView["status"], { tone: Tone; icon?: LucideIcon; word: string }> = {
  listing: { tone: "active", icon: Hourglass, word: "listing" },
  running: { tone: "active", word: "running" },
  done: { tone: "neutral", icon: Check, word: "done" },
  cancelled: { tone: "exited", icon: Square, word: "stopped" },
};

export const itemLooks: Record<BatchItem["status"], { tone: Tone; icon: LucideIcon; word: string }> = {
  pending: { tone: "neutral", icon: Hourglass, word: "to come" },
  ok: { tone: "neutral", icon: Check, word: "ok" },
  refused: { tone: "failed", icon: CircleX, word: "refused" },
  skipped: { tone: "neutral", icon: Square, word: "skipped" },
};
