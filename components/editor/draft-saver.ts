/**
 * Saves a draft as it is edited: one PUT at a time, each on the revision before it; what isn't saved yet is kept in the
 * browser.
 *
 * Holds: never two saves in flight; a newer document replaces one that still waits; after a refusal by a newer revision
 * nothing is sent until someone chose; unsaved work survives a reload (the keeper's promise), and is forgotten only once
 * the server has it.
 * Does not: merge, or know React.
 */
import { isLasting, LockstepError } from "@/lib/base/errors";
import type { Layout } from "@/lib/diagram/layout";

export interface DraftText {
  text: string;
  layout: Layout;
}
export interface TheirDraft extends DraftText {
  revision: number;
  savedBy: string;
}

export type SaveStatus =
  | { kind: "saved"; at: number }
  | { kind: "saving" }
  /** The server can't be reached or said no; `reason` in its words. Tried again by itself when `retryAt` is set. */
  | { kind: "unsaved"; reason: string; retryAt: number | null }
  | { kind: "conflict"; theirs: TheirDraft };

export interface DraftPorts {
  save: (baseRevision: number, draft: DraftText) => Promise<{ revision: number; savedAt: number }>;
  /** The newest draft, after a conflict. */
  fetch: () => Promise<TheirDraft>;
  keep: (kept: { baseRevision: number; draft: DraftText } | null) => void;
  onChange: (state: { status: SaveStatus; revision: number }) => void;
  now: () => number;
  wait: (ms: number, then: () => void) => () => void;
}

/** Long enough to gather a burst of typing, short enough that "Saved" follows a pause at once. */
const gatherMs = 500;
const retryMs = [1_000, 2_000, 5_000, 10_000, 30_000];

export class DraftSaver {
  private pending: DraftText | null = null;
  private sending: DraftText | null = null;
  private failures = 0;
  private cancelWait: (() => void) | null = null;
  private stopped = false;
  private status: SaveStatus;

  constructor(
    private readonly ports: DraftPorts,
    private revision: number,
    savedAt: number,
  ) {
    this.status = { kind: "saved", at: savedAt };
  }

  /** The document changed. */
  change(draft: DraftText): void {
    this.pending = draft;
    this.ports.keep({ baseRevision: this.revision, draft });
    if (this.status.kind === "conflict") return;
    if (this.status.kind === "saved") this.tell({ kind: "saving" });
    if (this.sending === null && this.failures === 0) this.later(gatherMs);
  }

  /** Starts in conflict: kept work of an older revision met a newer draft. */
  conflict(mine: DraftText, theirs: TheirDraft): void {
    this.pending = mine;
    this.tell({ kind: "conflict", theirs });
  }

  /** Saves now what waits. */
  flush(): void {
    this.clearWait();
    if (this.sending === null && this.status.kind !== "conflict") void this.send();
  }

  /** Saves on top of the newer revision. */
  keepMine(): void {
    if (this.status.kind !== "conflict") return;
    this.revision = this.status.theirs.revision;
    this.tell({ kind: "saving" });
    void this.send();
  }

  /** The newer revision is taken: nothing of ours is left to save. */
  takeTheirs(): void {
    if (this.status.kind !== "conflict") return;
    this.revision = this.status.theirs.revision;
    this.pending = null;
    this.ports.keep(null);
    this.tell({ kind: "saved", at: this.ports.now() });
  }

  /** No more timers and news; a save in flight goes on. */
  stop(): void {
    this.stopped = true;
    this.clearWait();
  }

  /** After a stop (React mounts twice in development): goes on where it was. */
  resume(): void {
    if (!this.stopped) return;
    this.stopped = false;
    if (this.pending !== null && this.status.kind !== "conflict") this.later(gatherMs);
  }

  get hasUnsaved(): boolean {
    return this.pending !== null || this.sending !== null;
  }

  private later(ms: number): void {
    this.clearWait();
    this.cancelWait = this.ports.wait(ms, () => void this.send());
  }

  private clearWait(): void {
    this.cancelWait?.();
    this.cancelWait = null;
  }

  private async send(): Promise<void> {
    const draft = this.pending;
    if (draft === null || this.sending !== null) return;
    this.pending = null;
    this.sending = draft;
    this.tell({ kind: "saving" });
    try {
      const { revision, savedAt } = await this.ports.save(this.revision, draft);
      this.sending = null;
      this.failures = 0;
      this.revision = revision;
      const waiting = this.waiting();
      this.ports.keep(waiting === null ? null : { baseRevision: revision, draft: waiting });
      this.tell(waiting === null ? { kind: "saved", at: savedAt } : { kind: "saving" });
      if (waiting !== null) this.later(gatherMs);
    } catch (error) {
      this.sending = null;
      this.pending ??= draft;
      await this.refused(error, draft);
    }
  }

  /** What came in while a save was under way. */
  private waiting(): DraftText | null {
    return this.pending;
  }

  private async refused(error: unknown, draft: DraftText): Promise<void> {
    if (error instanceof LockstepError && error.code === "draft-conflict") {
      try {
        const theirs = await this.ports.fetch();
        // An earlier save of ours whose answer was lost: the newer revision is our own text.
        if (theirs.text === draft.text) {
          this.revision = theirs.revision;
          this.failures = 0;
          if (this.pending === draft && JSON.stringify(theirs.layout) === JSON.stringify(draft.layout)) {
            this.pending = null;
            this.ports.keep(null);
            this.tell({ kind: "saved", at: this.ports.now() });
          } else void this.send();
          return;
        }
        this.tell({ kind: "conflict", theirs });
        return;
      } catch (again) {
        this.retry(again);
        return;
      }
    }
    this.retry(error);
  }

  private retry(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (isLasting(error)) {
      // Repeating won't help; the next change tries again.
      this.failures = 0;
      this.tell({ kind: "unsaved", reason, retryAt: null });
      return;
    }
    const ms = retryMs[Math.min(this.failures, retryMs.length - 1)] ?? 30_000;
    this.failures++;
    this.tell({ kind: "unsaved", reason, retryAt: this.ports.now() + ms });
    this.later(ms);
  }

  private tell(status: SaveStatus): void {
    this.status = status;
    if (!this.stopped) this.ports.onChange({ status, revision: this.revision });
  }
}
