/**
 * A lock's log as the page reads it: renewals folded, grants as spans.
 *
 * Holds: pure; entries come newest first, as the server sends them; folding loses nothing but the single renewals.
 */
import type { LockLogEntry } from "@/lib/contract/locks";

export type HistoryLine =
  | { kind: "entry"; entry: LockLogEntry }
  /** Consecutive renewals of one grant; `from` is the oldest. */
  | { kind: "renewals"; count: number; holder: string | null; seq: number; from: number; to: number };

export function foldRenewals(entries: readonly LockLogEntry[]): HistoryLine[] {
  const lines: HistoryLine[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (entry.type !== "RENEWED") lines.push({ kind: "entry", entry });
    else if (last?.kind === "renewals" && last.holder === entry.holder) {
      last.count++;
      last.from = entry.at;
    } else {
      lines.push({
        kind: "renewals",
        count: 1,
        holder: entry.holder,
        seq: entry.seq,
        from: entry.at,
        to: entry.at,
      });
    }
  }
  return lines;
}

export interface Grant {
  holder: string;
  fence: number;
  from: number;
  /** null: still held. */
  to: number | null;
  /** How it ended. */
  end: "released" | "expired" | "forced" | "deleted" | "superseded" | null;
}

const ends: Partial<Record<LockLogEntry["type"], NonNullable<Grant["end"]>>> = {
  RELEASED: "released",
  EXPIRED: "expired",
  FORCE_RELEASED: "forced",
  DELETED: "deleted",
};

/** Oldest first. A grant whose beginning is not among `entries` is left out. */
export function grantsOf(entries: readonly LockLogEntry[]): Grant[] {
  const grants: Grant[] = [];
  for (const entry of [...entries].reverse()) {
    const open = grants.at(-1);
    const running = open && open.to === null ? open : null;
    // A waiter's grant is a HANDOFF, with or without its own ACQUIRED.
    if (entry.type === "ACQUIRED" || entry.type === "HANDOFF") {
      if (running && running.fence === entry.fence) continue;
      if (running) Object.assign(running, { to: entry.at, end: "superseded" });
      grants.push({ holder: entry.holder ?? "", fence: entry.fence, from: entry.at, to: null, end: null });
      continue;
    }
    const end = ends[entry.type];
    if (end && running) Object.assign(running, { to: entry.at, end });
  }
  return grants;
}
