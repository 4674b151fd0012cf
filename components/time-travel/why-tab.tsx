"use client";
/**
 * Why an event did what it did: per active state the candidates in the order they were tried, the guard as written, its
 * verdict, the values it read, and for an ignored event the reason in words. All of it was recorded when it was decided.
 */
import { Check, CircleSlash, CircleX, X } from "lucide-react";
import { shortStateName } from "@/components/instances/state-name";
import { cn } from "@/components/ui/class-names";
import { Leaf, JsonView } from "@/components/ui/json-view";
import { Section } from "@/components/ui/section";
import { ErrorPanel } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import type { LogEntryDetail } from "@/lib/contract/instances";
import type { ChartTree } from "@/lib/diagram/chart-tree";
import { guardText } from "@/lib/diagram/label";
import type { Candidate, Microstep } from "@/lib/statechart/trace";

export function WhyTab({ entry, tree }: { entry: LogEntryDetail; tree: ChartTree | null }) {
  return (
    <div data-testid="why">
      <div className="border-b border-border px-3.5 py-3">
        <h2 className="text-title leading-[18px] font-semibold" data-testid="why-headline">
          {headline(entry)}
        </h2>
        <p className="mt-0.5 text-body text-text-2">
          <span className="font-mono text-table">{entry.type}</span> from{" "}
          <span className="font-mono text-table">{entry.actor}</span>
          {entry.dedupeKey ? (
            <>
              {" "}
              · key <span className="font-mono text-table">{entry.dedupeKey}</span>
            </>
          ) : null}
        </p>
        {entry.outcome === "ignored" ? (
          <p className="mt-2 flex gap-2 text-body text-text-2" data-testid="why-ignored">
            <CircleSlash size={14} aria-hidden className="mt-0.5 shrink-0" />
            {ignoredBecause(entry)}
          </p>
        ) : null}
        {entry.error ? (
          <ErrorPanel
            className="mt-2"
            title={entry.outcome === "failed" ? `The step failed: ${entry.error.code}` : entry.error.code}
          >
            {entry.error.message}{" "}
            {entry.outcome === "failed"
              ? `State and context are as they were before #${formatCount(entry.seq)}.`
              : "The step went on; what failed is marked below."}
          </ErrorPanel>
        ) : null}
      </div>
      {(entry.microsteps as Microstep[]).map((microstep) => (
        <MicrostepSection key={microstep.index} microstep={microstep} entry={entry} tree={tree} />
      ))}
      {entry.microsteps.length === 0 && entry.outcome !== "failed" ? (
        <p className="px-3.5 py-3 text-text-2">No microstep was recorded for this entry.</p>
      ) : null}
      {entry.data !== null ? (
        <Section title="Payload">
          <JsonView value={entry.data} />
        </Section>
      ) : null}
      {entry.logs.length > 0 ? (
        <Section title="Logged">
          <ul className="font-mono text-table">
            {entry.logs.map((line, index) => (
              <li key={index} className="flex gap-2">
                {line.label ? <span className="text-text-3">{line.label}</span> : null}
                <Leaf value={line.value} />
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
    </div>
  );
}

function MicrostepSection({
  microstep,
  entry,
  tree,
}: {
  microstep: Microstep;
  entry: LogEntryDetail;
  tree: ChartTree | null;
}) {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of microstep.candidates) {
    groups.set(candidate.atomic, [...(groups.get(candidate.atomic) ?? []), candidate]);
  }
  const what = microstep.event ? microstep.event.type : entry.kind === "start" ? "start" : "eventless";
  const quiet =
    groups.size === 0 &&
    microstep.actions.length === 0 &&
    microstep.entered.length + microstep.exited.length === 0;
  if (quiet && microstep.index > 1) return null;
  return (
    <Section
      title={
        microstep.index > 1 || entry.microsteps.length > 1 ? `Microstep ${microstep.index}` : "Candidates"
      }
      hint={what}
    >
      {[...groups].map(([atomic, candidates]) => (
        <div key={atomic} className="mb-3 last:mb-0">
          <p className="mb-1.5 text-hint text-text-2">
            <span className="font-semibold text-text" title={atomic}>
              {shortStateName(atomic)}
            </span>{" "}
            {candidates.length === 1 ? "1 candidate" : `${candidates.length} candidates, in order`}
          </p>
          <ol className="grid gap-1.5">
            {candidates.map((candidate, index) => (
              <CandidateCard key={candidate.transition} candidate={candidate} place={index + 1} tree={tree} />
            ))}
          </ol>
        </div>
      ))}
      {groups.size === 0 && microstep.event ? (
        <p className="flex items-center gap-2 text-text-2">
          <CircleSlash size={13} aria-hidden />
          No handler for <span className="font-mono text-table">{microstep.event.type}</span>
        </p>
      ) : null}
      <Moves microstep={microstep} />
    </Section>
  );
}

function CandidateCard({
  candidate,
  place,
  tree,
}: {
  candidate: Candidate;
  place: number;
  tree: ChartTree | null;
}) {
  const transition = tree?.transitions.find((candidateInTree) => candidateInTree.id === candidate.transition);
  const targets = transition?.targets.map((target) => target.state?.key ?? target.text) ?? [];
  const where = candidate.forbidden
    ? "forbidden here"
    : targets.length > 0
      ? `→ ${targets.join(", ")}`
      : transition
        ? "stays, actions only"
        : candidate.transition;
  // A named guard is shown by name; its text, as this version defines it, below.
  const named = transition?.spec.guard;
  const definition = typeof named === "string" && tree ? namedGuard(tree, named) : null;
  const taken = candidate.selected;
  return (
    <li
      data-testid="candidate"
      data-verdict={candidate.verdict}
      data-selected={taken || undefined}
      className={cn(
        "overflow-hidden rounded-box border",
        taken ? "border-taken bg-taken-soft" : "border-border-2 bg-surface",
      )}
    >
      <div className="flex min-h-8 items-center gap-2 px-2.5 py-1">
        <span
          className={cn(
            "flex size-[18px] shrink-0 items-center justify-center rounded-kbd text-hint font-semibold tabular-nums",
            taken ? "bg-taken text-surface" : "bg-surface-3 text-text-2",
          )}
        >
          {place}
        </span>
        <span
          className={cn("min-w-0 truncate font-semibold", taken && "text-taken")}
          title={candidate.transition}
        >
          {where}
        </span>
        {candidate.guard === null && place > 1 ? (
          <span className={taken ? "text-taken" : "text-text-3"}>else</span>
        ) : null}
        <VerdictWord candidate={candidate} />
      </div>
      {candidate.guard !== null ? (
        <pre className="border-t border-border bg-surface-2 px-2.5 py-1.5 font-mono text-hint break-words whitespace-pre-wrap">
          {candidate.guard}
          {definition !== null && definition !== candidate.guard ? (
            <span className="text-text-3">
              {"\n"}= {definition}
            </span>
          ) : null}
        </pre>
      ) : null}
      {candidate.reads.length > 0 ? (
        <dl className="border-t border-border bg-surface" aria-label="Values read">
          {candidate.reads.map(([path, value], index) => (
            <div
              key={`${path} ${index}`}
              className="flex gap-3 border-b border-border px-2.5 py-1 font-mono text-hint last:border-b-0"
            >
              <dt className="min-w-0 flex-1 truncate text-text-2" title={path}>
                {path}
              </dt>
              <dd className="min-w-0 text-right font-semibold">
                <Leaf value={value} />
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
      {candidate.error !== undefined ? (
        <p className="border-t border-border bg-failed-soft px-2.5 py-1.5 font-mono text-hint break-words whitespace-pre-wrap text-failed">
          {candidate.error}
        </p>
      ) : null}
    </li>
  );
}

function VerdictWord({ candidate }: { candidate: Candidate }) {
  const [Icon, word, tone] = candidate.selected
    ? [Check, "taken", "text-taken"]
    : candidate.verdict === "true"
      ? [Check, "true", "text-active"]
      : candidate.verdict === "not-evaluated"
        ? [null, "not evaluated", "text-text-3"]
        : candidate.verdict === "error"
          ? [CircleX, "error", "text-failed"]
          : candidate.verdict === "placeholder"
            ? [X, "placeholder: counts as false", "text-exited"]
            : [X, "false", "text-failed"];
  return (
    <span className={cn("ml-auto flex shrink-0 items-center gap-1 text-hint font-medium", tone)}>
      {Icon ? <Icon size={13} aria-hidden /> : null}
      {word}
    </span>
  );
}

function Moves({ microstep }: { microstep: Microstep }) {
  const rows: { key: string; word: string; text: string; error?: string }[] = [
    ...microstep.exited.map((name) => ({
      key: `x${name}`,
      word: "exit",
      text: shortStateName(name) || "the chart",
    })),
    ...microstep.entered.map((name) => ({
      key: `e${name}`,
      word: "enter",
      text: shortStateName(name) || "the chart",
    })),
    ...microstep.actions.map((action, index) => ({
      key: `a${index}`,
      word: action.block,
      text: action.text,
      ...(action.error === undefined ? {} : { error: action.error }),
    })),
  ];
  if (rows.length === 0) return null;
  return (
    <ul className="mt-2.5 text-hint">
      {rows.map((row) => (
        <li key={row.key} className="flex gap-2 leading-[18px]">
          <span className="w-16 shrink-0 text-text-3">{row.word}</span>
          <span className="min-w-0 font-mono break-words">
            {row.text}
            {row.error ? <span className="block text-failed">{row.error}</span> : null}
          </span>
        </li>
      ))}
    </ul>
  );
}

function namedGuard(tree: ChartTree, name: string): string | null {
  const guards = (tree.root.node as { guards?: Record<string, Parameters<typeof guardText>[0]> }).guards;
  const guard = guards && Object.hasOwn(guards, name) ? guards[name] : undefined;
  return guard === undefined ? null : guardText(guard);
}

function headline(entry: LogEntryDetail): string {
  const to = entry.entered.filter((name) => name !== "").at(-1);
  switch (entry.outcome) {
    case "moved":
      if (entry.kind === "start") return `Started${to ? ` in ${shortStateName(to)}` : ""}`;
      return (to ? `Moved to ${shortStateName(to)}` : "Moved") + because(entry);
    case "handled":
      return entry.kind === "control" ? `By hand: ${entry.type}` : "Handled without a move";
    case "ignored":
      return `Ignored: ${ignoredShort[entry.reason ?? ""] ?? entry.reason ?? "no reason was recorded"}`;
    case "failed":
      return "Failed, nothing was changed";
  }
}

/** Longer guards are read below, not in a headline. */
const guardShown = 40;

/** Taken as the last resort: the guard before it that said no is the reason. */
function because(entry: LogEntryDetail): string {
  const candidates = entry.microsteps[0]?.candidates ?? [];
  const taken = candidates.find((candidate) => candidate.selected);
  if (!taken || taken.guard !== null) return "";
  const refused = candidates.filter(
    (candidate) =>
      candidate.atomic === taken.atomic && candidate.guard !== null && candidate.verdict === "false",
  );
  const guard = refused.length === 1 ? refused[0]?.guard : null;
  return guard && guard.length <= guardShown ? ` because ${guard} was false` : "";
}

const ignoredShort: Record<string, string> = {
  "guard-error": "a guard couldn’t be evaluated",
  "guards-false": "every guard said no",
  forbidden: "the event is forbidden here",
  "no-handler": "no handler",
  "nothing-due": "nothing was due",
  "stale-generation": "it belongs to an earlier entry of its state",
  final: "the instance had ended",
};

function ignoredBecause(entry: LogEntryDetail): string {
  const type = entry.type;
  switch (entry.reason) {
    case "guards-false":
      return `An active state has a transition on ${type}, but each of its guards was false. Nothing moved, nothing ran; the event stays in the log.`;
    case "guard-error":
      return `A guard on ${type} failed to evaluate; that counts as false, and no later candidate was true.`;
    case "no-handler":
      return `No handler: none of the active states, nor any state around them, has a transition on ${type}.`;
    case "forbidden":
      return `The active state forbids ${type} ({} in the chart), so the states around it weren’t asked.`;
    case "nothing-due":
      return "The timer it speaks of was cancelled or had fired already.";
    case "stale-generation":
      return "Its state has been left and entered again since: what was started earlier can’t move it now.";
    case "final":
      return "The instance had ended before this event was applied.";
    default:
      return "It changed nothing.";
  }
}
