/**
 * This process as a worker that tells and is told: its breakers and its share are noted beside its beat; what an operator asks
 * of it (take no more, close a breaker) is done within about a second.
 */
import type { Store } from "@/lib/store/store";
import type { BreakerView } from "../tasks/invocation";

const lookEveryMs = 1_000;

/** This process's, of whatever kind. */
export interface Breakers {
  /** Those that are not closed. */
  list(): BreakerView[];
  /** Closes it: the next call goes through. */
  reset(name: string): void;
}

export class WorkerOrders {
  /** An operator wants it to take no more. */
  draining = false;
  private nextAt = 0;
  private noted = "";

  constructor(
    private readonly store: Store,
    private readonly self: { workerId: string; session: string; partitions: string | null },
    private readonly breakers: Breakers,
    /** Told when `draining` has changed. */
    private readonly changed: () => void,
  ) {}

  /** A loop's round. */
  async round(): Promise<boolean> {
    if (performance.now() < this.nextAt) return false;
    this.nextAt = performance.now() + lookEveryMs;
    const { store, self } = this;
    const orders = await store.findOrders(self.workerId, self.session);
    // Not heard of yet, or forgotten: the next beat makes its row again.
    if (!orders) {
      this.noted = "";
      return false;
    }
    const draining = orders.drainAsked === 1;
    if (draining !== this.draining) {
      this.draining = draining;
      this.changed();
    }
    if (orders.resets !== "[]") {
      const names = await store.transaction((tx) => tx.takeResets(self.workerId, self.session));
      for (const name of names) this.breakers.reset(name);
    }
    const breakers = JSON.stringify(this.breakers.list());
    if (breakers === this.noted) return false;
    const notes = { breakers, partitions: self.partitions };
    await store.transaction((tx) => tx.noteWorker(self.workerId, self.session, notes));
    this.noted = breakers;
    return false;
  }
}
