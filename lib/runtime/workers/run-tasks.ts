/**
 * Carries out the tasks that the server itself knows how to, under the same leases as any worker.
 *
 * Holds: at most `slots` at once; an attempt whose lease is lost writes nothing. stop() claims no more, waits a little for
 *        what runs, and gives back the rest.
 */
import { systemActor } from "@/lib/access/actor";
import { must } from "@/lib/base/assert";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import type { Partitions } from "@/lib/store/instances";
import type { TaskRow } from "@/lib/store/tasks";
import { completeTask } from "../tasks/complete-task";
import { failTask } from "../tasks/fail-task";
import { heartbeatTask } from "../tasks/heartbeat-task";
import type { InvocationOutcome, Invocations } from "../tasks/invocation";
import { taskLeaseMs } from "../limits";
import { pause } from "../pause";
import { releaseTask } from "../tasks/release-task";
import type { RuntimeContext } from "../runtime-context";
import { claimNow, underClaim } from "../tasks/task-claim";
import { postponed, taskIdempotencyKey } from "../tasks/task-rules";

const claimWaitMs = 20_000;
const retryMs = 1_000;
/** Within the grace time of the process. */
const graceMs = 4_000;

export class TaskRunner {
  private readonly stopping = new AbortController();
  private readonly giveUp = new AbortController();
  private readonly working = new Set<Promise<void>>();
  private loop: Promise<void> | null = null;

  constructor(
    private readonly context: RuntimeContext,
    private readonly invocations: Invocations,
    private readonly options: {
      workerId: string;
      slots: number;
      report: (error: unknown) => void;
      partitions?: Partitions | undefined;
      /** It is to claim no more for now. */
      isDraining: () => boolean;
    },
  ) {}

  get running(): number {
    return this.working.size;
  }
  get types(): string[] {
    return Object.keys(this.invocations.byType);
  }

  start(): void {
    if (this.types.length > 0) this.loop ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    const timer = setTimeout(() => this.giveUp.abort(), graceMs);
    await Promise.all(this.working);
    clearTimeout(timer);
  }

  /** Carries out what may be claimed now, and waits for it: how many. For who drives time by hand. */
  async runOnce(): Promise<number> {
    const { workerId, slots, partitions } = this.options;
    if (this.types.length === 0) return 0;
    const request = { types: this.types, workerId, max: slots, partitions };
    const tasks = await claimNow(this.context.store, request, this.context.fairness);
    for (const task of tasks) await this.perform(task);
    return tasks.length;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    const { workerId, slots, report, partitions, isDraining } = this.options;
    while (!signal.aborted) {
      if (isDraining()) {
        await pause(retryMs, signal);
        continue;
      }
      const max = slots - this.working.size;
      if (max === 0) {
        const over = new AbortController();
        await Promise.race([...this.working, whenAborted(signal, over.signal)]);
        over.abort();
        continue;
      }
      try {
        const request = { types: this.types, workerId, max, partitions };
        const { tasks, drain } = await this.context.taskWaits.claim(request, claimWaitMs, signal);
        for (const task of tasks) this.begin(task);
        if (drain) await pause(retryMs, signal);
      } catch (error) {
        report(error);
        await pause(retryMs, signal);
      }
    }
  }

  private begin(task: TaskRow): void {
    const work = this.perform(task)
      .catch((error: unknown) => {
        if (!isLost(error)) this.options.report(error);
      })
      .finally(() => this.working.delete(work));
    this.working.add(work);
  }

  private async perform(task: TaskRow): Promise<void> {
    const token = task.token ?? "";
    const lost = new AbortController();
    const beating = setInterval(() => {
      heartbeatTask(this.context, systemActor, { token }).then(
        ({ cancel }) => cancel && lost.abort(),
        (error: unknown) => isLost(error) && lost.abort(),
      );
    }, taskLeaseMs / 3);
    const { attemptUntil } = task;
    const timeUp =
      attemptUntil === null ? undefined : setTimeout(() => lost.abort(), attemptUntil - task.updatedAt);
    try {
      const outcome = await this.outcomeOf(task, AbortSignal.any([lost.signal, this.giveUp.signal]));
      if (this.giveUp.signal.aborted && !("output" in outcome)) {
        await releaseTask(this.context, systemActor, { token });
      } else await this.settle(token, outcome);
    } finally {
      clearInterval(beating);
      clearTimeout(timeUp);
    }
  }

  private async outcomeOf(task: TaskRow, signal: AbortSignal): Promise<InvocationOutcome> {
    const invocation = must(this.invocations.byType[task.type], "only types that are ours are claimed");
    try {
      return await invocation(JSON.parse(task.input) as Json, {
        signal,
        idempotencyKey: taskIdempotencyKey(task),
        attempt: task.attempt,
      });
    } catch (error) {
      this.options.report(error);
      return { error: { code: "internal", message: `the invocation ${task.type} broke` }, retry: true };
    }
  }

  private async settle(token: string, outcome: InvocationOutcome): Promise<void> {
    if ("output" in outcome) {
      await completeTask(this.context, systemActor, { token, output: outcome.output }).catch(
        (error: unknown) => {
          // The output can't be taken as it is: too large, or no JSON. Another attempt would end the same.
          const isOutputs =
            error instanceof LockstepError && ["payload-too-large", "bad-request"].includes(error.code);
          if (!isOutputs) throw error;
          const { code, message } = error;
          return failTask(this.context, systemActor, { token, error: { code, message, retry: false } });
        },
      );
    } else if ("error" in outcome) {
      const { error, retry } = outcome;
      await failTask(this.context, systemActor, { token, error: { ...error, retry } });
    } else {
      await underClaim(this.context.store, token, async (tx, { task, now, standing }) => {
        if (standing !== "running") return;
        await tx.writeTasks([postponed(task, outcome.postponeMs, outcome.why, now)]);
      });
    }
  }
}

const isLost = (error: unknown): boolean => error instanceof LockstepError && error.code === "lease-lost";

/** `over` takes the listener away: one for each wait would pile up. */
const whenAborted = (signal: AbortSignal, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true, signal: over });
  });
