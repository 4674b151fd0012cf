/**
 * From one event to rest. SCXML: mainEventLoop's body, interpret's end.
 */
import { isSameJson } from "@/lib/base/json";
import { EvaluationFailure } from "./cel/evaluation-failure";
import { exitInterpreter, takeTransitions } from "./enter-exit";
import type { MachineEvent } from "./execution";
import type { CompiledTransition } from "./machine";
import { byOrder, StepFailure, type Run } from "./run";
import { selectEventless, selectTransitions, type Selection } from "./select";
import type { EngineError } from "./snapshot";
import type { IgnoredReason, Outcome } from "./step";

/** The input event's own microstep. Its outcome is the step's, whatever follows. */
export function processEvent(run: Run, event: MachineEvent): Outcome {
  run.countMicrostep();
  run.event = event;
  run.beginTrace(event);
  const selection = selectTransitions(run, event);
  if (selection.transitions.length === 0) failUnhandled(run, event);
  take(run, selection.transitions);
  return outcomeOf(run, selection);
}

/** Eventless transitions and internal events until nothing is left, then invocations. */
export function comeToRest(run: Run): void {
  while (!run.completed) {
    microsteps(run);
    if (run.completed) break;
    startInvocations(run);
    if (run.queue.length === 0) break;
  }
  if (!run.completed) return;
  end(run);
  // What failed on the way to the end, nobody is left to handle.
  for (const event of run.queue) failUnhandled(run, event);
}

function microsteps(run: Run): void {
  let settled = false;
  while (!run.completed) {
    if (!settled && run.machine.hasAlways) {
      run.beginTrace(null);
      const { transitions } = selectEventless(run);
      if (transitions.length > 0) {
        run.countMicrostep();
        const { context } = run;
        take(run, transitions);
        // A targetless transition that changed nothing would be enabled for ever: it comes to rest.
        settled = transitions.every((one) => one.targets === null) && isSameJson(run.context, context);
        continue;
      }
      run.dropEmptyTrace();
    }
    const event = run.queue.shift();
    if (event === undefined) return;
    run.countMicrostep();
    run.event = event;
    run.beginTrace(event);
    const { transitions } = selectTransitions(run, event);
    if (transitions.length === 0) failUnhandled(run, event);
    take(run, transitions);
    settled = false;
  }
}

function take(run: Run, transitions: readonly CompiledTransition[]): void {
  if (run.current !== null) run.current.taken = transitions.map(({ id }) => id);
  if (transitions.length > 0) takeTransitions(run, transitions);
}

function outcomeOf(run: Run, selection: Selection): Outcome {
  if (run.moved) return { outcome: "moved" };
  if (selection.transitions.some((one) => !one.forbidden)) return { outcome: "handled" };
  const reason: IgnoredReason = selection.guardError
    ? "guard-error"
    : selection.guardFalse
      ? "guards-false"
      : selection.transitions.length > 0
        ? "forbidden"
        : "no-handler";
  return { outcome: "ignored", reason };
}

function failUnhandled(run: Run, event: MachineEvent): void {
  // A sender may use any name: only the platform's own errors fail an instance.
  if (event.from !== "platform") return;
  const stops =
    event.type.startsWith("error.invoke.") ||
    (run.machine.settings.errors === "stop" &&
      (event.type === "error.execution" || event.type === "error.communication"));
  if (!stops) return;
  const data = event.data;
  const known = typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};
  const textOf = (key: string): string | undefined =>
    typeof known[key] === "string" ? known[key] : undefined;
  const error: EngineError = {
    code: textOf("code") ?? event.type,
    message: `${event.type} was not handled: ${textOf("message") ?? "no details"}`,
  };
  const [state, field] = [textOf("state"), textOf("field")];
  if (state !== undefined) error.state = state;
  if (field !== undefined) error.field = field;
  throw new StepFailure(error, true);
}

/** SCXML: invocations of states entered and not exited start when the machine is at rest. */
function startInvocations(run: Run): void {
  if (run.toInvoke.length === 0) return;
  const states = run.toInvoke.toSorted(byOrder);
  run.toInvoke = [];
  for (const state of states) {
    for (const invoke of state.invokes) {
      let field = `invoke/${invoke.index}/input`;
      try {
        if (invoke.idLocation !== null) run.assign(invoke.idLocation, invoke.id);
        const input = invoke.input?.(run) ?? null;
        field = `invoke/${invoke.index}`;
        run.startInvocation(invoke, run.generations[state.name] ?? 0, input, invoke.options?.(run));
      } catch (error) {
        if (!(error instanceof EvaluationFailure)) throw error;
        run.fail(error, state.name, field);
      }
    }
  }
}

/** Exit actions of all that is active; nothing it started or armed outlives it. */
export function end(run: Run): void {
  exitInterpreter(run);
  for (const id of Object.keys(run.timers)) run.disarm(id);
  for (const id of Object.keys(run.invocations)) run.endInvocation(id, true);
}
