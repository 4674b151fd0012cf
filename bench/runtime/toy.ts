/**
 * The workload that all sides carry: an instance goes Idle → Working → Done by two events, one call an event.
 */
import { systemActor } from "@/lib/access/actor";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";

const toyChart = {
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

/** The runtime as a server opens it, workers running, on a database; closed when `work` is done. */
export async function withRuntime<T>(url: string, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const store = await openSqlStore({ url, connections: 10 });
  const runtime = createRuntime({ store, report: (error) => console.error(error) });
  runtime.startWorkers();
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** Runs `work` on every item with at most `callers` at once; ms it took. */
export async function timed<Item>(
  items: readonly Item[],
  callers: number,
  work: (item: Item) => Promise<unknown>,
): Promise<number> {
  const began = performance.now();
  let next = 0;
  const call = async () => {
    while (next < items.length) await work(items[next++] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(callers, items.length) }, call));
  return performance.now() - began;
}

/** Publishes the toy unless it is there. */
export async function publishToy(runtime: Runtime): Promise<void> {
  const charts = await runtime.listCharts(systemActor, {});
  if (charts.items.some(({ id }) => id === "toy")) return;
  await runtime.createChart(systemActor, { id: "toy", text: JSON.stringify(toyChart) });
  await runtime.publishVersion(systemActor, { chartId: "toy", revision: 1 });
}

/** Starts `count` toys; their ids. */
export async function startToys(runtime: Runtime, count: number): Promise<string[]> {
  await publishToy(runtime);
  const ids: string[] = [];
  await timed(Array.from({ length: count }), 64, async () => {
    ids.push((await runtime.startInstance(systemActor, { chartId: "toy" })).id);
  });
  return ids;
}

/** Every instance must have ended in Done, and its replayed state be the stored one: a figure for wrong work is none. */
export async function mustBeDone(runtime: Runtime, ids: readonly string[]): Promise<void> {
  await timed(ids, 16, async (instanceId) => {
    const now = await runtime.getInstance(systemActor, { instanceId });
    const replayed = await runtime.getState(systemActor, { instanceId, seq: now.seq });
    if (!replayed.hashMatches) throw new Error(`${instanceId} is replayed to another state`);
    for (const { status, configuration } of [now, replayed]) {
      if (status !== "completed" || configuration[0] !== "Done")
        throw new Error(`${instanceId} is ${status}`);
    }
  });
}

/** Events per second: `count` new instances, all first events, then all second ones; checked by replay. */
export async function toyEventsPerSecond(runtime: Runtime, count: number, callers: number): Promise<number> {
  const ids = await startToys(runtime, count);
  let ms = 0;
  for (const type of toyEvents) {
    ms += await timed(ids, callers, (instanceId) => runtime.sendEvent(systemActor, { instanceId, type }));
  }
  await mustBeDone(runtime, ids);
  return (2 * count * 1000) / ms;
}

/** The same by one call for both events of an instance, which apply together or not at all. */
export async function togetherEventsPerSecond(
  runtime: Runtime,
  count: number,
  callers: number,
): Promise<number> {
  const ids = await startToys(runtime, count);
  const events = toyEvents.map((type) => ({ type }));
  const ms = await timed(ids, callers, (instanceId) =>
    runtime.sendEvents(systemActor, { instanceId, events }),
  );
  await mustBeDone(runtime, ids);
  return (2 * count * 1000) / ms;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** `part` 0.5 is the median, 0.99 the 99th of a hundred. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
