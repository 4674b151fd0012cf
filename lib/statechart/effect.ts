/**
 * What a step asks of the world, as data. The durable runtime turns them into rows in the step's own transaction,
 * `lockstep run` into entries of its virtual clock, the simulator into buttons.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import type { ArmedTimer } from "./snapshot";

export type Effect =
  | { type: "timer.arm"; id: string; timer: ArmedTimer }
  | { type: "timer.cancel"; id: string }
  | {
      type: "send";
      /** null: self, external. Else `#_parent`, `#_INVOKEID`, `#_scxml_ID`, `instance:ID`. */
      to: string | null;
      event: { type: string; data?: Json; sendid?: string };
    }
  | ({
      type: "invoke.start";
      id: string;
      src: string;
      state: string;
      index: number;
      generation: number;
      input: Json;
      /** `src` is only the name of what is still to be written: nothing answers. */
      placeholder?: true;
    } & InvokeOptions)
  | { type: "invoke.cancel"; id: string; generation: number }
  | { type: "emit"; event: { type: string; data?: Json } }
  | { type: "log"; label?: string; value: Json }
  | { type: "compensate" };

/** How an invocation is to be tried: the invocation's own words over its task's. What is absent is the runtime's default. */
export interface InvokeOptions {
  retry?: RetryPolicy;
  /** Of one attempt. */
  timeoutMs?: number;
  /** Of one `src` and key, one runs at a time. */
  concurrencyKey?: string;
  compensate?: Compensation;
}

export interface RetryPolicy {
  /** The first included. */
  attemptsMax?: number;
  delayMs?: number;
  delayMaxMs?: number;
  factor?: number;
  /** From the first attempt on. */
  withinMs?: number;
  noRetry?: readonly string[];
}

/** The undoing of an invocation, kept with it from its start; compensationInput() gives its input when it begins. */
export interface Compensation extends Omit<InvokeOptions, "compensate"> {
  src: string;
  /** The invocation it undoes. */
  state: string;
  index: number;
  /** The parts of the context that its input reads, as they were when the invocation started. */
  context: JsonObject;
}
