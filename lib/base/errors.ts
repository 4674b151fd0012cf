/**
 * The second kind of wrong: the world says no. One closed union of codes; the contract gives each its HTTP status.
 *
 * Holds: messages say what happened, to what, and what to do next; `details` holds the numbers a program needs.
 */
import type { JsonObject } from "./json";

export type ErrorCode =
  | "bad-request"
  | "unauthenticated"
  | "forbidden"
  | "foreign-origin"
  | "not-found"
  | "method-not-allowed"
  | "unsupported-media-type"
  | "payload-too-large"
  | "chart-invalid"
  | "chart-exists"
  | "draft-conflict"
  | "version-not-found"
  | "instance-exists"
  | "instance-ended"
  | "wrong-status"
  | "migration-refused"
  | "sequence-conflict"
  | "idempotency-key-reuse"
  | "step-failed"
  | "instance-session"
  | "instance-busy"
  | "lock-busy"
  | "lock-lost"
  | "lock-deadlock"
  | "lease-lost"
  | "worker-exists"
  | "schedule-exists"
  | "schedule-conflict"
  | "ambiguous-key"
  | "fence-moved"
  | "stale-fence"
  | "outcome-unknown"
  | "database-busy"
  | "database-unavailable"
  | "database-full"
  | "semantics-unsupported"
  | "shutting-down"
  /** Made by the client alone: no answer to a read, or a write that was never sent. */
  | "server-unreachable"
  | "internal";

export interface ErrorInit {
  /** `later`: the same call may succeed when repeated; `never`: change the call first. Default never. */
  retry?: "never" | "later";
  details?: JsonObject;
  cause?: unknown;
}

export class LockstepError extends Error {
  override name = "LockstepError";
  readonly retry: "never" | "later";
  readonly details: JsonObject;
  constructor(
    readonly code: ErrorCode,
    message: string,
    init: ErrorInit = {},
  ) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.retry = init.retry ?? "never";
    this.details = init.details ?? {};
  }

  /**
   * By what it is, not by which copy of this module made it: Next loads instrumentation (where the runtime lives) and
   * route handlers as separate module instances, and a refusal crosses from one to the other.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "LockstepError" && "code" in value && "retry" in value;
  }
}

/** The world's no for good: the same call is refused again until something else is changed. */
export const isLasting = (error: unknown): error is LockstepError =>
  error instanceof LockstepError && error.retry === "never";

/** The world's no for now: the same call may succeed when repeated. A defect is neither. */
export const isPassing = (error: unknown): error is LockstepError =>
  error instanceof LockstepError && error.retry === "later";
