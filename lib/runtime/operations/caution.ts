/**
 * Whether this process must reckon with a message that kills it, and what it does then: it notes what it is about to step,
 * before it does so, in a commit of its own.
 *
 * Holds: I9 a process that dies while it steps is known to have died at what it had noted. While careful, one batch at a
 *        time: else the note would blame those beside it.
 * A process that no worker was lost beside lately notes nothing and reads nothing more.
 */
import type { Store } from "@/lib/store/store";
import type { SteppingItem, SuspectRow } from "@/lib/store/workers";

export class Caution {
  private careful = false;
  private noted = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private readonly self: { workerId: string; session: string },
  ) {}

  get isCareful(): boolean {
    return this.careful;
  }

  /** What each beat finds. */
  async set(careful: boolean): Promise<void> {
    this.careful = careful;
    if (careful || !this.noted) return;
    this.noted = false;
    await this.note(null);
  }

  /** The suspects among them; the others are noted. `work` is given both, with no other batch beside it. */
  around<T>(
    instanceIds: readonly string[],
    work: (others: string[], suspects: SuspectRow[]) => Promise<T>,
  ): Promise<T> {
    const run = async () => {
      const suspects = await this.store.findSuspects(instanceIds);
      const known = new Set(suspects.map(({ instanceId }) => instanceId));
      const others = instanceIds.filter((id) => !known.has(id));
      if (others.length > 0) await this.note(others.map((id) => [id, ""]));
      return work(others, suspects);
    };
    const done = this.last.then(run);
    this.last = done.catch(() => undefined);
    return done;
  }

  async note(stepping: SteppingItem[] | null): Promise<void> {
    const { workerId, session } = this.self;
    if (stepping) this.noted = true;
    await this.store.transaction((tx) => tx.noteStepping(workerId, session, stepping));
  }
}
