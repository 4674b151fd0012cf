/**
 * A machine's end from outside: whoever started it no longer wants it. SCXML 6.4.3: its exit actions still run.
 */
import type { Effect } from "./effect";
import { end } from "./interpret";
import type { Machine } from "./machine";
import { Run, StepFailure } from "./run";
import type { Snapshot } from "./snapshot";
import type { StepOptions } from "./step";

/** What leaving every active state asks of the world; its timers and invocations are cancelled among it. */
export function leave(machine: Machine, snapshot: Snapshot, options: StepOptions): Effect[] {
  if (snapshot.status !== "running") return [];
  const run = new Run(machine, snapshot, options);
  try {
    end(run);
    return run.effects;
  } catch (error) {
    // Its own bounds end it: there is nobody left to tell.
    if (error instanceof StepFailure) return [];
    throw error;
  }
}
