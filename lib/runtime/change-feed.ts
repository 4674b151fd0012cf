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
      this.hinted = true;
      this.hint();
    });
  }

  async since(position: string | null, limit: number): Promise<ChangesPage> {
    const page = await this.store.changesSince(position, limit);
    return { ...page, changes: page.changes.map(positioned) };
  }

  /** Follows from here on, listeners or not, so that a listener that comes later misses nothing from its coming on. */
  start(): void {
    this.following ??= this.follow();
  }

  subscribe(listener: ChangeListener): () => void {
    this.start();
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves when nobody is being told anything any more. */
  async idle(): Promise<void> {
    this.hint();
    await this.following;
  }

  private async follow(): Promise<void> {
    let position: string | null = null;
    while (!this.closing.aborted) {
      this.hinted = false;
      try {
        const page = await this.since(position, pageMax);
        position = page.position;
        if (page.changes.length > 0) for (const listener of [...this.listeners]) listener(page.changes);
        if (page.changes.length === pageMax) continue;
      } catch (error) {
        this.report(error);
      }
      if (this.hinted) continue;
      const hinted = new Promise<void>((resolve) => (this.hint = resolve));
      await Promise.race([hinted, pause(pollMs, this.closing)]);
    }
  }
}

function positioned({ position, ...change }: StoredChange): PositionedChange {
  return { position, change };
}
