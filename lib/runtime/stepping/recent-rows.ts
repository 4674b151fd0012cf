/**
 * Instances as this process last wrote them, and what the database's clock says meanwhile: enough to step one without
 * reading it first.
 *
 * Holds: what is remembered is only a guess. Who builds on it writes nothing unless the row is still that one: a batch
 *        compares under the row's lock, a lone step in its one statement, with the time as well (I1, I10).
 *        The time told is never ahead of the database's clock, as long as that goes on like this machine's.
 */
import type { Snapshot } from "@/lib/statechart/snapshot";
import type { InstanceRow } from "@/lib/store/instances";
import { isEnded } from "../instances/instance-views";

export interface RecentRow {
  row: InstanceRow;
  snapshot: Snapshot;
}

/** Of all states' texts together. */
const charactersMax = 16_000_000;

export class RecentRows {
  /** The oldest first. */
  private readonly rows = new Map<string, RecentRow>();
  private characters = 0;
  /** The database's time when performance.now() was 0, at the least. */
  private zeroAt: number | null = null;

  /** Nothing steps one that has ended. Call it when the row is committed; `now`: a time that the database had told before. */
  remember(recent: RecentRow, now: number): void {
    this.zeroAt = Math.max(this.zeroAt ?? -Infinity, now - performance.now());
    this.forget(recent.row.id);
    if (isEnded(recent.row.status)) return;
    this.rows.set(recent.row.id, recent);
    this.characters += sizeOf(recent);
    for (const id of this.rows.keys()) {
      if (this.characters <= charactersMax) break;
      this.forget(id);
    }
  }

  forget(instanceId: string): void {
    const recent = this.rows.get(instanceId);
    if (!recent) return;
    this.characters -= sizeOf(recent);
    this.rows.delete(instanceId);
  }

  /** The database's clock may have gone back. */
  distrustClock(): void {
    this.zeroAt = null;
  }

  find(instanceId: string): (RecentRow & { now: number }) | null {
    const recent = this.rows.get(instanceId);
    if (!recent || this.zeroAt === null) return null;
    const { row, snapshot } = recent;
    return { row, snapshot, now: Math.floor(this.zeroAt + performance.now()) };
  }

  rowsOf(instanceIds: readonly string[]): Map<string, InstanceRow> {
    const found = new Map<string, InstanceRow>();
    for (const id of instanceIds) {
      const recent = this.rows.get(id);
      if (recent) found.set(id, recent.row);
    }
    return found;
  }

  /** Null when this is not the row that is remembered. */
  snapshotOf(row: InstanceRow): Snapshot | null {
    const recent = this.rows.get(row.id);
    return recent?.row === row ? recent.snapshot : null;
  }
}

/** The text, the same as an object, and what surrounds them. */
const sizeOf = ({ row }: RecentRow): number => 2 * row.snapshot.length + 1_000;
