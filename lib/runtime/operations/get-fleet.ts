/**
 * The fleet at a time: how many instances were in each state, by chart and version.
 *
 * Holds: what is told is recorded: the totals of the minute before, and every entry of that time's own minute up to it.
 *        `completeUpTo`: what commits from now on can change nothing before it.
 */
import type { Actor } from "@/lib/access/actor";
import { requirePermission } from "@/lib/access/require-permission";
import { LockstepError } from "@/lib/base/errors";
import { minuteOf, type FleetCount, type OpenSince } from "@/lib/store/fleet";
import { stepLagMaxMs } from "../limits";
import { fleetDeltasOf } from "./fleet-moves";
import type { RuntimeContext } from "../runtime-context";

export interface FleetView {
  at: number;
  /** Of the database. */
  now: number;
  /** A later time may still change by what is being committed now. */
  completeUpTo: number;
  items: FleetCount[];
}

/** A transaction of ours is over within this time: the server ends longer ones. */
const transactionMaxMs = 30_000;
const triesMax = 20;

/** Compound states are counted beside those within them. `at` default: now. */
export async function getFleet(
  { store, machines }: RuntimeContext,
  actor: Actor,
  args: { at?: number | undefined; chartId?: string | undefined },
): Promise<FleetView> {
  requirePermission(actor, "instances:read");
  const now = await store.now();
  // Read before the moves: what is open now and commits meanwhile may be among them or not.
  const completeUpTo = completeAt(now, store.database === "sqlite" ? noneOpen : await store.openSince());
  const at = Math.min(args.at ?? now, now);
  const minute = minuteOf(at);
  for (let tries = 0; tries < triesMax; tries += 1) {
    const fold = await store.fleetFold();
    const totals = await store.fleetTotals(minute - 1, args.chartId);
    const moves = await store.movesSince(fold, minute, at, args.chartId);
    // Counted on meanwhile: parts of two pictures.
    if ((await store.fleetFold()).tx !== fold.tx) continue;
    const items = sum(totals, await fleetDeltasOf(store, machines, moves));
    return { at, now, completeUpTo: Math.min(at, completeUpTo), items };
  }
  throw new LockstepError("database-busy", "The fleet is being counted; try again.", { retry: "later" });
}

/** SQLite has one writer at a time, whose batches are shorter than a step may lag. */
const noneOpen: OpenSince = { writing: null, any: null };

/**
 * The start of the oldest transaction that may still commit an entry, less what an entry's time may lie before its transaction.
 * One that has written nothing yet may be somebody's long reading: ours would be over.
 */
export function completeAt(now: number, open: OpenSince | null): number {
  const bound = now - transactionMaxMs;
  const oldest = open ? Math.min(open.writing ?? now, Math.max(open.any ?? now, bound)) : bound;
  return Math.min(oldest, now) - stepLagMaxMs;
}

function sum(
  totals: readonly FleetCount[],
  deltas: readonly (Omit<FleetCount, "count"> & { entered: number; left: number })[],
): FleetCount[] {
  const counts = new Map<string, FleetCount>();
  const add = ({ chartId, version, state }: Omit<FleetCount, "count">, count: number) => {
    const key = JSON.stringify([chartId, version, state]);
    counts.set(key, { chartId, version, state, count: (counts.get(key)?.count ?? 0) + count });
  };
  for (const total of totals) add(total, total.count);
  for (const delta of deltas) add(delta, delta.entered - delta.left);
  return [...counts.entries()]
    .filter(([, { count }]) => count !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);
}
