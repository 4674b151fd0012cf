/**
 * What happened inside a macrostep, microstep by microstep, as data that the time-travel pages and `--trace` show.
 */
import type { Json } from "@/lib/base/json";

export type Verdict = "true" | "false" | "error" | "placeholder" | "not-evaluated";

export interface Candidate {
  /** The active atomic state from which the selection walked up. */
  atomic: string;
  /** The transition's address (transition-id.ts). */
  transition: string;
  /** The guard as written, null when there is none. */
  guard: string | null;
  /** `true` also for an absent guard. */
  verdict: Verdict;
  /** Values the guard read, e.g. [["context.total", 5]]. */
  reads: [path: string, value: Json][];
  /** The evaluation error's message, when verdict is `error`. */
  error?: string;
  /** Chosen by selection. */
  selected: boolean;
  /** `{}`: the event is forbidden here. */
  forbidden?: true;
}

export interface ActionRun {
  /** State whose block it is ("" root). */
  state: string;
  block: "entry" | "exit" | "transition" | "initial" | "history" | "finalize";
  /** One line, e.g. `assign zone.eta`. */
  text: string;
  error?: string;
}

export interface ContextChange {
  /** Location, e.g. `zone.eta`. */
  path: string;
  /** undefined (absent) when it did not exist before. */
  before?: Json;
  /** undefined (absent) when it was removed. */
  after?: Json;
}

export interface Microstep {
  /** From 1 within the step. */
  index: number;
  /** null: eventless selection, or the entry at start. */
  event: { type: string; data?: Json } | null;
  candidates: Candidate[];
  /** Addresses of the transitions taken, in order. */
  taken: string[];
  /** Names, in exit order. */
  exited: string[];
  /** Names, in entry order. */
  entered: string[];
  actions: ActionRun[];
  changes: ContextChange[];
}
