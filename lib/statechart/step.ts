/**
 * The engine's interface: what goes into a macrostep and what comes out.
 */
import type { Json } from "@/lib/base/json";
import type { Effect } from "./effect";
import type { EngineError, Snapshot } from "./snapshot";
import type { Microstep } from "./trace";

export type StepInput =
  /** An external event. Field names follow SCXML's _event. */
  | {
      kind: "event";
      type: string;
      data?: Json;
      sendid?: string;
      origin?: string;
      origintype?: string;
      invokeid?: string;
    }
  /** An armed timer is due. A timer the snapshot does not know is ignored (`nothing-due`). */
  | { kind: "timer"; id: string }
  /** An invocation answered. One of an older generation is ignored (`stale-generation`). */
  | {
      kind: "answer";
      id: string;
      generation: number;
      output?: Json;
      error?: { code: string; message: string; data?: Json };
    };

export type OutcomeKind = "moved" | "handled" | "ignored" | "failed";
export type IgnoredReason =
  "guard-error" | "guards-false" | "forbidden" | "no-handler" | "nothing-due" | "stale-generation" | "final";

export interface Outcome {
  outcome: OutcomeKind;
  /** Only with `ignored`. */
  reason?: IgnoredReason;
}

export interface StepOptions {
  /** The step's time: ms since the epoch, the database's. */
  at: number;
  /** The log entry this step becomes; engine-made ids start with it. */
  seq: number;
  /** Record microsteps. Off costs nothing. */
  trace?: boolean;
  /**
   * Whether another session (`#_parent`, `#_scxml_ID`, `instance:ID`) can be reached now, where the caller knows: a send
   * to one that cannot queues error.communication at once. Without it every address may be one.
   */
  canReach?: (to: string) => boolean;
}

export interface StepResult {
  /** The state after the step; the very same object as before when the step failed or changed nothing. */
  snapshot: Snapshot;
  effects: Effect[];
  /** Empty when tracing is off. */
  microsteps: Microstep[];
  outcome: Outcome;
  /** All states exited and entered over the whole macrostep, first occurrence order. */
  exited: string[];
  entered: string[];
  /** With outcome `failed`. */
  error?: EngineError;
  /**
   * Only when there are any: guards, actions and values that failed and sends that nobody received, each of which queued an
   * error event, handled or not. The first 20; known with tracing off too.
   */
  failures?: readonly QueuedError[];
}

export interface QueuedError extends EngineError {
  event: "error.execution" | "error.communication";
}
