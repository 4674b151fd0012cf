/**
 * The calls of this process that wait in line for locks: one watcher for all of them, holding no connection.
 *
 * Holds: a grant by this process is noticed at once, one by another within 100 ms; so is that locks asked for together could be
 *        had, whose grant is the call's own to make. While a call waits its place is kept alive, and when the process dies it falls
 *        silent and is passed over. One that would wait for ever is ended.
 */
import { waiterSilentMs } from "@/lib/base/limits";
import type { Store } from "@/lib/store/store";
import type { Machines } from "../charts/machines";
import { isCoolingFor } from "./lock-views";
import { waiterBeatMs } from "../limits";
import { pause } from "../pause";
import { circlesMs, findDeadlocked } from "./wait-circles";

const watchMs = 100;

interface Waiting {
  keys: readonly string[];
  session: string;
  giveUpAt: number;
  resolve(end: WaitEnd): void;
}
/** `open`: nobody seems to be before it any more, it may ask. `gone`: its caller is not there any more. `deadlock`: it would wait for ever. */
export type WaitEnd = "granted" | "open" | "timeout" | "closed" | "gone" | "deadlock";

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

  waitFor(keys: readonly string[], session: string, waitMs: number, caller?: AbortSignal): Promise<WaitEnd> {
    return new Promise((resolve) => {
      if (caller?.aborted) return resolve("gone");
      const gone = () => this.end(one, "gone");
      const one: Waiting = {
        ...{ keys, session, giveUpAt: performance.now() + waitMs },
        resolve(end) {
          caller?.removeEventListener("abort", gone);
          resolve(end);
        },
      };
      caller?.addEventListener("abort", gone, { once: true });
      this.waiting.add(one);
      this.watching ??= this.watch();
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
    // In the same breath as the last look: a call that comes next finds nobody watching, and begins to.
    this.watching = null;
  }

  private async look(): Promise<void> {
    const { store } = this;
    // Who comes while the locks are read is none of them: of its own nothing was read.
    const waiting = [...this.waiting];
    const rows = await store.findLocks([...new Set(waiting.flatMap((one) => one.keys))]);
    const locks = new Map(rows.map((row) => [row.key, row]));
    const isHis = (key: string, session: string) => locks.get(key)?.session === session;
    for (const one of waiting) if (one.keys.every((key) => isHis(key, one.session))) this.end(one, "granted");
    const isFree = (key: string) =>
      (locks.get(key)?.session ?? null) === null || locks.get(key)?.expired === 1;
    const unheld = waiting.filter(({ keys, session }) =>
      keys.every((key) => isFree(key) || isHis(key, session)),
    );
    if (unheld.length === 0) return;
    const firsts = await store.findHeads([...new Set(unheld.flatMap((one) => one.keys))]);
    const heads = new Map(firsts.map((head) => [head.key, head]));
    const now = await store.now();
    const aliveSince = now - waiterSilentMs;
    const isFirst = (key: string, session: string) => {
      const head = heads.get(key);
      const lock = locks.get(key);
      if (lock && isCoolingFor(lock, session, now)) return false;
      return !head || head.session === session || head.heartbeatAt < aliveSince;
    };
    for (const one of unheld) {
      const { keys, session } = one;
      // Who waits for what he holds stands in nobody's way but his own.
      if (keys.every((key) => (!isFree(key) && isHis(key, session)) || isFirst(key, session)))
        this.end(one, "open");
    }
  }

  private async beat(): Promise<void> {
    if (performance.now() < this.beatAt || this.waiting.size === 0) return;
    this.beatAt = performance.now() + waiterBeatMs;
    const waiters = [...this.waiting].flatMap(({ keys, session }) => keys.map((key) => ({ key, session })));
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
        if (one.keys.includes(key) && one.session === session) this.end(one, "deadlock");
      }
    }
  }

  private end(one: Waiting, end: WaitEnd): void {
    this.waiting.delete(one);
    one.resolve(end);
  }
}
