/**
 * The task-worker SDK: runs your functions for the tasks of your charts, over HTTP, from any Node process.
 *
 *   const worker = runTaskWorker({
 *     baseUrl: "http://127.0.0.1:3000",
 *     tasks: {
 *       charge: async (input, { signal, heartbeat, progress, idempotencyKey, fence, attempt }) => {
 *         const receipt = await pay(input, { idempotencyKey, signal });
 *         return { receipt };
 *       },
 *     },
 *   });
 *   await worker.ended;
 *
 * What a function returns is the task's output (`done.invoke.ID`). What it throws fails the attempt: another one follows
 * after a pause until none is left (`error.invoke.ID`); a TaskFailure (task-function.ts) says more.
 *
 * Holds: at most `slots` tasks at once; a lease is renewed at a third of its length; when it is lost, `signal` aborts with a
 *        LeaseLost and nothing more is written for that task. On SIGTERM and SIGINT no more is claimed, what runs is
 *        finished or, after the grace time, given back.
 * Does not: make a function run once: an attempt may be repeated after a crash. `idempotencyKey` is the same in all of
 *           them; hand it on to whoever must not act twice.
 */
import { must } from "@/lib/base/assert";
import { isLasting } from "@/lib/base/errors";
import type { ClaimedTask } from "@/lib/contract/tasks";
import { createClient, type Client } from "./client";
import { performTask, type TaskEnd } from "./perform-task";
import type { TaskFunction } from "./task-function";

export interface TaskWorkerOptions {
  /** Scheme, host and port of the server. */
  baseUrl: string;
  /** By task type: the `src` of the invocations. */
  tasks: Record<string, TaskFunction>;
  /** Tasks at once; default 4. */
  slots?: number;
  /** Default: host-pid-random. */
  workerId?: string;
  /** How long running tasks may go on after stop(); default 20 s. */
  graceMs?: number;
  /** false: the process's SIGTERM and SIGINT are not listened to. */
  signals?: boolean;
  /** Told what happens; default: nothing. */
  report?: (event: WorkerEvent) => void;
  fetch?: typeof globalThis.fetch;
}

export type WorkerEvent =
  | { kind: "claimed"; task: ClaimedTask }
  | { kind: TaskEnd; task: ClaimedTask; error?: unknown }
  /** The server can't be reached, or said no; the worker goes on trying. */
  | { kind: "trouble"; error: unknown };

export interface TaskWorker {
  readonly workerId: string;
  /** Claims no more; resolves when nothing runs any more. */
  stop(): Promise<void>;
  /** Resolves after stop(); rejects when the worker can't work: its id is taken. */
  readonly ended: Promise<void>;
}

/** Below what servers and proxies cut off. */
const claimWaitMs = 20_000;
const beatMs = 10_000;
const retryMinMs = 500;
const retryMaxMs = 10_000;

export function runTaskWorker(options: TaskWorkerOptions): TaskWorker {
  const client = createClient({
    baseUrl: options.baseUrl,
    ...(options.fetch ? { fetch: options.fetch } : {}),
  });
  return new Worker(client, options).start();
}

class Worker {
  readonly workerId: string;
  private readonly types: string[];
  private readonly slots: number;
  private readonly session = crypto.randomUUID();
  private readonly stopping = new AbortController();
  private readonly giveUp = new AbortController();
  private readonly running = new Set<Promise<void>>();
  private readonly report: (event: WorkerEvent) => void;

  constructor(
    private readonly client: Client,
    private readonly options: TaskWorkerOptions,
  ) {
    this.types = Object.keys(options.tasks);
    this.slots = options.slots ?? 4;
    this.workerId = options.workerId ?? defaultWorkerId();
    this.report = options.report ?? (() => undefined);
  }

  start(): TaskWorker {
    const ended = this.run();
    // Whoever waits for `ended` hears of it; nobody has to.
    ended.catch(() => undefined);
    return {
      workerId: this.workerId,
      ended,
      stop: async () => {
        this.stopping.abort();
        await ended;
      },
    };
  }

  private async run(): Promise<void> {
    const stop = () => this.stopping.abort();
    const listens = this.options.signals !== false;
    if (listens) for (const name of signalNames) process.once(name, stop);
    const beating = setInterval(
      () => void this.beat().catch((error: unknown) => this.trouble(error)),
      beatMs,
    );
    try {
      await this.register();
      await this.claimUntilStopped();
      await this.drain();
    } finally {
      clearInterval(beating);
      if (listens) for (const name of signalNames) process.off(name, stop);
    }
  }

  /** The server may not be there yet; an id that is taken will not become free by asking. */
  private async register(): Promise<void> {
    for (let tried = 0; !this.stopping.signal.aborted; tried += 1) {
      try {
        return await this.beat();
      } catch (error) {
        if (isLasting(error)) throw error;
        this.trouble(error);
        await pause(retryMs(tried), this.stopping.signal);
      }
    }
  }

  private async claimUntilStopped(): Promise<void> {
    let tried = 0;
    while (!this.stopping.signal.aborted) {
      const free = this.slots - this.running.size;
      if (free === 0) {
        await Promise.race(this.running);
        continue;
      }
      try {
        const { workerId, session, types } = this;
        const { tasks, drain } = await this.client.claimTasks(
          { types, workerId, session, max: Math.min(free, 100), waitMs: claimWaitMs },
          { signal: this.stopping.signal },
        );
        tried = 0;
        if (drain) this.stopping.abort();
        for (const task of tasks) this.begin(task);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        this.trouble(error);
        await pause(retryMs(tried), this.stopping.signal);
        tried += 1;
      }
    }
  }

  private begin(task: ClaimedTask): void {
    this.report({ kind: "claimed", task });
    const run = must(this.options.tasks[task.type], "only types that are ours are claimed");
    const work = performTask(this.client, task, run, this.giveUp.signal)
      .then(({ end, ...rest }) => this.report({ kind: end, task, ...rest }))
      .catch((error: unknown) => this.trouble(error))
      .finally(() => this.running.delete(work));
    this.running.add(work);
  }

  private async drain(): Promise<void> {
    await this.beat().catch((error: unknown) => this.trouble(error));
    const timer = setTimeout(() => this.giveUp.abort(), this.options.graceMs ?? 20_000);
    while (this.running.size > 0) await Promise.race(this.running);
    clearTimeout(timer);
    await this.beat({ leaving: true }).catch((error: unknown) => this.trouble(error));
  }

  private async beat(over: { leaving?: true } = {}): Promise<void> {
    const { drain } = await this.client.beatWorker({
      workerId: this.workerId,
      session: this.session,
      types: this.types,
      slots: this.slots,
      running: this.running.size,
      draining: this.stopping.signal.aborted,
      ...over,
    });
    // An operator wants it so.
    if (drain) this.stopping.abort();
  }

  private trouble(error: unknown): void {
    this.report({ kind: "trouble", error });
  }
}

const signalNames = ["SIGTERM", "SIGINT"] as const;

const defaultWorkerId = (): string => `node-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;

const retryMs = (tried: number): number =>
  Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(tried, 10)) * (0.75 + 0.25 * Math.random());

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
