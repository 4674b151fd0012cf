/** Steps instances that have messages waiting or timers due; any process may, SKIP LOCKED keeps them apart. */
import type { Store } from "@/lib/store/store";
import { batchMax } from "../limits";
import { withMachines, type Machines } from "../machines";
import { stepBatch, type BatchResult } from "../step-batch";
import { chooseRunnable } from "./choose-runnable";

/** Where the walk over all that wait goes on; one for each worker. */
export interface Walk {
  after: string;
}

/** One batch. True when there may be more. */
export async function stepWaiting(
  store: Store,
  machines: Machines,
  walk: Walk,
  afterBatch: (result: BatchResult) => Promise<void>,
): Promise<boolean> {
  const now = await store.now();
  const { found, next } = await store.findRunnable(now, walk.after);
  walk.after = next;
  const ids = chooseRunnable(found, now, batchMax, Math.random());
  if (ids.length === 0) return next !== "";
  const result = await withMachines(machines, () =>
    store.transaction((tx) => stepBatch(machines, tx, [], ids)),
  );
  await afterBatch(result);
  // Nothing stepped: others have them, or they can't be stepped here; looking again at once would only spin.
  return result.stepped > 0 || next !== "";
}
