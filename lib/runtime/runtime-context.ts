/**
 * What every verb works with.
 */
import { LockstepError } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import type { LockBreaker } from "./locks/lock-breaker";
import type { LockWaits } from "./locks/lock-waits";
import type { Machines } from "./charts/machines";
import type { SendQueue } from "./stepping/send-queue";
import type { TaskWaits } from "./tasks/task-waits";
import type { Turnstile } from "./turnstile";
import type { Fairness } from "./workers/choose-runnable";

export interface RuntimeContext {
  readonly store: Store;
  readonly machines: Machines;
  readonly sends: SendQueue;
  readonly lockWaits: LockWaits;
  readonly lockBreaker: LockBreaker;
  readonly taskWaits: TaskWaits;
  /** Calls that act on one instance, by its id; on a lock, by `lock ` and its key. */
  readonly turnstile: Turnstile;
  readonly fairness: Fairness;
  /** Aborted when the runtime closes: calls that wait end. */
  readonly closing: AbortSignal;
  /** Says that mailboxes may have something to step. Only a hint. */
  wake(): void;
  /** Says that a task is over, for which others may have waited, or that children are to begin or end. Only a hint. */
  settle(): void;
}

/** Throws `shutting-down` once the runtime closes. */
export function requireOpen(context: Pick<RuntimeContext, "closing">): void {
  if (context.closing.aborted) throw shuttingDown();
}

export const shuttingDown = (): LockstepError =>
  new LockstepError("shutting-down", "This server is shutting down; repeat the call.", { retry: "later" });
