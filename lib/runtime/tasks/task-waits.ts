/**
 * The calls of this process that ask for tasks: one loop serves them all, first come first served, holding no connection
 * while there is nothing to do.
 *
 * Holds: I8 work committed by this process is handed out at once, another's within 250 ms. A call whose caller has gone
 *        gets nothing: what was claimed for it meanwhile is handed back. A worker that is to be drained gets nothing, and a
 *        second one of a live one's id is refused.
 */
import type { Store } from "@/lib/store/store";
import type { TaskRow } from "@/lib/store/tasks";
import type { Claimant } from "@/lib/store/worker-orders";
import { claimMax, pollMs } from "../limits";
import { isLive, workerExists } from "../operations/worker-registry";
import { pause } from "../pause";
import { claimNow, handBack, type ClaimRequest } from "./task-claim";
import type { Fairness } from "../workers/choose-runnable";

/** Under load commits come by the thousand: looking after each would cost more than it saves. */
const paceMs = 10;

export interface Claimed {
  tasks: TaskRow[];
  /** An operator wants the worker to take no more. */
  drain: boolean;
}
const nothing: Claimed = { tasks: [], drain: false };

interface Waiting extends ClaimRequest {
  giveUpAt: number;
  tried: boolean;
  resolve(claimed: Claimed): void;
  reject(error: unknown): void;
}

export class TaskWaits {
  private readonly waiting = new Set<Waiting>();
  private watching: Promise<void> | null = null;
  private arrived = false;
  private hint: () => void = () => undefined;

  constructor(
    private readonly store: Store,
    private readonly closing: AbortSignal,
    private readonly fairness: Fairness,
  ) {
    store.onCommit(() => this.hint());
    closing.addEventListener("abort", () => this.hint());
  }

  /** No tasks when there were none within `waitMs`. Throws `worker-exists`. */
  async claim(request: ClaimRequest, waitMs: number, signal?: AbortSignal): Promise<Claimed> {
    if (signal?.aborted) return nothing;
    let gone = (): void => undefined;
    const claimed = new Promise<Claimed>((resolve, reject) => {
      const one = { ...request, giveUpAt: performance.now() + waitMs, tried: false, resolve, reject };
      gone = () => this.end(one, nothing);
      this.waiting.add(one);
      this.arrived = true;
      this.hint();
      this.watching ??= this.watch();
    });
    signal?.addEventListener("abort", gone, { once: true });
    try {
      return await claimed;
    } finally {
      // The signal may live as long as the process.
      signal?.removeEventListener("abort", gone);
    }
  }

  private async watch(): Promise<void> {
    while (this.waiting.size > 0) {
      const hinted = new Promise<void>((resolve) => (this.hint = resolve));
      this.arrived = false;
      await this.serve().catch((error: unknown) => this.fail(error));
      this.endOverdue();
      if (this.waiting.size === 0 || this.arrived) continue;
      await pause(paceMs, this.closing);
      await Promise.race([pause(this.lookAgainMs(), this.closing), hinted]);
    }
    // In the same breath as the last look: a call that comes next finds nobody watching, and begins to.
    this.watching = null;
  }

  private async serve(): Promise<void> {
    const asking = [...this.waiting];
    const now = await this.store.now();
    const claimants = await this.store.findClaimants([...new Set(asking.map(({ workerId }) => workerId))]);
    const known = new Map(claimants.map((claimant) => [claimant.id, claimant]));
    const calls = asking.filter((one) => this.mayClaim(one, known.get(one.workerId), now));
    if (calls.length === 0) return;
    const types = [...new Set(calls.flatMap((one) => one.types))];
    const counted = await this.store.countClaimable(types, now, claimMax);
    const left = new Map(counted.map(({ type, count }) => [type, count]));
    for (const one of calls) {
      one.tried = true;
      if (!this.waiting.has(one) || !one.types.some((type) => (left.get(type) ?? 0) > 0)) continue;
      const tasks = await claimNow(this.store, one, this.fairness);
      for (const { type } of tasks) left.set(type, (left.get(type) ?? 0) - 1);
      if (tasks.length === 0) continue;
      if (this.waiting.has(one)) this.end(one, { tasks, drain: false });
      else await handBack(this.store, tasks);
    }
  }

  private mayClaim(one: Waiting, worker: Claimant | undefined, now: number): boolean {
    if (!worker) return true;
    if (one.session !== undefined && one.session !== worker.session && isLive(worker, now)) {
      if (this.waiting.delete(one)) one.reject(workerExists(one.workerId));
      return false;
    }
    // Of one that is gone it was asked, not of who has its id now.
    const isToEnd = worker.drainAsked === 1 && isLive(worker, now);
    if (isToEnd) this.end(one, { tasks: [], drain: true });
    return !isToEnd;
  }

  private endOverdue(): void {
    const now = performance.now();
    for (const one of this.waiting) {
      if (this.closing.aborted || (one.tried && one.giveUpAt <= now)) this.end(one, nothing);
    }
  }

  /** The database is away: who would not wait longer hears of it, the others' time goes on running. */
  private fail(error: unknown): void {
    const now = performance.now();
    for (const one of this.waiting) {
      if (one.giveUpAt > now) continue;
      this.waiting.delete(one);
      one.reject(error);
    }
  }

  private lookAgainMs(): number {
    const next = Math.min(...[...this.waiting].map((one) => one.giveUpAt));
    return Math.max(0, Math.min(pollMs, next - performance.now()));
  }

  private end(one: Waiting, claimed: Claimed): void {
    if (this.waiting.delete(one)) one.resolve(claimed);
  }
}
