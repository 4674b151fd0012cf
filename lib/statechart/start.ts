/**
 * A machine's first step: the context's initial values, the initial configuration, then on to rest.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { EvaluationFailure } from "./cel/evaluation-failure";
import { enterInitial } from "./enter-exit";
import { finish, finishFailed } from "./finish";
import { comeToRest } from "./interpret";
import type { Machine } from "./machine";
import { Run, StepFailure } from "./run";
import type { Snapshot } from "./snapshot";
import type { StepOptions, StepResult } from "./step";

export interface NewSession {
  id: string;
  input?: Json;
  name?: string;
  /** Values that take the place of the chart's own initial ones; other names are passed over (SCXML 6.4). */
  data?: JsonObject;
}

export function start(machine: Machine, session: NewSession, options: StepOptions): StepResult {
  const run = new Run(machine, unstarted(machine, session), options);
  try {
    run.countMicrostep();
    run.beginTrace(null);
    bindContext(run, session.data ?? {});
    enterInitial(run);
    comeToRest(run);
    return finish(run, { outcome: "moved" });
  } catch (error) {
    // There is no state to go back to: a start that fails is a failed instance.
    if (error instanceof StepFailure) return finishFailed(run, error, true);
    throw error;
  }
}

/** A session before its first step. */
export function unstarted(machine: Machine, session: NewSession): Snapshot {
  const name = session.name ?? machine.chart.id;
  return {
    status: "running",
    configuration: [],
    context: {},
    session: { id: session.id, input: session.input ?? null, ...(name === undefined ? {} : { name }) },
    history: {},
    generations: {},
    invocations: {},
    timers: {},
  };
}

/** Computed values see the literal ones, and each other in the order they need. One that fails is null. */
export function bindContext(run: Run, given: JsonObject): void {
  const { initialContext, lateRoots } = run.machine;
  run.context = Object.fromEntries(initialContext.map(([root]) => [root, null]));
  run.unbound = lateRoots;
  for (const [root, value] of initialContext) {
    const own = Object.hasOwn(given, root) ? given[root] : undefined;
    if (own !== undefined) {
      run.context = { ...run.context, [root]: own };
      continue;
    }
    try {
      run.context = { ...run.context, [root]: value(run) };
    } catch (error) {
      if (!(error instanceof EvaluationFailure)) throw error;
      run.fail(error, "", `context/${root}`);
    }
  }
}
