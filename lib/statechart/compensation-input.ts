/**
 * What a compensation is given when it begins: its input, over the context as it was when the deed started, with what
 * became of the deed as its event.
 */
import type { Json } from "@/lib/base/json";
import { EvaluationFailure } from "./cel/evaluation-failure";
import type { Compensation } from "./effect";
import type { Machine } from "./machine";
import { Run } from "./run";
import type { EngineError } from "./snapshot";
import { unstarted } from "./start";

/** `event` is `{type: "compensate", data: {outcome, result?}}`. Null input: the chart gives none. */
export function compensationInput(
  machine: Machine,
  session: { id: string; input?: Json; name?: string },
  compensation: Compensation,
  deed: { outcome: "succeeded" | "unknown"; result?: Json },
  at: number,
): { input: Json } | { error: EngineError } {
  const { state, index, context } = compensation;
  const program = machine.states.get(state)?.invokes[index]?.compensationInput ?? null;
  if (program === null) return { input: null };
  const run = new Run(machine, { ...unstarted(machine, session), context }, { at, seq: 0 });
  run.event = { type: "compensate", data: { ...deed }, from: "platform", id: null };
  try {
    return { input: program(run) };
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    const field = `invoke/${index}/compensate/input`;
    return { error: { code: error.code, message: error.message, state, field } };
  }
}
