"use client";
/**
 * What an entry changed: states, context and timers against the entry before it, or any other seq.
 */
import { ArrowLeftRight } from "lucide-react";
import { useState } from "react";
import { shortStateName } from "@/components/instances/state-name";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/field";
import { inlineJson } from "@/components/ui/json-view";
import { Section } from "@/components/ui/section";
import { Empty, ErrorPanel, SkeletonRows } from "@/components/ui/states";
import { formatCount } from "@/components/ui/time";
import type { StateAt } from "@/lib/contract/instances";
import { diffJson } from "./diff-json";
import { useStateAt } from "./use-history";

export function DiffTab({
  instanceId,
  total,
  state,
  against,
  onCompare,
}: {
  instanceId: string;
  total: number;
  state: StateAt;
  /** Pinned seq to compare with; null: the entry before. */
  against: number | null;
  onCompare: (seq: number | null) => void;
}) {
  const other = against ?? state.seq - 1;
  const base = useStateAt(instanceId, other);
  if (other < 1) {
    return (
      <Empty icon={ArrowLeftRight} title="Nothing before #1">
        The first entry is the start: everything in Context came with it.
      </Empty>
    );
  }
  return (
    <>
      <Section
        title="Compare"
        hint={`#${formatCount(other)} → #${formatCount(state.seq)}`}
        action={
          against === null ? null : (
            <Button variant="link" onClick={() => onCompare(null)}>
              with the entry before
            </Button>
          )
        }
      >
        <CompareWith key={against ?? "before"} total={total} onCompare={onCompare} />
      </Section>
      {base.error ? (
        <div className="p-3.5">
          <ErrorPanel
            title={`Couldn’t read #${formatCount(other)}`}
            error={base.error}
            onRetry={() => void base.refetch()}
          />
        </div>
      ) : !base.data || base.data.seq !== other ? (
        <SkeletonRows rows={4} rowHeight={24} />
      ) : (
        <Lines before={base.data} after={state} />
      )}
    </>
  );
}

function CompareWith({ total, onCompare }: { total: number; onCompare: (seq: number) => void }) {
  const [text, setText] = useState("");
  const seq = Number(text.replaceAll(",", ""));
  const valid = /^[\d,]+$/.test(text) && seq >= 1 && seq <= total;
  return (
    <form
      className="flex gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (valid) onCompare(seq);
      }}
    >
      <Input
        aria-label="Compare with seq"
        mono
        className="h-7 flex-1"
        placeholder={`seq 1 – ${formatCount(total)}`}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" disabled={!valid}>
        Compare
      </Button>
    </form>
  );
}

function Lines({ before, after }: { before: StateAt; after: StateAt }) {
  const { lines, more } = diffJson(before.context, after.context);
  const left = before.configuration.filter((name) => !after.configuration.includes(name));
  const entered = after.configuration.filter((name) => !before.configuration.includes(name));
  const timersBefore = new Set(before.timers.map((timer) => timer.id));
  const timersAfter = new Set(after.timers.map((timer) => timer.id));
  const cancelled = before.timers.filter((timer) => !timersAfter.has(timer.id));
  const armed = after.timers.filter((timer) => !timersBefore.has(timer.id));
  if (lines.length + left.length + entered.length + cancelled.length + armed.length === 0) {
    return (
      <Empty icon={ArrowLeftRight} title="No difference" className="h-auto">
        States, context and timers are the same after both entries.
      </Empty>
    );
  }
  return (
    <div className="py-3 font-mono text-table" data-testid="diff">
      <Group name="states" show={left.length + entered.length > 0}>
        {left.map((name) => (
          <Line key={name} sign="−" path={shortStateName(name)} text="left" />
        ))}
        {entered.map((name) => (
          <Line key={name} sign="+" path={shortStateName(name)} text="entered" />
        ))}
      </Group>
      <Group name="context" show={lines.length > 0}>
        {lines.flatMap((line) => [
          line.before === undefined ? null : (
            <Line key={`${line.path}-`} sign="−" path={line.path || "all"} text={inlineJson(line.before)} />
          ),
          line.after === undefined ? null : (
            <Line key={`${line.path}+`} sign="+" path={line.path || "all"} text={inlineJson(line.after)} />
          ),
        ])}
        {more ? (
          <p className="px-3.5 pt-1 font-sans text-hint text-text-3">More differs than is shown.</p>
        ) : null}
      </Group>
      <Group name="timers" show={cancelled.length + armed.length > 0}>
        {cancelled.map((timer) => (
          <Line key={timer.id} sign="−" path={timer.label} text="fired or cancelled" />
        ))}
        {armed.map((timer) => (
          <Line key={timer.id} sign="+" path={timer.label} text="armed" />
        ))}
      </Group>
    </div>
  );
}

function Group({ name, show, children }: { name: string; show: boolean; children: React.ReactNode }) {
  if (!show) return null;
  return (
    <div className="pb-2">
      <h3 className="px-3.5 py-0.5 pl-9 font-normal text-text-3">{name}</h3>
      {children}
    </div>
  );
}

function Line({ sign, path, text }: { sign: "+" | "−"; path: string; text: string }) {
  return (
    <div
      className={cn(
        "flex gap-2 px-3.5 py-px leading-[19px]",
        sign === "+" ? "bg-active-soft" : "bg-failed-soft",
      )}
    >
      <span className={cn("w-3.5 shrink-0 font-semibold", sign === "+" ? "text-active" : "text-failed")}>
        <span aria-hidden>{sign}</span>
        <span className="sr-only">{sign === "+" ? "added" : "removed"}</span>
      </span>
      <span className="w-[42%] shrink-0 truncate" title={path}>
        {path}
      </span>
      <span className="min-w-0 flex-1 break-words">{text}</span>
    </div>
  );
}
