/**
 * One macrostep: an event, a due timer or an invocation's answer, taken to rest.
 *
 * Holds: pure and deterministic: equal arguments give equal results; the snapshot passed in is never changed; a step that
 *        fails keeps nothing.
 */
import type { MachineEvent } from "./execution";
import { finish, finishFailed } from "./finish";
import { comeToRest, processEvent } from "./interpret";
import type { Machine } from "./machine";
import { Run, StepFailure } from "./run";
import type { Snapshot } from "./snapshot";
import type { IgnoredReason, Outcome, StepInput, StepOptions, StepResult } from "./step";

export function macrostep(
  machine: Machine,
  snapshot: Snapshot,
  input: StepInput,
  options: StepOptions,
): StepResult {
  if (snapshot.status !== "running") return ignored(snapshot, "final");
  const run = new Run(machine, snapshot, options);
  try {
    const admitted = admit(run, input);
    if (typeof admitted === "string") return ignored(snapshot, admitted);
    let outcome: Outcome = { outcome: "handled" };
    if (admitted !== null) {
      deliver(run, admitted);
      outcome = processEvent(run, admitted);
      comeToRest(run);
    }
    return finish(run, outcome);
  } catch (error) {
    if (error instanceof StepFailure) return finishFailed(run, error);
    throw error;
  }
}

function ignored(snapshot: Snapshot, reason: IgnoredReason): StepResult {
  return {
    snapshot,
    effects: [],
    microsteps: [],
    outcome: { outcome: "ignored", reason },
    exited: [],
    entered: [],
  };
}

/** The event that `input` means; null when all is done already; or why there is none. */
function admit(run: Run, input: StepInput): MachineEvent | IgnoredReason | null {
  // The step's own.
  const id = null;
  switch (input.kind) {
    case "event": {
      // The one error that reaches a machine from outside: what it sent could not be delivered. Any other is only a name.
      const { type, data, sendid, origin, origintype, invokeid } = input;
      return {
        type,
        data,
        from: type === "error.communication" ? "platform" : "external",
        id,
        sendid,
        origin,
        origintype,
        invokeid,
      };
    }
    case "timer": {
      const timer = Object.hasOwn(run.timers, input.id) ? run.timers[input.id] : undefined;
      if (timer === undefined) return "nothing-due";
      run.disarm(input.id);
      run.firedTimer = input.id;
      if (timer.kind === "after") {
        const key = timer.after ?? "";
        return { type: `after.${key}`, from: "platform", id, timer: { state: timer.state ?? "", key } };
      }
      const event = timer.event ?? { type: "" };
      if (timer.to === undefined || timer.to === "#_internal") return { ...event, from: "external", id };
      run.effects.push({ type: "send", to: timer.to, event });
      return null;
    }
    case "answer": {
      const running = Object.hasOwn(run.invocations, input.id) ? run.invocations[input.id] : undefined;
      if (running?.generation !== input.generation) return "stale-generation";
      run.endInvocation(input.id, false);
      const failed = input.error !== undefined;
      const data = failed ? { ...input.error } : input.output;
      return {
        type: `${failed ? "error" : "done"}.invoke.${input.id}`,
        data,
        from: "platform",
        id,
        invokeid: input.id,
      };
    }
  }
}

/** SCXML: finalize and autoforward happen before the event selects anything. */
function deliver(run: Run, event: MachineEvent): void {
  if (!run.machine.hasInvokes || event.timer !== undefined) return;
  for (const state of run.config) {
    for (const invoke of state.invokes) {
      if (event.invokeid === invoke.id) {
        run.event = event;
        run.runBlock(invoke.finalize);
      }
      if (invoke.autoforward && Object.hasOwn(run.invocations, invoke.id)) {
        const { type, data, sendid } = event;
        run.effects.push({
          type: "send",
          to: `#_${invoke.id}`,
          event: {
            type,
            ...(data === undefined ? {} : { data }),
            ...(sendid === undefined ? {} : { sendid }),
          },
        });
      }
    }
  }
}
