/** Steps instances that have messages waiting or timers due; any process may, SKIP LOCKED keeps them apart. */
import type { Store } from "@/lib/store/store";
import { batchMax } from "../limits";
import { withMachines, type Machines } from "../machines";
import { stepBatch, type BatchResult } from "../step-batch";

/** One batch. True when there may be more. */
export async function stepWaiting(
  store: Store,
  machines: Machines,
  afterBatch: (result: BatchResult) => Promise<void>,
): Promise<boolean> {
  const ids = await store.findRunnable(await store.now(), batchMax);
  if (ids.length === 0) return false;
  const result = await withMachines(machines, () =>
    store.transaction((tx) => stepBatch(machines, tx, [], ids)),
  );
  await afterBatch(result);
  // Nothing stepped: others have them, or they can't be stepped here; looking again at once would only spin.
  return result.stepped > 0;
}
