/**
 * Where a world stands, as JSON: two worlds with equal situations go on alike. Time counts from now, entries are not
 * counted, so that a loop comes back to where it was.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import type { StepInput } from "@/lib/statechart/step";
import type { Player } from "./player";

export interface Waiting {
  to: Player;
  dueAt: number;
  input: Extract<StepInput, { kind: "timer" | "answer" }>;
}

export function situationOf(root: Player, waiting: readonly Waiting[], nowMs: number): JsonObject {
  return {
    root: standing(root),
    waiting: waiting.map(({ to, dueAt, input }) => ({
      to: withoutGenerations(to.id),
      in: dueAt - nowMs,
      ...(input.kind === "timer" ? timerOf(to, input.id) : answerOf(input)),
    })),
  };
}

function standing({ snapshot, children }: Player): Json {
  if (snapshot === null) return null;
  const { status, configuration, context, history, invocations, unbound, output } = snapshot;
  return {
    status,
    configuration,
    context,
    history,
    invocations: Object.keys(invocations),
    ...(unbound === undefined ? {} : { unbound }),
    ...(output === undefined ? {} : { output }),
    children: Object.fromEntries([...children].map(([id, child]) => [id, standing(child)])),
  };
}

function timerOf({ snapshot }: Player, id: string): JsonObject {
  const timer = snapshot?.timers[id];
  if (timer === undefined) return { timer: "gone" };
  const { state, after, event, to } = timer;
  return {
    ...(state === undefined ? {} : { state }),
    ...(after === undefined ? {} : { after }),
    ...(event === undefined ? {} : { event: { ...event } }),
    ...(to === undefined ? {} : { target: to }),
  };
}

function answerOf({ id, output, error }: Extract<StepInput, { kind: "answer" }>): JsonObject {
  return {
    answer: id,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error: { ...error } }),
  };
}

const withoutGenerations = (id: string): string => id.replace(/@\d+/g, "");
