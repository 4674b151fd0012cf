/**
 * The port behind which the server itself carries out tasks (lib/invocations): one function for each of its own kinds.
 */
import type { Json } from "@/lib/base/json";
import type { TaskError } from "./task-rules";

export interface InvocationContext {
  /** Aborts when the lease is lost, the instance waits no more, or the server ends. */
  signal: AbortSignal;
  /** The same in every attempt. */
  idempotencyKey: string;
  attempt: number;
}

export type InvocationOutcome =
  | { output: Json }
  /** `retry: false`: another attempt is no use. */
  | { error: TaskError; retry: boolean }
  /** Nothing was tried, for a breaker is open: ask again after this time; the attempt doesn't count. */
  | { postponeMs: number; why: TaskError };

/** Never throws for what the world says; a throw is our defect, and fails the attempt. */
export type Invocation = (input: Json, context: InvocationContext) => Promise<InvocationOutcome>;

/** A circuit breaker that turns calls away, or lets one through to try. */
export interface BreakerView {
  /** A host, or what else is called. */
  name: string;
  state: "open" | "half-open";
  /** When the next call may try, ms; by this process's clock. */
  until: number | null;
}

export interface Invocations {
  byType: Readonly<Record<string, Invocation>>;
  /** What an operator should know of them, in a sentence; null: nothing. */
  note(): string | null;
  /** Those of this process that are not closed. */
  breakers(): BreakerView[];
  /** Closes it: the next call goes through. */
  resetBreaker(name: string): void;
}
