/**
 * Finds the workers that ended without taking leave, and what they had been about to step: those instances are suspects.
 *
 * Holds: I9 each lost worker counts once, whoever finds it. A process of this machine that is no more is found at once, any
 *        other by its silence.
 */
import type { StoreTransaction } from "@/lib/store/store";
import type { SteppingItem, SuspectRow, WorkerRow } from "@/lib/store/workers";
import { carefulMs, workerForgottenMs, workerSilentMs } from "../limits";
import { isGone } from "../new-id";

/** True: a worker was lost lately. */
export async function mournWorkers(tx: StoreTransaction, now: number): Promise<boolean> {
  const forgottenBefore = now - workerForgottenMs;
  const workers = await tx.watchWorkers(forgottenBefore);
  if (workers.some(({ seenAt }) => seenAt < forgottenBefore)) await tx.removeSilentWorkers(forgottenBefore);
  const steppers = workers.filter(({ kind }) => kind === "runtime");
  const missing = steppers.filter((worker) => worker.lostAt === null && isMissing(worker, now));
  if (missing.length > 0) {
    const lost = await tx.loseWorkers(
      missing.map(({ id }) => id),
      now,
    );
    await suspect(tx, lost.flatMap(itemsOf), now);
  }
  return missing.length > 0 || steppers.some(({ lostAt }) => lostAt !== null && lostAt > now - carefulMs);
}

const isMissing = ({ id, seenAt }: WorkerRow, now: number): boolean =>
  seenAt <= now - workerSilentMs || isGone(id);

const itemsOf = ({ stepping }: WorkerRow): SteppingItem[] =>
  stepping === null ? [] : (JSON.parse(stepping) as SteppingItem[]);

async function suspect(tx: StoreTransaction, items: readonly SteppingItem[], at: number): Promise<void> {
  const ids = [...new Set(items.map(([instanceId]) => instanceId))].sort();
  if (ids.length === 0) return;
  const known = new Map((await tx.lockSuspects(ids)).map((row) => [row.instanceId, row]));
  for (const [instanceId, item] of items)
    known.set(instanceId, after(known.get(instanceId), instanceId, item, at));
  await tx.putSuspects([...known.values()]);
}

/** Lost among many, it counts once at most; alone, it is the item that counts. */
function after(before: SuspectRow | undefined, instanceId: string, item: string, at: number): SuspectRow {
  if (item === "") return before ?? { instanceId, item, deaths: 1, at };
  const counts = before && (before.item === item || before.item === "");
  return { instanceId, item, deaths: (counts ? before.deaths : 0) + 1, at };
}
