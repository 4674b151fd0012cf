/** Steps instances that have messages waiting or timers due; any process may, SKIP LOCKED keeps them apart. */
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
  const { store, machines } = context;
  const now = await store.now();
  const { found, next } = await store.findRunnable(now, walk.after, walk.partitions);
  walk.after = next;
  const ids = chooseRunnable(found, now, batchesPerLook * batchMax, Math.random(), context.fairness);
  let stepped = 0;
  const defects: unknown[] = [];
  const stepPlainly = async (batch: string[]): Promise<void> => {
    try {
      const result = await withMachines(machines, () =>
        store.transaction((tx) => stepBatch(machines, tx, [], batch)),
      );
      await afterBatch(result);
      stepped += result.stepped;
    } catch (error) {
      if (isPassing(error)) throw error;
      // A defect at one of them must not keep the others from their turn.
      if (batch.length === 1) defects.push(error);
      else for (const id of batch) await stepPlainly([id]);
    }
  };
  const stepCarefully = (batch: string[]) =>
    caution.around(batch, async (others, suspects) => {
      if (others.length > 0) await stepPlainly(others);
      for (const suspect of suspects) {
        const result = await stepSuspect(context, caution, suspect);
        if (result) await afterBatch(result);
        stepped += result?.stepped ?? 0;
      }
    });
  const step = (batch: string[]) => (caution.isCareful ? stepCarefully(batch) : stepPlainly(batch));
  // Two at a time where the database can: one is computed while the other is written.
  const lanes = store.database === "sqlite" ? 1 : 2;
  for (let at = 0; at < ids.length; at += lanes * batchMax) {
    const batches = Array.from({ length: lanes }, (_, lane) =>
      ids.slice(at + lane * batchMax, at + (lane + 1) * batchMax),
    );
    await Promise.all(batches.filter((batch) => batch.length > 0).map(step));
  }
  if (defects.length > 0) throw defects[0];
  // Nothing stepped: others have them, or they can't be stepped here; looking again at once would only spin.
  return stepped > 0 || next !== "";
}
