/**
 * History states that can never be entered for the first time: their default leads back to themselves, directly, over the
 * parent's initial arrow, or over other history states.
 */
import type { Diagnostic } from "./diagnostic";
import type { CompiledState } from "./machine";

export function circularHistories(states: readonly CompiledState[]): Diagnostic[] {
  return states
    .filter((state) => state.type === "history" && leadsToItself(state))
    .map((history) => ({
      code: "circular-history",
      severity: "error",
      at: { state: history.name, field: "target" },
      message: `entered for the first time, the history state "${history.name}" leads to itself: give it a \`target\` that is no history state`,
    }));
}

function leadsToItself(history: CompiledState): boolean {
  const seen = new Set<CompiledState>();
  const waiting = [history];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const target of at.initial?.targets ?? at.parent?.initial?.targets ?? []) {
      if (target === history) return true;
      if (target.type !== "history" || seen.has(target)) continue;
      seen.add(target);
      waiting.push(target);
    }
  }
  return false;
}
