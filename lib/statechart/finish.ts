/**
 * A run at rest → the step's result: the next snapshot, and the effects in the order the world has to see them.
 */
import type { Effect } from "./effect";
import type { Run, StepFailure } from "./run";
import type { Snapshot } from "./snapshot";
import type { Outcome, StepResult } from "./step";

export function finish(run: Run, outcome: Outcome): StepResult {
  return {
    snapshot: nextSnapshot(run),
    effects: timerEffects(run),
    microsteps: run.trace ?? [],
    outcome,
    exited: unique(run.exited),
    entered: unique(run.entered),
    ...failuresOf(run),
  };
}

function unique(names: readonly string[]): string[] {
  if (names.length < 2) return names as string[];
  // Nearly always they are; a step that goes in circles has long lists.
  const hasTwice = names.length > 16 || names.some((name, index) => names.indexOf(name) !== index);
  return hasTwice ? [...new Set(names)] : (names as string[]);
}

/** A failed step keeps nothing but its log entry; a failed instance keeps its state and says why it stopped. */
export function finishFailed(run: Run, failure: StepFailure, fatal = failure.fatal): StepResult {
  const { before } = run;
  const error = failure.engineError;
  return {
    snapshot: fatal ? { ...before, status: "failed", error } : before,
    effects: [],
    microsteps: run.trace ?? [],
    outcome: { outcome: "failed" },
    exited: [],
    entered: [],
    error,
    ...failuresOf(run),
  };
}

const failuresOf = ({ failures }: Run): Pick<StepResult, "failures"> =>
  failures.length === 0 ? none : { failures };
const none = {};

function nextSnapshot(run: Run): Snapshot {
  const { before } = run;
  if (
    !run.moved &&
    !run.completed &&
    run.context === before.context &&
    run.timers === before.timers &&
    run.invocations === before.invocations &&
    run.history === before.history &&
    run.unbound === (before.unbound ?? run.unbound)
  ) {
    return before;
  }
  const snapshot: Snapshot = {
    status: run.completed ? "completed" : "running",
    configuration: run.moved ? run.configuration() : before.configuration,
    context: run.context,
    session: before.session,
    history: run.history,
    generations: run.generations,
    invocations: run.invocations,
    timers: run.timers,
  };
  if (run.unbound.length > 0) snapshot.unbound = [...run.unbound];
  if (run.completed && run.output !== undefined) snapshot.output = run.output;
  return snapshot;
}

/** What was armed and taken back within the step never existed for the world. */
function timerEffects(run: Run): Effect[] {
  const { effects, timers } = run;
  const before = run.before.timers;
  if (timers === before) return effects;
  for (const id of Object.keys(before)) {
    if (!Object.hasOwn(timers, id) && id !== run.firedTimer) effects.push({ type: "timer.cancel", id });
  }
  for (const [id, timer] of Object.entries(timers)) {
    if (!Object.hasOwn(before, id)) effects.push({ type: "timer.arm", id, timer });
  }
  return effects;
}
