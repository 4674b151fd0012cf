/**
 * The workload that all sides carry: an instance goes Idle → Working → Done by two events, one call an event.
 */
import type { Runtime } from "@/lib/runtime/runtime";
import { systemActor } from "@/lib/access/actor";

export const toyChart = {
  lockstep: 1,
  id: "toy",
  initial: "Idle",
  states: {
    Idle: { on: { start: "Working" } },
    Working: { on: { finish: "Done" } },
    Done: { type: "final" },
  },
};
export const toyEvents = ["start", "finish"] as const;

/** Runs `work` on every item with at most `callers` at once; ms it took. */
export async function timed<Item>(
  items: readonly Item[],
  callers: number,
  work: (item: Item) => Promise<unknown>,
): Promise<number> {
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(callers, items.length) }, async () => {
      while (next < items.length) await work(items[next++] as Item);
    }),
  );
  return performance.now() - began;
}

/** Publishes the toy unless it is there, and starts `count` instances; their ids. */
export async function startToys(runtime: Runtime, count: number, callers = 64): Promise<string[]> {
  const charts = await runtime.listCharts(systemActor, {});
  if (!charts.items.some(({ id }) => id === "toy")) {
    await runtime.createChart(systemActor, { id: "toy", text: JSON.stringify(toyChart) });
    await runtime.publishVersion(systemActor, { chartId: "toy", revision: 1 });
  }
  const ids: string[] = [];
  await timed(Array.from({ length: count }), callers, async () => {
    ids.push((await runtime.startInstance(systemActor, { chartId: "toy" })).id);
  });
  return ids;
}

/** Every instance must have ended in Done, and its replayed state be the stored one: a figure for wrong work is none. */
export async function mustBeDone(runtime: Runtime, ids: readonly string[]): Promise<void> {
  await timed(ids, 16, async (instanceId) => {
    const now = await runtime.getInstance(systemActor, { instanceId });
    if (now.status !== "completed" || now.configuration[0] !== "Done")
      throw new Error(`${instanceId}: ${now.status}`);
    const replayed = await runtime.getState(systemActor, { instanceId, seq: now.seq });
    if (replayed.configuration[0] !== "Done") throw new Error(`${instanceId}: the replay ended elsewhere`);
  });
}

/** Events per second of the toy: `count` instances, their first events, then their second ones. */
export async function toyEventsPerSecond(runtime: Runtime, count: number, callers: number): Promise<number> {
  const ids = await startToys(runtime, count);
  let ms = 0;
  for (const type of toyEvents) {
    ms += await timed(ids, callers, (instanceId) => runtime.sendEvent(systemActor, { instanceId, type }));
  }
  await mustBeDone(runtime, ids);
  return (2 * count * 1000) / ms;
}
