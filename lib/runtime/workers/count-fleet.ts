/**
 * Counts what steps have exited and entered into the fleet's minutes, behind the steps: they pay nothing for it.
 *
 * Holds: an entry is counted once: it is read below the feed's safe head, and the place up to which all is counted moves in
 *        the transaction that writes the counts. One that came late is added to its minute and to all later totals.
 */
import { minuteOf, type FleetDelta, type FleetFold, type FleetMoves } from "@/lib/store/fleet";
import type { Store } from "@/lib/store/store";
import { fleetDeltasOf } from "../operations/fleet-moves";
import type { Machines } from "../charts/machines";

/** Entries in one portion: a fresh start on a long history takes many. */
const entriesMax = 5_000;
/** Counting costs a read of the log: often enough that what is not counted yet is read quickly. */
const everyMs = 2_000;

export class FleetCounter {
  private nextAt = 0;

  constructor(
    private readonly store: Store,
    private readonly machines: Machines,
  ) {}

  /** A loop's round; true when there may be more. */
  async round(): Promise<boolean> {
    if (performance.now() < this.nextAt) return false;
    const more = await countFleet(this.store, this.machines);
    if (!more) this.nextAt = performance.now() + everyMs;
    return more;
  }
}

/** True when its portion was full. What is written meanwhile waits for the next round: under load there is always some. */
export async function countFleet(store: Store, machines: Machines): Promise<boolean> {
  const fold = await store.fleetFold();
  const { tx, more, ...moves } = await store.uncounted(fold, entriesMax);
  // An idle installation writes nothing.
  if (tx <= fold.tx || moves.together.length + moves.lone.length === 0) return false;
  const written = await write(store, fold, tx, await fleetDeltasOf(store, machines, moves), moves);
  return written && more;
}

/** False: another has counted meanwhile. */
function write(
  store: Store,
  fold: FleetFold,
  tx: number,
  deltas: readonly FleetDelta[],
  moves: FleetMoves,
): Promise<boolean> {
  return store.transaction(async (transaction) => {
    const held = await transaction.holdFleet();
    if (held.tx !== fold.tx) return false;
    await transaction.addFleet(deltas);
    await transaction.writeFold({ tx, at: await transaction.now() }, minutesOf(moves));
    return true;
  });
}

function minutesOf({ together, lone }: FleetMoves): { minute: number; fromTx: number; toTx: number }[] {
  const found = new Map<number, { minute: number; fromTx: number; toTx: number }>();
  const add = (minute: number, fromTx: number, toTx: number) => {
    const known = found.get(minute) ?? { minute, fromTx, toTx };
    found.set(minute, {
      minute,
      fromTx: Math.min(known.fromTx, fromTx),
      toTx: Math.max(known.toTx, toTx),
    });
  };
  for (const { minute, fromTx, toTx } of together) add(minute, fromTx, toTx);
  for (const { at, tx } of lone) add(minuteOf(at), tx, tx);
  return [...found.values()];
}
