/**
 * One claimed task from claim to answer, on the worker's side: the function runs, its lease is renewed beside it.
 *
 * Holds: after the lease is lost nothing is written for the task; a lease that can't be renewed counts as lost when its time
 *        is over by this machine's own clock. An answer whose fate is unknown is repeated: the server takes it once.
 */
import { isLasting, isPassing, LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { ClaimedTask } from "@/lib/contract/tasks";
import type { Client } from "./client";
import {
  errorOf,
  LeaseLost,
  TaskCancelled,
  WorkerEnding,
  type TaskContext,
  type TaskFunction,
} from "./task-function";

export type TaskEnd = "succeeded" | "failed" | "cancelled" | "lease-lost" | "given-back";

/** Of the server's refusals that may pass: how soon to ask again. */
const retryMs = 1_000;

/** `ending`: aborted when the worker can't wait any longer. */
export async function performTask(
  client: Client,
  task: ClaimedTask,
  run: TaskFunction,
  ending: AbortSignal,
): Promise<{ end: TaskEnd; error?: unknown }> {
  const lease = new Lease(client, task);
  const over = new AbortController();
  try {
    const outcome = await Promise.race([outcomeOf(run, task, lease), whenEnding(ending, over.signal)]);
    if (lease.isLost) return { end: "lease-lost" };
    if (outcome === "ending") {
      lease.abort(new WorkerEnding("the worker is ending"));
      await client.releaseTask({ token: task.token });
      return { end: "given-back" };
    }
    return await answer(client, task, lease, outcome);
  } catch (error) {
    if (isLost(error)) return { end: "lease-lost" };
    throw error;
  } finally {
    lease.end();
    over.abort();
  }
}

type Outcome = { output: Json } | { error: unknown };

async function outcomeOf(run: TaskFunction, task: ClaimedTask, lease: Lease): Promise<Outcome> {
  const { progress, idempotencyKey, fence, attempt, attemptsMax, instanceId, invokeId } = task;
  const context: TaskContext = {
    signal: lease.signal,
    heartbeat: (kept) => lease.beat(kept),
    ...{ progress, idempotencyKey, fence, attempt, attemptsMax, instanceId, invokeId },
  };
  try {
    return { output: (await run(task.input, context)) ?? null };
  } catch (error) {
    return { error };
  }
}

async function answer(
  client: Client,
  { token }: ClaimedTask,
  lease: Lease,
  outcome: Outcome,
): Promise<{ end: TaskEnd; error?: unknown }> {
  const tell = (error: ReturnType<typeof errorOf>) =>
    insistently(lease, () => client.failTask({ token, error }));
  const fail = async (error: unknown) => {
    const told = errorOf(error);
    const { status } = await tell(told).catch((refused: unknown) => {
      // Its data can't be taken as it is: better told without than not at all.
      if (told.data === undefined || isLost(refused) || !isLasting(refused)) throw refused;
      const { data: _, ...rest } = told;
      return tell(rest);
    });
    return { end: status === "cancelled" ? ("cancelled" as const) : ("failed" as const), error };
  };
  if ("error" in outcome) return fail(outcome.error);
  try {
    const { output } = outcome;
    const { status } = await insistently(lease, () => client.completeTask({ token, output }));
    return { end: status };
  } catch (error) {
    if (isLost(error)) throw error;
    // The output can't be taken as it is, e.g. too large: that is the attempt's failure.
    return fail(error);
  }
}

async function insistently<T>(lease: Lease, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (lease.isLost) throw new LeaseLost("the lease ran out before the answer was taken");
      if (!isPassing(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

class Lease {
  private readonly aborting = new AbortController();
  private until: number;
  private beatEveryMs: number;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly client: Client,
    private readonly task: ClaimedTask,
  ) {
    this.beatEveryMs = task.leaseMs / 3;
    this.until = performance.now() + task.leaseMs;
    this.beatLater(this.beatEveryMs);
  }

  get signal(): AbortSignal {
    return this.aborting.signal;
  }

  get isLost(): boolean {
    if (performance.now() >= this.until) this.abort(new LeaseLost("the lease could not be renewed in time"));
    return this.signal.aborted && this.signal.reason instanceof LeaseLost;
  }

  abort(reason: Error): void {
    this.aborting.abort(reason);
  }

  /** Throws LeaseLost; a server that can't be reached is no loss until the lease's time is over. */
  async beat(progress?: Json): Promise<void> {
    clearTimeout(this.timer);
    const began = performance.now();
    try {
      const { token } = this.task;
      const { leaseMs, cancel } = await this.client.heartbeatTask(
        { token, ...(progress === undefined ? {} : { progress }) },
        // A server that hangs must not keep us from noticing that the time is over.
        { signal: AbortSignal.timeout(Math.max(1, Math.ceil(this.until - began))) },
      );
      this.until = began + leaseMs;
      this.beatEveryMs = leaseMs / 3;
      if (cancel) this.abort(new TaskCancelled("its instance has left the state that asked for it"));
      this.beatLater(this.beatEveryMs);
    } catch (error) {
      if (isLost(error)) this.until = 0;
      if (this.isLost) throw new LeaseLost("another attempt may be running", { cause: error });
      this.beatLater(Math.min(retryMs, this.beatEveryMs));
      if (!isPassing(error)) throw error;
    }
  }

  end(): void {
    clearTimeout(this.timer);
    this.ended = true;
  }

  private beatLater(ms: number): void {
    if (this.ended) return;
    // What it throws is told by the signal.
    this.timer = setTimeout(() => void this.beat().catch(() => undefined), ms);
  }
}

const isLost = (error: unknown): boolean =>
  error instanceof LeaseLost || (error instanceof LockstepError && error.code === "lease-lost");

/** `over` takes the listener away: one for each task ever done would pile up. */
const whenEnding = (ending: AbortSignal, over: AbortSignal): Promise<"ending"> =>
  new Promise((resolve) => {
    if (ending.aborted) resolve("ending");
    else ending.addEventListener("abort", () => resolve("ending"), { once: true, signal: over });
  });
