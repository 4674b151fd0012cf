/**
 * What an operator's verb does to a state, as data and as one pure function: the step and its replay are the same (I5).
 *
 * Holds: everything the state's change needs is in the input, so that replay reads nothing else.
 */
import type { JsonObject } from "@/lib/base/json";
import { activeStates } from "@/lib/statechart/active-states";
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { StepOptions, StepResult } from "@/lib/statechart/step";
import { applyInput, applyStart, type StartInput } from "../stepping/apply-input";
import type { InstanceStatus } from "../instances/instance-views";

/** As the log keeps it. `data` is what people are shown, the reason among it. */
export type ControlInput =
  | { kind: "control"; verb: "suspend" | "resume"; data: JsonObject }
  /** `snapshot`: of one that had not begun. */
  | { kind: "control"; verb: "terminate" | "cancel"; data: JsonObject; snapshot?: Snapshot }
  /** Of a saga: all is undone, or an undoing has used up its attempts. */
  | { kind: "control"; verb: "compensated" | "stick"; data: JsonObject }
  | {
      kind: "control";
      verb: "redrive";
      data: JsonObject;
      /** What the failing step had used up and its repetition needs again. */
      timers?: Snapshot["timers"];
      invocations?: Snapshot["invocations"];
      /** The start itself had failed: it begins anew. */
      start?: StartInput;
      /** It was stuck: its undoing goes on. */
      undo?: true;
      /** Another has its concurrency key: it waits for that, and is redriven then. */
      queue?: true;
    }
  | {
      kind: "control";
      verb: "fork" | "reset" | "migrate";
      data: JsonObject;
      /** The state from here on. */
      snapshot: Snapshot;
    };

/** The step, and the instance's status after it. */
export interface Controlled {
  result: StepResult;
  status: InstanceStatus;
}

export function applyControl(
  machine: Machine,
  before: Snapshot,
  input: ControlInput,
  options: StepOptions,
): Controlled {
  switch (input.verb) {
    case "suspend":
      return { result: unmoved(before), status: "suspended" };
    case "resume":
      return { result: unmoved(before), status: "running" };
    case "terminate":
      return { result: unmoved(input.snapshot ?? halted(before)), status: "terminated" };
    case "compensated":
      return { result: unmoved(before), status: before.status };
    case "stick":
      return { result: unmoved(before), status: "stuck" };
    case "cancel":
      if (input.snapshot) return { result: unmoved(input.snapshot), status: "cancelled" };
      return cancelled(machine, before, input.data, options);
    case "redrive": {
      if (input.queue) return { result: unmoved(before), status: "queued" };
      if (input.undo) return { result: unmoved(before), status: "compensating" };
      if (input.start) {
        const result = applyStart(machine, input.start, options);
        return { result, status: result.snapshot.status };
      }
      const { error: _mended, ...rest } = before;
      const timers = { ...before.timers, ...input.timers };
      const invocations = { ...before.invocations, ...input.invocations };
      return { result: unmoved({ ...rest, status: "running", timers, invocations }), status: "running" };
    }
    case "reset": {
      // All of the old life is left: the locks that its states hold come free.
      const exited = activeStates(machine, before.configuration);
      const entered = activeStates(machine, input.snapshot.configuration);
      return { result: { ...moved(input.snapshot), exited, entered }, status: "running" };
    }
    case "fork": {
      const entered = activeStates(machine, input.snapshot.configuration);
      return { result: { ...moved(input.snapshot), entered }, status: "running" };
    }
    case "migrate":
      return { result: moved(input.snapshot), status: "running" };
  }
}

/** The event `cancel`, for a chart that cleans up; one that doesn't know it, or fails at it, is halted where it is. */
function cancelled(machine: Machine, before: Snapshot, data: JsonObject, options: StepOptions): Controlled {
  if (before.status !== "running") return { result: unmoved(halted(before)), status: "cancelled" };
  const result = applyInput(machine, before, { kind: "event", type: "cancel", data }, options);
  const { outcome } = result.outcome;
  if (result.snapshot.status !== "failed" && (outcome === "moved" || outcome === "handled")) {
    return { result, status: result.snapshot.status === "completed" ? "cancelled" : "cancelling" };
  }
  return { result: { ...unmoved(halted(before)), microsteps: result.microsteps }, status: "cancelled" };
}

export const halted = (before: Snapshot): Snapshot => ({ ...before, timers: {}, invocations: {} });

const unmoved = (snapshot: Snapshot): StepResult => ({
  snapshot,
  effects: [],
  microsteps: [],
  outcome: { outcome: "handled" },
  exited: [],
  entered: [],
});

const moved = (snapshot: Snapshot): StepResult => ({
  ...unmoved(snapshot),
  outcome: { outcome: "moved" },
});
