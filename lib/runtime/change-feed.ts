/**
 * Committed changes for those who watch: this process's own at once, others' within the poll.
 *
 * Holds: every listener gets every change after its subscription once, in position order.
 */
import type { StoredChange, Store } from "@/lib/store/store";
import { pause } from "./pause";

export type Change =
  | { kind: "instance"; id: string; seq: number; status: string }
  | { kind: "lock"; key: string; fence: number }
  | { kind: "chart"; id: string; revision: number };
export interface PositionedChange {
  change: Change;
  position: string;
}
export interface ChangesPage {
  changes: PositionedChange[];
  /** Where to go on; equal to the last change's position when there was one. */
  position: string;
  /** The given position is not one of this store (any more): read everything anew, then go on from `position`. */
  resync: boolean;
}
export type ChangeListener = (changes: PositionedChange[]) => void;

const pollMs = 250;
/** Commits that come close together are told together: a reading costs as much as a step. */
const gatherMs = 20;
const pageMax = 500;

export class ChangeFeed {
  private readonly listeners = new Set<ChangeListener>();
  private following: Promise<void> | null = null;
  private hinted = false;
  private hint: () => void = () => undefined;

  constructor(
    private readonly store: Store,
    private readonly closing: AbortSignal,
    private readonly report: (error: unknown) => void,
  ) {
    store.onCommit(() => {
      if (this.listeners.size > 0) this.wake();
    });
  }

  async since(position: string | null, limit: number): Promise<ChangesPage> {
    const page = await this.store.changesSince(position, limit);
    return { ...page, changes: page.changes.map(positioned) };
  }

  /** Keeps up with the newest position while nobody listens, so that who comes later misses nothing from then on. */
  start(): void {
    this.following ??= this.follow();
  }

  subscribe(listener: ChangeListener): () => void {
    this.start();
    this.listeners.add(listener);
    this.wake();
    return () => this.listeners.delete(listener);
  }

  /** Resolves when nobody is being told anything any more. */
  async idle(): Promise<void> {
    this.wake();
    await this.following;
  }

  private async follow(): Promise<void> {
    let position: string | null = null;
    while (!this.closing.aborted) {
      this.hinted = false;
      try {
        position = this.listeners.size === 0 ? await this.keepUp(position) : await this.tell(position);
      } catch (error) {
        this.report(error);
      }
      if (this.listeners.size > 0) await pause(gatherMs, this.closing);
      if (this.hinted) continue;
      const hinted = new Promise<void>((resolve) => (this.hint = resolve));
      await Promise.race([hinted, pause(pollMs, this.closing)]);
    }
  }

  /** The newest position; but for one who began to listen meanwhile, the older one. */
  private async keepUp(position: string | null): Promise<string> {
    const { position: newest } = await this.since(null, 1);
    return this.listeners.size > 0 && position !== null ? position : newest;
  }

  private async tell(position: string | null): Promise<string> {
    const page = await this.since(position, pageMax);
    if (page.changes.length > 0) for (const listener of [...this.listeners]) listener(page.changes);
    if (page.changes.length === pageMax) this.hinted = true;
    return page.position;
  }

  private wake(): void {
    this.hinted = true;
    this.hint();
  }
}

function positioned({ position, ...change }: StoredChange): PositionedChange {
  return { position, change };
}
