/**
 * What one log entry looks like on the chart: active, entered, exited, taken, refused, ignored, failed.
 *
 * Holds: pure; computed from the entry's recorded microsteps and the configuration after it, never guessed from the chart;
 * of a transition that was refused once and taken once in the same step, taken is shown.
 */
import type { ChartTree } from "@/lib/diagram/chart-tree";
import type { Marks, StateMark, TransitionMark } from "@/lib/diagram/marks";
import type { LogEntryDetail } from "@/lib/contract/instances";

export function marksAt(
  tree: ChartTree,
  /** Active atomic states after the entry. */
  configuration: readonly string[],
  entry: Pick<LogEntryDetail, "outcome" | "microsteps" | "entered" | "exited"> | null,
): Marks {
  const states: Record<string, StateMark> = {};
  const transitions: Record<string, TransitionMark> = {};
  const mark = (name: string, add: StateMark): void => {
    if (name !== "") states[name] = { ...states[name], ...add };
  };

  const active = withAncestors(tree, configuration);
  for (const name of active) mark(name, { active: true });
  if (!entry) return { states, transitions };

  for (const name of entry.entered) if (active.has(name)) mark(name, { entered: true });
  // Left for good, or passed through: in both cases it is not active afterwards.
  for (const name of [...entry.exited, ...entry.entered]) if (!active.has(name)) mark(name, { exited: true });

  const asked = new Set<string>();
  for (const { candidates, taken, actions } of entry.microsteps) {
    for (const candidate of candidates) {
      asked.add(candidate.atomic);
      if (candidate.selected || candidate.verdict === "true" || candidate.verdict === "not-evaluated")
        continue;
      transitions[candidate.transition] ??= { refused: candidate.verdict };
    }
    for (const id of taken) transitions[id] = { taken: true };
    if (entry.outcome === "failed") {
      for (const action of actions) if (action.error !== undefined) mark(action.state, { failed: true });
    }
  }
  if (entry.outcome === "ignored") {
    // Where candidates were tried, there it was ignored; where none was found, everywhere.
    const where = configuration.filter((name) => asked.size === 0 || asked.has(name));
    for (const name of where) mark(name, { ignored: true });
  }
  if (entry.outcome === "failed" && !Object.values(states).some((state) => state.failed)) {
    for (const name of configuration) mark(name, { failed: true });
  }
  return { states, transitions };
}

/** The states and all that hold them, without the root. */
export function withAncestors(tree: ChartTree, names: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const name of names) {
    for (let state = tree.byName.get(name) ?? null; state && state.name !== ""; state = state.parent) {
      all.add(state.name);
    }
    // A version without this state can't draw it; the words around the chart still name it.
    if (!tree.byName.has(name)) all.add(name);
  }
  return all;
}
