/**
 * The calls of this process that ask for tasks: one loop serves them all, first come first served, holding no connection
 * while there is nothing to do.
 *
 * Holds: I8 work committed by this process is handed out at once, another's within 250 ms. A call whose caller has gone
 *        gets nothing: what was claimed for it meanwhile is handed back.
 */
import type { Store } from "@/lib/store/store";
import type { TaskRow } from "@/lib/store/tasks";
import { claimMax, pollMs } from "../limits";
import { pause } from "../pause";
import { claimNow, handBack, type ClaimRequest } from "./task-claim";

/** Under load commits come by the thousand: looking after each would cost more than it saves. */
const paceMs = 10;

interface Waiting extends ClaimRequest {
  giveUpAt: number;
  tried: boolean;
  resolve(tasks: TaskRow[]): void;
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
  ) {
    store.onCommit(() => this.hint());
    closing.addEventListener("abort", () => this.hint());
  }

  /** Empty when there was nothing within `waitMs`. */
  claim(request: ClaimRequest, waitMs: number, signal?: AbortSignal): Promise<TaskRow[]> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return resolve([]);
      const one = { ...request, giveUpAt: performance.now() + waitMs, tried: false, resolve, reject };
      this.waiting.add(one);
      signal?.addEventListener("abort", () => this.end(one, []), { once: true });
      this.arrived = true;
      this.hint();
      this.watching ??= this.watch().finally(() => (this.watching = null));
    });
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
  }

  private async serve(): Promise<void> {
    const calls = [...this.waiting];
    const types = [...new Set(calls.flatMap((one) => one.types))];
    const counted = await this.store.countClaimable(types, await this.store.now(), claimMax);
    const left = new Map(counted.map(({ type, count }) => [type, count]));
    for (const one of calls) {
      one.tried = true;
      if (!this.waiting.has(one) || !one.types.some((type) => (left.get(type) ?? 0) > 0)) continue;
      const tasks = await claimNow(this.store, one);
      for (const { type } of tasks) left.set(type, (left.get(type) ?? 0) - 1);
      if (tasks.length === 0) continue;
      if (this.waiting.has(one)) this.end(one, tasks);
      else await handBack(this.store, tasks);
    }
  }

  private endOverdue(): void {
    const now = performance.now();
    for (const one of this.waiting) {
      if (this.closing.aborted || (one.tried && one.giveUpAt <= now)) this.end(one, []);
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

  private end(one: Waiting, tasks: TaskRow[]): void {
    if (this.waiting.delete(one)) one.resolve(tasks);
  }
}
