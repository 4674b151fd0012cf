/**
 * This process's senders, gathered into groups: one transaction steps them all (group commit).
 *
 * Holds: a caller waits in memory, holding no connection; calls for one instance keep their order; a defect that one of a
 *        group meets does not fail the others.
 */
import { isPassing } from "@/lib/base/errors";
import type { Store } from "@/lib/store/store";
import type { Caution } from "../operations/caution";
import { batchMax } from "../limits";
import { withMachines, type Machines } from "../charts/machines";
import { RecentRows } from "./recent-rows";
import { stepOptimistically } from "./step-optimistically";
import { stepBatch, type BatchResult, type Send, type SendOutcome } from "./step-batch";
import type { Verdict } from "./turn";

/** From this many waiting senders on, groups are halved. */
const shareAbove = 16;
/** How long a sender whose instance another transaction holds waits before the next try. */
const busyPauseMs = 3;

interface Waiting {
  send: Send;
  resolve: (outcome: SendOutcome) => void;
  reject: (error: unknown) => void;
}

export class SendQueue {
  private readonly waiting: Waiting[] = [];
  private readonly nudged = new Set<string>();
  private readonly awaited = new Map<string, { instanceId: string; resolve: (verdict: Verdict) => void }>();
  readonly recents = new RecentRows();
  private running = 0;
  /** Of the last group. */
  private lastSize = 0;
  /** Of those running, the ones that have a group under way. */
  private busy = 0;
  /** Writers at once: SQLite has one; on PostgreSQL a batch that waits must not stop the others. */
  private readonly runningMax: number;

  constructor(
    private readonly store: Store,
    private readonly machines: Machines,
    private readonly caution: Caution,
    private readonly afterBatch: (result: BatchResult) => Promise<void>,
  ) {
    this.runningMax = store.database === "sqlite" ? 1 : 2;
  }

  /** Resolves when its batch has committed; `busy` when another transaction held the instance. */
  submit(send: Send): Promise<SendOutcome> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ send, resolve, reject });
      this.pump();
    });
  }

  /** Steps what waits for that instance, with the next group. */
  nudge(instanceId: string): void {
    this.nudged.add(instanceId);
    this.pump();
  }

  /**
   * Resolves when a batch of this process applies or refuses that waiting message; null after `ms` without (another process
   * may have done it). Meanwhile its instance is stepped again and again.
   */
  async whenSettled(instanceId: string, messageId: string, ms: number): Promise<Verdict | null> {
    let timer: NodeJS.Timeout | undefined;
    const settled = new Promise<Verdict | null>((resolve) => {
      this.awaited.set(messageId, { instanceId, resolve });
      timer = setTimeout(() => resolve(null), ms);
    });
    this.nudge(instanceId);
    try {
      return await settled;
    } finally {
      clearTimeout(timer);
      this.awaited.delete(messageId);
    }
  }

  /** To be told of every batch of this process, also the workers'. */
  noteBatch(result: BatchResult): void {
    for (const recent of result.written) this.recents.remember(recent, result.now);
    for (const [messageId, verdict] of result.settled) this.awaited.get(messageId)?.resolve(verdict);
    const served = new Set(result.served);
    for (const [messageId, { instanceId }] of this.awaited) {
      if (served.has(instanceId) && !result.settled.has(messageId)) this.nudge(instanceId);
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.running > 0 || this.waiting.length > 0) await new Promise((done) => setTimeout(done, 2));
  }

  private pump(): void {
    while (this.running < this.runningMax && (this.waiting.length > 0 || this.nudged.size > 0)) {
      this.running += 1;
      void this.untilOthersHaveCome()
        .then(() => this.runGroup(this.takeWaiting(), this.takeNudged()))
        .finally(() => {
          this.running -= 1;
          this.pump();
        });
    }
  }

  /** Callers that arrive together go together: after this turn of the event loop, unless the last one was alone. */
  private untilOthersHaveCome(): Promise<unknown> {
    return this.lastSize > 1 ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve();
  }

  /** All, or a fair share when there are many: one group is then computed while the database writes the other. */
  private takeWaiting(): Waiting[] {
    const free = this.runningMax - this.busy;
    const share =
      this.waiting.length > shareAbove ? Math.ceil(this.waiting.length / free) : this.waiting.length;
    return this.waiting.splice(0, Math.min(share, batchMax));
  }

  private takeNudged(): string[] {
    const ids = [...this.nudged].slice(0, batchMax);
    for (const id of ids) this.nudged.delete(id);
    return ids;
  }

  private async runGroup(group: Waiting[], instanceIds: string[]): Promise<void> {
    if (group.length + instanceIds.length === 0) return;
    this.busy += 1;
    this.lastSize = group.length;
    let left = group;
    try {
      left = await this.stepOptimistically(group);
      if (left.length + instanceIds.length === 0) return;
      const sends = left.map(({ send }) => send);
      const result = await (this.caution.isCareful
        ? this.commitCarefully(sends, instanceIds)
        : this.commit(sends, instanceIds));
      const unreached: Waiting[] = [];
      for (const one of left) {
        const outcome = result.outcomes.get(one.send.message.messageId);
        if (outcome) one.resolve(outcome);
        else unreached.push(one);
      }
      this.waiting.unshift(...unreached);
    } catch (error) {
      // What is never to be repeated is of one of them: the others go on without it.
      if (left.length === 1 || isPassing(error)) {
        for (const { reject } of left) reject(error);
      } else {
        for (const one of left) await this.runGroup([one], []);
      }
    } finally {
      this.busy -= 1;
    }
  }

  /** Those that are left for a batch. */
  private async stepOptimistically(group: Waiting[]): Promise<Waiting[]> {
    const { optimistic } = this.store;
    if (group.length === 0 || this.caution.isCareful) return group;
    const sends = group.map(({ send }) => send);
    const done = await withMachines(this.machines, () =>
      stepOptimistically(this.machines, optimistic, this.recents, sends),
    );
    return group.filter(({ send, resolve }) => {
      const verdict = done.get(send.message.messageId);
      if (verdict) resolve(verdict);
      return verdict === undefined;
    });
  }

  /** What workers were lost at is left to workers: its senders wait as for one that another holds. */
  private commitCarefully(sends: Send[], nudged: string[]): Promise<BatchResult> {
    const all = new Set([...sends.map(({ message }) => message.instanceId), ...nudged]);
    return this.caution.around([...all], async (others) => {
      const mine = new Set(others);
      const result = await this.commit(
        sends.filter(({ message }) => mine.has(message.instanceId)),
        nudged.filter((id) => mine.has(id)),
      );
      for (const { message } of sends) {
        if (!mine.has(message.instanceId)) result.outcomes.set(message.messageId, { kind: "busy" });
      }
      return result;
    });
  }

  private async commit(sends: Send[], instanceIds: string[]): Promise<BatchResult> {
    const result = await withMachines(this.machines, () =>
      this.store.transaction((tx) =>
        stepBatch(this.machines, tx, sends, instanceIds, { recents: this.recents }),
      ),
    );
    await this.afterBatch(result);
    return result;
  }
}

export const busyPause = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, busyPauseMs * (0.5 + Math.random())));
