/**
 * What compiled guards, values and actions ask of a running macrostep; run.ts is the one that answers.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import type { Scope } from "./cel/environment";
import type { EvaluationFailure } from "./cel/evaluation-failure";

export type ValueProgram = (execution: Execution) => Json;
/** Milliseconds; null: never (a placeholder). */
export type DelayProgram = (execution: Execution) => number | null;
/** Throws EvaluationFailure. */
export interface GuardProgram {
  readonly placeholder: boolean;
  test(execution: Execution): boolean;
}
export type ActionProgram = (execution: Execution) => void;

/** Executable content that fails as one. */
export interface ActionBlock {
  readonly actions: readonly ActionProgram[];
  /** State name whose block it is. */
  readonly state: string;
  readonly kind: "entry" | "exit" | "transition" | "initial" | "history" | "finalize";
  /** Field path of the list, for error messages. */
  readonly field: string;
}

export interface ExecutionScope extends Scope {
  /** Of the named guard or action that is being evaluated; undefined outside one. */
  params: unknown;
}

/** An event on its way through the machine. */
export interface MachineEvent {
  readonly type: string;
  /** Undefined: none. */
  readonly data?: Json | undefined;
  /** SCXML _event.type. */
  readonly from: "internal" | "external" | "platform";
  /** Null: the step's own input event, whose id is the step's. */
  readonly id: string | null;
  readonly sendid?: string | undefined;
  readonly origin?: string | undefined;
  readonly origintype?: string | undefined;
  readonly invokeid?: string | undefined;
  /** A due `after` timer: selects that state's own transitions only. */
  readonly timer?: { readonly state: string; readonly key: string } | undefined;
}

export interface SendRequest {
  readonly type: string;
  readonly to: string | null;
  readonly data?: Json;
  /** Null: never. */
  readonly delayMs: number | null;
  readonly id: string | null;
}

export interface Execution {
  /** Never mutated: a write replaces it. */
  readonly context: JsonObject;
  readonly scope: ExecutionScope;
  readonly event: MachineEvent | null;
  readonly session: { readonly id: string; readonly input: Json; readonly name?: string };
  readonly at: number;
  /** The id of the step's input event. */
  readonly stepId: string;
  /** Paths and values read by guards, when they are recorded. */
  reads: [string, Json][] | null;
  isIn(name: string): boolean;
  /** Charges one action; throws when the macrostep has run too many. */
  spend(): void;
  /** `<seq>.<microstep>.<n>` */
  nextId(): string;
  /** Writes at a location given as text. `declares`: the root may be new even in an SCXML import (foreach). */
  assign(location: string, value: Json, declares?: boolean): void;
  raise(event: { type: string; data?: Json; sendid?: string }): void;
  send(request: SendRequest): void;
  cancel(id: string): void;
  emit(event: { type: string; data?: Json }): void;
  log(value: Json, label?: string): void;
  compensate(): void;
  /** Queues error.execution for an expression that failed. */
  fail(failure: EvaluationFailure, state: string, field: string): void;
  /** Runs `block`; a failure queues error.execution and ends the block. */
  runBlock(block: ActionBlock): void;
  /** Notes one action in the trace. */
  note(text: () => string, error?: string): void;
}
