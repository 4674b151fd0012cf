/**
 * Plugs the real parts together, once per process: store, runtime, seeds, workers.
 *
 * Holds: instrumentation and route handlers are separate module instances, so the one runtime lives on globalThis.
 *        Closing the process closes it: waiting calls end, the step under way is finished, the database is let go.
 */
import { systemActor } from "./access/actor";
import { LockstepError } from "./base/errors";
import { onShutdown } from "./base/shutdown";
import { readConfig } from "./config";
import { createInvocations } from "./invocations/invocations";
import { logError, logInfo } from "./observe/log";
import { createRuntime, type Runtime } from "./runtime/runtime";
import { exampleCharts, exampleInstances, exampleLocks } from "./seeds/examples";
import { openSqlStore } from "./store/sql/open-sql-store";

const slot = globalThis as typeof globalThis & { __lockstepRuntime?: Promise<Runtime> };

export interface WorkerOptions {
  /** Those whose instances this process steps by itself; default: all. */
  partitions?: { from: number; to: number };
  /** Over the environment's. */
  slots?: number;
  highRatio?: number;
  priorityThreshold?: number;
}

/** The process's runtime: opened, migrated, seeded on first start, workers running. A failed start is tried anew. */
export function getRuntime(options: WorkerOptions = {}): Promise<Runtime> {
  slot.__lockstepRuntime ??= openRuntime(options).catch((error: unknown) => {
    delete slot.__lockstepRuntime;
    throw error;
  });
  return slot.__lockstepRuntime;
}

/** As getRuntime, for a server's start: without its database it does not stay up half alive, but says why and ends. */
export async function getRuntimeOrExit(options: WorkerOptions = {}): Promise<void> {
  await getRuntime(options).catch((error: unknown) => {
    process.stderr.write(
      `Lockstep did not start. ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  });
}

async function openRuntime({ partitions, slots, ...fairness }: WorkerOptions): Promise<Runtime> {
  const config = readConfig();
  const store = await openSqlStore({
    url: config.databaseUrl,
    connections: config.databaseConnections,
    hints: config.hints,
  });
  const runtime = createRuntime({
    store,
    report: (error) => logError("in the background", error),
    invocations: createInvocations({ allowedHosts: config.httpAllowedHosts, secrets: config.secrets }),
    archiveFolder: config.archiveFolder,
    ...(partitions ? { partitions } : {}),
    slots: slots ?? config.slots,
    fairness: { ...config.fairness, ...fairness },
  });
  onShutdown(() => runtime.close());
  if (config.seeds) await plantExamples(runtime);
  runtime.startWorkers();
  return runtime;
}

/**
 * Gives a new database its examples, through the runtime's own verbs. A start that was cut off here goes on at the next
 * one: the last chart is made last, and the rest is repeated under the same idempotency keys.
 */
export async function plantExamples(runtime: Runtime): Promise<void> {
  const charts = new Map((await runtime.listCharts(systemActor, {})).items.map((chart) => [chart.id, chart]));
  const last = exampleCharts.at(-1);
  const foreign = [...charts.keys()].some((id) => !exampleCharts.some((example) => example.id === id));
  if (foreign || (last && charts.get(last.id)?.version)) return;
  for (const { id, chart, layout, note } of exampleCharts) {
    if (!charts.has(id)) {
      await runtime.createChart(systemActor, { id, text: JSON.stringify(chart, null, 2), layout });
    }
    if (!charts.get(id)?.version) {
      await runtime.publishVersion(systemActor, { chartId: id, revision: 1, note });
    }
    for (const instance of exampleInstances.filter((each) => each.chartId === id)) {
      await plantInstance(runtime, instance);
    }
  }
  for (const lock of exampleLocks) {
    const asked = runtime.acquireLock(systemActor, lock);
    // One that waits in line goes on waiting behind the start.
    if (lock.waitMs === undefined) await asked;
    else asked.catch((error: unknown) => refused(error));
  }
  logInfo("examples planted", { charts: exampleCharts.length, instances: exampleInstances.length });
}

async function plantInstance(
  runtime: Runtime,
  { id, events, ...start }: (typeof exampleInstances)[number],
): Promise<void> {
  await runtime.startInstance(systemActor, { id, ...start, idempotencyKey: `example:${id}` });
  for (const [index, event] of events.entries()) {
    await runtime.sendEvent(systemActor, { instanceId: id, ...event, idempotencyKey: `example:${index}` });
  }
}

/** The example's waiter ends with the server, or when its hour is over. */
function refused(error: unknown): void {
  if (error instanceof LockstepError && error.code === "shutting-down") return;
  logError("the example's waiter", error);
}
