/**
 * Who waits for whom: idle instances beside one that is flooded, a single sender beside workers that saturate SQLite.
 */
import { systemActor } from "@/lib/access/actor";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { Store } from "@/lib/store/store";
import { fillMailboxes, withWorkers } from "./processes";
import { percentile, startToys } from "./toy";

const floodMessages = 10_000;
const idle = 1_000;

/** p99 of how long the first events of 1,000 idle instances wait, ms: alone, and behind 10,000 of one instance. */
export async function floodedWaits(url: string): Promise<{ alone: number; flooded: number }> {
  const store = await openSqlStore({ url, connections: 10 });
  const runtime = createRuntime({ store, report: (error) => console.error(error) });
  try {
    const [flood = ""] = await startToys(runtime, 1);
    const [first, second] = [await startToys(runtime, idle), await startToys(runtime, idle)];
    runtime.startWorkers();
    const alone = await waitsOf(store, runtime, first);
    await fillMailboxes(store, [flood], Array<string>(floodMessages).fill("none"));
    return { alone, flooded: await waitsOf(store, runtime, second) };
  } finally {
    await runtime.close();
  }
}

async function waitsOf(store: Store, runtime: Runtime, ids: readonly string[]): Promise<number> {
  const sentAt = await fillMailboxes(store, ids, ["start"]);
  const waits: number[] = [];
  for (const instanceId of ids) {
    let entry;
    do {
      [, entry] = (await runtime.getLog(systemActor, { instanceId })).items.toReversed();
      if (!entry) await new Promise((resolve) => setTimeout(resolve, 20));
    } while (!entry);
    waits.push(entry.at - sentAt);
  }
  return percentile(waits, 0.99);
}

/** p99 of one sender's calls, ms, while two worker processes empty full mailboxes in the same SQLite file. */
export async function besideWorkers(url: string): Promise<{ p50: number; p99: number; calls: number }> {
  const store = await openSqlStore({ url, connections: 1 });
  const runtime = createRuntime({ store, report: (error) => console.error(error) });
  try {
    const busy = await startToys(runtime, 5_000);
    const mine = await startToys(runtime, 2_000);
    const took: number[] = [];
    await withWorkers(url, 2, async () => {
      await fillMailboxes(store, busy, ["none", "none", "none", "start", "finish"]);
      for (const instanceId of mine) {
        const began = performance.now();
        await runtime.sendEvent(systemActor, { instanceId, type: "start" });
        took.push(performance.now() - began);
        const { found } =
          took.length % 50 === 0 ? await store.findRunnable(await store.now(), "") : { found: [1] };
        if (found.length === 0) break;
      }
    });
    return { p50: percentile(took, 0.5), p99: percentile(took, 0.99), calls: took.length };
  } finally {
    await runtime.close();
  }
}
