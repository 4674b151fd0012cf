/**
 * Instances as this process last wrote them, and what the database's clock says meanwhile: enough to step one without
 * reading it first.
 *
 * Holds: what is remembered is only a guess. The write that builds on it does nothing unless the row is still that one and
 *        the time is the database's (I1, I10); then it is forgotten.
 *        The time told is never ahead of the database's clock, as long as that goes on like this machine's.
 */
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { InstanceRow } from "@/lib/store/instances";
import { must } from "@/lib/base/assert";

export interface RecentRow {
  row: InstanceRow;
  snapshot: Snapshot;
}

const rowsMax = 1_000;
/** 8 MB of text in all. */
const charactersMax = 8_192;

export class RecentRows {
  private readonly rows = new Map<string, RecentRow>();
  /** The database's time when performance.now() was 0, at the least. */
  private zeroAt: number | null = null;

  /** Call it when the row is committed; `now`: a time that the database had told before. */
  remember(recent: RecentRow, now: number): void {
    const { id, snapshot } = recent.row;
    this.zeroAt = Math.max(this.zeroAt ?? -Infinity, now - performance.now());
    this.rows.delete(id);
    if (snapshot.length > charactersMax) return;
    this.rows.set(id, recent);
    if (this.rows.size > rowsMax)
      this.rows.delete(must(this.rows.keys().next().value, "a full memory has a first"));
  }

  forget(instanceId: string): void {
    this.rows.delete(instanceId);
  }

  /** The row was another one, or the database's clock went back. */
  wasWrong(instanceId: string): void {
    this.forget(instanceId);
    this.zeroAt = null;
  }

  find(instanceId: string): (RecentRow & { now: number }) | null {
    const recent = this.rows.get(instanceId);
    if (!recent || this.zeroAt === null) return null;
    return { ...recent, now: Math.floor(this.zeroAt + performance.now()) };
  }
}
