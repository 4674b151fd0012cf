/**
 * What a step's entry says it exited and entered, made to add up: a state in both lists is active before and after, or
 * neither. A step of several microsteps may leave a state that it has just entered, or enter one twice; its trace has them
 * all, and the fleet's counts need only these two lists.
 */
import { activeStates } from "@/lib/statechart/active-states";
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { StepResult } from "@/lib/statechart/step";

export function netMoves(
  machine: Machine,
  before: Snapshot,
  { exited, entered, microsteps, snapshot }: StepResult,
): Pick<StepResult, "exited" | "entered"> {
  if (microsteps.length < 2) return { exited, entered };
  const twice = new Set(exited.filter((state) => entered.includes(state)));
  if (twice.size === 0) return { exited, entered };
  const was = new Set(activeStates(machine, before.configuration));
  const is = new Set(activeStates(machine, snapshot.configuration));
  return {
    exited: exited.filter((state) => !twice.has(state) || was.has(state) || !is.has(state)),
    entered: entered.filter((state) => !twice.has(state) || !was.has(state) || is.has(state)),
  };
}
