/**
 * Counts for the fleet until nothing is left to count. PostgreSQL shows a commit when every transaction of the server that
 * began before it is over, those of other tests too.
 */
import { countFleet } from "@/lib/runtime/workers/count-fleet";
import type { Machines } from "@/lib/runtime/charts/machines";
import type { Store } from "@/lib/store/store";

export async function countAll(store: Store, machines: Machines): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    while (await countFleet(store, machines));
    const { together, lone } = await store.movesSince(
      await store.fleetFold(),
      -1,
      Number.MAX_SAFE_INTEGER,
      undefined,
    );
    if (together.length + lone.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("what is committed is not shown within 10 s");
}
