/**
 * Which states an instance was in over a stretch of its log, as bars: one lane, or one per region of its parallel state.
 *
 * Works outward from the entry whose configuration is known, by the recorded exit and entry sets.
 *
 * Holds: forwards and backwards agree: a state both left and entered in one step was active after it exactly when it was
 * active before it.
 */
import type { ChartTree, TreeState } from "@/lib/diagram/chart-tree";
import type { LogEntry } from "@/lib/contract/instances";
import { withAncestors } from "./marks-at";

interface LaneSpan {
  /** Name of the active atomic state. */
  state: string;
  /** Index of the first entry after which it was active, and of the first after which it no longer was. */
  from: number;
  to: number;
}
export interface Lane {
  label: string;
  spans: LaneSpan[];
}

/** More regions than this fit on no scrubber. */
const lanesMax = 3;

/** `entries` ascending; `known` is the configuration (atomic names) after the entry at `anchor`. */
export function stateLanes(
  tree: ChartTree,
  entries: readonly Pick<LogEntry, "entered" | "exited">[],
  anchor: number,
  known: readonly string[],
): Lane[] {
  const active = configurations(tree, entries, anchor, known);
  return lanesOf(tree).map(({ label, holds }) => {
    const spans: LaneSpan[] = [];
    active.forEach((names, index) => {
      const state = [...names].find((name) => {
        const node = tree.byName.get(name);
        return node !== undefined && isLeaf(node) && holds(node);
      });
      const last = spans.at(-1);
      if (last && last.to === index && last.state === state) last.to = index + 1;
      else if (state !== undefined) spans.push({ state, from: index, to: index + 1 });
    });
    return { label, spans };
  });
}

function configurations(
  tree: ChartTree,
  entries: readonly Pick<LogEntry, "entered" | "exited">[],
  anchor: number,
  known: readonly string[],
): Set<string>[] {
  const all: Set<string>[] = [];
  all[anchor] = withAncestors(tree, known);
  for (let index = anchor + 1; index < entries.length; index++) {
    const entry = entries[index];
    all[index] = apply(all[index - 1] ?? new Set(), entry?.exited ?? [], entry?.entered ?? []);
  }
  for (let index = anchor - 1; index >= 0; index--) {
    const entry = entries[index + 1];
    all[index] = apply(all[index + 1] ?? new Set(), entry?.entered ?? [], entry?.exited ?? []);
  }
  return all.slice(0, entries.length);
}

/** Forwards: without what was left, with what was entered. Backwards the other way round. */
function apply(
  from: ReadonlySet<string>,
  without: readonly string[],
  withAlso: readonly string[],
): Set<string> {
  const next = new Set(from);
  const both = new Set(without.filter((name) => withAlso.includes(name)));
  for (const name of without) if (!both.has(name)) next.delete(name);
  for (const name of withAlso) if (!both.has(name)) next.add(name);
  return next;
}

function lanesOf(tree: ChartTree): { label: string; holds: (state: TreeState) => boolean }[] {
  const parallel = tree.states.find((state) => state.kind === "parallel" && state.children.length > 1);
  if (!parallel) return [{ label: "State", holds: () => true }];
  const [first, ...others] = parallel.children
    .filter((region) => region.kind !== "history")
    .slice(0, lanesMax);
  if (!first) return [{ label: "State", holds: () => true }];
  // What is outside of the parallel state runs in the first lane, before and after its region.
  return [
    { label: first.key, holds: (state) => within(state, first) || !within(state, parallel) },
    ...others.map((region) => ({ label: region.key, holds: (state: TreeState) => within(state, region) })),
  ];
}

function within(state: TreeState, outer: TreeState): boolean {
  for (let at: TreeState | null = state; at; at = at.parent) if (at === outer) return true;
  return false;
}

const isLeaf = (state: TreeState): boolean => state.kind === "atomic" || state.kind === "final";
