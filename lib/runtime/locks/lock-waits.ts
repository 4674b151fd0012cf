/**
 * The calls of this process that wait in line for locks: one watcher for all of them, holding no connection.
 *
 * Holds: a grant by this process is noticed at once, one by another within 100 ms; while a call waits its place is kept
 *        alive, and when the process dies it falls silent and is passed over. One that would wait for ever is ended.
 */
import type { Store } from "@/lib/store/store";
import type { Machines } from "../charts/machines";
import { waiterBeatMs } from "../limits";
import { pause } from "../pause";
import { circlesMs, findDeadlocked } from "./wait-circles";

const watchMs = 100;

interface Waiting {
  key: string;
  session: string;
  giveUpAt: number;
  resolve(end: WaitEnd): void;
}
/** `gone`: its caller is not there any more. `deadlock`: it would wait for ever. */
export type WaitEnd = "granted" | "timeout" | "closed" | "gone" | "deadlock";

export class LockWaits {
  private readonly waiting = new Set<Waiting>();
  private watching: Promise<void> | null = null;
  private hint: () => void = () => undefined;
  private beatAt = 0;
  private circlesAt = 0;

  constructor(
    private readonly store: Store,
    private readonly machines: Machines,
    private readonly closing: AbortSignal,
  ) {
    store.onCommit(() => this.hint());
  }

  waitFor(key: string, session: string, waitMs: number, caller?: AbortSignal): Promise<WaitEnd> {
    return new Promise((resolve) => {
      if (caller?.aborted) return resolve("gone");
      const one: Waiting = { key, session, giveUpAt: performance.now() + waitMs, resolve };
      caller?.addEventListener("abort", () => this.end(one, "gone"), { once: true });
      this.waiting.add(one);
      this.watching ??= this.watch().finally(() => (this.watching = null));
    });
  }

  private async watch(): Promise<void> {
    this.beatAt = performance.now() + waiterBeatMs;
    this.circlesAt = performance.now() + circlesMs;
    while (this.waiting.size > 0) {
      const hinted = new Promise<void>((resolve) => (this.hint = resolve));
      try {
        await this.look();
        await this.beat();
        await this.breakCircles();
      } catch {
        // The database is away: the calls' own time goes on running.
      }
      const now = performance.now();
      for (const one of this.waiting) {
        if (this.closing.aborted) this.end(one, "closed");
        else if (one.giveUpAt <= now) this.end(one, "timeout");
      }
      if (this.waiting.size > 0) await Promise.race([pause(watchMs, this.closing), hinted]);
    }
  }

  private async look(): Promise<void> {
    const rows = await this.store.findLocks([...new Set([...this.waiting].map((one) => one.key))]);
    const holders = new Map(rows.map((row) => [row.key, row.session]));
    for (const one of this.waiting) if (holders.get(one.key) === one.session) this.end(one, "granted");
  }

  private async beat(): Promise<void> {
    if (performance.now() < this.beatAt || this.waiting.size === 0) return;
    this.beatAt = performance.now() + waiterBeatMs;
    const waiters = [...this.waiting].map(({ key, session }) => ({ key, session }));
    await this.store.transaction(async (tx) => {
      const heartbeatAt = await tx.now();
      await tx.beatWaiters(waiters.map((waiter) => ({ ...waiter, heartbeatAt })));
    });
  }

  private async breakCircles(): Promise<void> {
    if (performance.now() < this.circlesAt || this.waiting.size === 0) return;
    this.circlesAt = performance.now() + circlesMs;
    for (const { key, session } of await findDeadlocked(this.store, this.machines)) {
      for (const one of this.waiting) {
        if (one.key === key && one.session === session) this.end(one, "deadlock");
      }
    }
  }

  private end(one: Waiting, end: WaitEnd): void {
    this.waiting.delete(one);
    one.resolve(end);
  }
}
