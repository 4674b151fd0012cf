/**
 * A machine at rest, as plain JSON: everything the next macrostep needs besides the compiled chart and the event.
 *
 * Holds: JSON.parse(JSON.stringify(snapshot)) runs on exactly as snapshot would; equal runs give equal hashes.
 */
import { hashJson } from "@/lib/base/canonical";
import type { Json, JsonObject } from "@/lib/base/json";

export interface Snapshot {
  status: "running" | "completed" | "failed";
  /** Names of the active atomic (and final) states, in document order; an ended machine keeps its last. */
  configuration: string[];
  context: JsonObject;
  /** What `_sessionid`, `_name` and `input` give. */
  session: { id: string; input: Json; name?: string };
  /** History state name → names recorded when its parent was last exited. */
  history: Record<string, string[]>;
  /**
   * State name → how often it has been entered, for states with `after` or `invoke`: timers and answers of an older
   * entry are stale.
   */
  generations: Record<string, number>;
  /** Running invocations by id. */
  invocations: Record<string, { state: string; index: number; generation: number; src: string }>;
  /** Armed timers by id: `after` timers and delayed sends alike. */
  timers: Record<string, ArmedTimer>;
  /** Context roots not yet initialised (late binding). */
  unbound?: string[];
  /** Result of a completed machine. */
  output?: Json;
  error?: EngineError;
}

export interface ArmedTimer {
  /** When it is due, ms since the epoch (the step's `at` plus the delay). */
  dueAt: number;
  /** `after`: belongs to an entry generation of `state`; `send`: belongs to the machine until fired or cancelled. */
  kind: "after" | "send";
  state?: string;
  generation?: number;
  /** The `after` key of the state, or the delayed event. */
  after?: string;
  event?: { type: string; data?: Json; sendid?: string };
  to?: string;
}

/** By which a state's `after` timer is found when that entry of the state is left. */
export const afterTimerId = (state: string, key: string, generation: number): string =>
  `${state}#after/${key}@${generation}`;

/** Armed timers of another past, as those of the states' present names and entries. */
export function timersOfEntries(
  timers: readonly (readonly [id: string, ArmedTimer])[],
  generations: Snapshot["generations"],
): Snapshot["timers"] {
  return Object.fromEntries(
    timers.map(([id, timer]) => {
      if (timer.kind === "send") return [id, timer];
      const state = timer.state ?? "";
      const generation = generations[state] ?? 0;
      return [afterTimerId(state, timer.after ?? "", generation), { ...timer, generation }];
    }),
  );
}

export interface EngineError {
  code: string;
  message: string;
  state?: string;
  field?: string;
}

/** SHA-256 of the canonical form: what the event log stores and replay compares. */
export function snapshotHash(snapshot: Snapshot): string {
  return hashJson(snapshot as unknown as Json);
}
