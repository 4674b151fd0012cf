/**
 * Steps instances that have messages waiting or timers due; any process may, SKIP LOCKED keeps them apart.
 *
 * Holds: workers that found the same instances divide them: each batch claims, of all that were found, the first that still
 *        wait and that nobody else has.
 */
import type { Partitions } from "@/lib/store/instances";
import { isPassing } from "@/lib/base/errors";
import { batchMax } from "../limits";
import { withMachines } from "../charts/machines";
import type { Caution } from "../operations/caution";
import type { RuntimeContext } from "../runtime-context";
import { stepBatch, type BatchResult } from "../stepping/step-batch";
import { chooseRunnable } from "./choose-runnable";
import { stepSuspect } from "./step-suspect";

/** Where the walk over all that wait goes on; one for each worker. */
export interface Walk {
  after: string;
  /** Default: all. */
  partitions?: Partitions | undefined;
}

/** So many batches are taken from one look: looking costs as much as a small batch. */
const batchesPerLook = 4;

/** True when there may be more. */
export async function stepWaiting(
  context: RuntimeContext,
  walk: Walk,
  caution: Caution,
  afterBatch: (result: BatchResult) => Promise<void>,
): Promise<boolean> {
  const { store } = context;
  const now = await store.now();
  const { found, next } = await store.findRunnable(now, walk.after, walk.partitions);
  walk.after = next;
  const ids = chooseRunnable(found, now, Math.random(), context.fairness);
  let stepped = 0;
  const note = async (result: BatchResult): Promise<void> => {
    await afterBatch(result);
    stepped += result.stepped;
  };
  const defects: unknown[] = [];
  if (caution.isCareful) {
    for (let at = 0; at < Math.min(ids.length, batchesPerLook * batchMax); at += batchMax)
      await stepCarefully(context, caution, ids.slice(at, at + batchMax), note, defects);
  } else await stepClaims(context, caution, ids, now, note, defects);
  if (defects.length > 0) throw defects[0];
  // Nothing stepped: others have them, or they can't be stepped here; looking again at once would only spin.
  return stepped > 0 || next !== "";
}

type Note = (result: BatchResult) => Promise<void>;

async function stepClaims(
  context: RuntimeContext,
  caution: Caution,
  ids: readonly string[],
  now: number,
  note: Note,
  defects: unknown[],
): Promise<void> {
  const { store, machines } = context;
  const left = new Set(ids);
  /** False when there is nobody left who waits and whom nobody else has. */
  const stepNext = async (): Promise<boolean> => {
    let claimed: string[] = [];
    try {
      const result = await withMachines(machines, () =>
        store.transaction(async (tx) => {
          claimed = await tx.claimInstances([...left], now, batchMax);
          return claimed.length === 0 ? null : stepBatch(machines, tx, [], claimed);
        }),
      );
      if (!result) return false;
      await note(result);
      for (const { row } of result.written) left.delete(row.id);
    } catch (error) {
      if (isPassing(error) || claimed.length === 0) throw error;
      await stepEach(context, claimed, note, defects);
      for (const id of claimed) left.delete(id);
    }
    return true;
  };
  let batches = 0;
  const lane = async () => {
    while (left.size > 0 && batches++ < batchesPerLook && !caution.isCareful) if (!(await stepNext())) return;
  };
  // Two at a time where the database can: one is computed while the other is written.
  const lanes = await Promise.allSettled(
    Array.from({ length: store.database === "sqlite" ? 1 : 2 }, () =>
      lane().catch((error: unknown) => {
        batches = batchesPerLook;
        throw error;
      }),
    ),
  );
  for (const end of lanes) if (end.status === "rejected") throw end.reason;
}

/** One batch, noted before. */
function stepCarefully(
  context: RuntimeContext,
  caution: Caution,
  batch: readonly string[],
  note: Note,
  defects: unknown[],
): Promise<void> {
  return caution.around(batch, async (others, suspects) => {
    if (others.length > 0) await stepThese(context, others, note, defects);
    for (const suspect of suspects) {
      const result = await stepSuspect(context, caution, suspect);
      if (result) await note(result);
    }
  });
}

async function stepThese(
  context: RuntimeContext,
  batch: readonly string[],
  note: Note,
  defects: unknown[],
): Promise<void> {
  const { store, machines } = context;
  try {
    await note(
      await withMachines(machines, () => store.transaction((tx) => stepBatch(machines, tx, [], batch))),
    );
  } catch (error) {
    if (isPassing(error)) throw error;
    if (batch.length === 1) defects.push(error);
    else await stepEach(context, batch, note, defects);
  }
}

/** A defect at one of them must not keep the others from their turn. */
async function stepEach(
  context: RuntimeContext,
  batch: readonly string[],
  note: Note,
  defects: unknown[],
): Promise<void> {
  for (const id of batch) await stepThese(context, [id], note, defects);
}
