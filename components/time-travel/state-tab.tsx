"use client";
/**
 * State at the cursor: what is active, since this entry, and how sure we are of it.
 */
import { ShieldAlert, ShieldCheck } from "lucide-react";
import { StatusChip } from "@/components/instances/status-chip";
import { shortStateName } from "@/components/instances/state-name";
import { JsonView } from "@/components/ui/json-view";
import { Fact, Section } from "@/components/ui/section";
import { ErrorPanel } from "@/components/ui/states";
import { formatAbsolute, formatCount } from "@/components/ui/time";
import { useZone } from "@/components/ui/time-zone";
import type { StateAt } from "@/lib/contract/instances";
import type { ChartTree } from "@/lib/diagram/chart-tree";
import { replayStart } from "./entry-words";

const hashShown = 12;

export function StateTab({ state, tree }: { state: StateAt; tree: ChartTree | null }) {
  const { zone } = useZone();
  return (
    <>
      <Section title="Active states" hint={`after #${formatCount(state.seq)}`}>
        {state.configuration.length === 0 ? (
          <p className="text-text-2">None: it ended before any state was entered.</p>
        ) : (
          <ul data-testid="active-states">
            {state.configuration.map((name) => (
              <li key={name} className="flex items-baseline gap-2 py-0.5" data-state-name={name}>
                <span aria-hidden className="size-[7px] shrink-0 self-center rounded-full bg-active" />
                <span className="font-semibold">{shortStateName(name)}</span>
                <span className="min-w-0 truncate text-hint text-text-3">{parentsOf(tree, name)}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="At this moment">
        <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5">
          <Fact name="Status">
            <StatusChip status={state.status} />
          </Fact>
          <Fact name="Chart version">
            {state.chartId} v{state.version}
          </Fact>
          <Fact name="Seq" mono>
            {formatCount(state.seq)}
          </Fact>
          <Fact name="At" mono>
            <span title={formatAbsolute(state.at, zone)}>{formatAbsolute(state.at, zone).slice(-12)}</span>
          </Fact>
        </dl>
      </Section>
      <Section title="Replay">
        {state.hashMatches ? (
          <p className="flex gap-2 text-text-2">
            <ShieldCheck size={14} aria-hidden className="mt-0.5 shrink-0 text-active" />
            <span>
              Rebuilt from {replayStart(state.fromSnapshot)}; its hash is the one the step stored:{" "}
              <span className="font-mono text-hint">{state.storedHash.slice(0, hashShown)}…</span>
            </span>
          </p>
        ) : (
          <div className="flex gap-2 text-text-2">
            <ShieldAlert size={14} aria-hidden className="mt-0.5 shrink-0 text-failed" />
            <div>
              <p className="font-semibold text-failed">Replay differs</p>
              <p>
                stored <span className="font-mono text-hint">{state.storedHash.slice(0, hashShown)}…</span>
              </p>
              <p>
                rebuilt <span className="font-mono text-hint">{state.rebuiltHash.slice(0, hashShown)}…</span>
              </p>
            </div>
          </div>
        )}
      </Section>
      {state.output !== null ? (
        <Section title="Output">
          <JsonView value={state.output} />
        </Section>
      ) : null}
      {state.error ? (
        <div className="p-3.5">
          <ErrorPanel title={`Failed: ${state.error.code}`}>{state.error.message}</ErrorPanel>
        </div>
      ) : null}
    </>
  );
}

function parentsOf(tree: ChartTree | null, name: string): string {
  const keys: string[] = [];
  for (let at = tree?.byName.get(name)?.parent ?? null; at && at.name !== ""; at = at.parent)
    keys.unshift(at.key);
  return keys.length > 0 ? `in ${keys.join(" › ")}` : "";
}
