/**
 * Lockstep within your own process: the same runtime on SQLite, in memory or in a file, with time in your hands. For tests
 * of charts with all that is around them, and for programs that want durable statecharts without a server.
 *
 * Holds: nothing happens but by your calls: a send is stepped in its call, everything else by step() and advance(); time
 *        stands still between them. advance() stops at each moment at which something is due, in order, so that one hour
 *        advanced is what an hour would have been.
 * Does not: listen, know HTTP or read the environment.
 */
import { localActor } from "./access/actor";
import { assert } from "./base/assert";
import type { Json, JsonObject } from "./base/json";
import type { Invocation, InvocationContext } from "./runtime/tasks/invocation";
import { createRuntime, type Runtime } from "./runtime/runtime";
import { openSqlStore } from "./store/sql/open-sql-store";

type Verb = Exclude<keyof Runtime, "changesSince" | "subscribe" | "startWorkers" | "workOnce" | "close">;
/** Every verb of the runtime, as you: `lockstep.sendEvent({instanceId, type, data})`. */
type Verbs = { [Name in Verb]: (args: Parameters<Runtime[Name]>[1]) => ReturnType<Runtime[Name]> };

/** Its return value is the invocation's output; what it throws fails the attempt, tried again as the chart says. */
export type EmbeddedTask = (input: Json, context: InvocationContext) => Json | Promise<Json>;

export interface EmbeddedOptions {
  /** A database file, made when it isn't there; default: memory. */
  file?: string;
  /** The time at the beginning, ms since the epoch; default: now. A file's time goes on from where it was. */
  startAt?: number;
  /** What carries out tasks of a type, http among them. Tasks of other types wait to be claimed. */
  tasks?: Record<string, EmbeddedTask>;
}

export interface Embedded extends Verbs {
  /** Makes and publishes a chart. */
  publish(chartId: string, chart: JsonObject): Promise<void>;
  /** The time, ms since the epoch. */
  now(): Promise<number>;
  /** Does once what is to be done now: waiting messages, due timers, tasks. False when there was nothing. */
  step(): Promise<boolean>;
  /** Steps until there is nothing to do at this moment. */
  settle(): Promise<void>;
  /** Lets that much time pass, and whatever is due on the way happen when it is due. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** More is a chart that sends itself round for ever. */
const stepsMax = 100_000;

export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  let timeMs = options.startAt ?? Date.now();
  const url = `file:${options.file ?? ":memory:"}`;
  const store = await openSqlStore({ url, connections: 1, clock: () => timeMs });
  timeMs = await store.now();
  const failures: Error[] = [];
  const runtime = createRuntime({
    store,
    report: (error) => failures.push(error instanceof Error ? error : new Error(String(error))),
    invocations: {
      byType: Object.fromEntries(
        Object.entries(options.tasks ?? {}).map(([type, task]) => [type, invocationOf(task)]),
      ),
      note: () => null,
      breakers: () => [],
      resetBreaker: () => undefined,
    },
  });

  async function step(): Promise<boolean> {
    const wasBusy = await runtime.workOnce();
    const [failure] = failures.splice(0);
    if (failure) throw failure;
    return wasBusy;
  }
  async function settle(): Promise<void> {
    for (let steps = 0; await step(); steps += 1) {
      assert(steps < stepsMax, `no rest after ${stepsMax} steps`);
    }
  }
  return {
    ...asLocal(runtime),
    async publish(chartId, chart) {
      const { revision } = await runtime.createChart(localActor, {
        id: chartId,
        text: JSON.stringify(chart),
      });
      await runtime.publishVersion(localActor, { chartId, revision });
    },
    now: () => store.now(),
    step,
    settle,
    async advance(ms) {
      assert(ms >= 0, "time goes forward");
      const until = timeMs + ms;
      await settle();
      for (let stops = 0; ; stops += 1) {
        assert(stops < stepsMax, `more than ${stepsMax} things are due on the way`);
        const due = await store.nextDue(timeMs);
        if (due === null || due > until) break;
        timeMs = due;
        await settle();
      }
      timeMs = until;
      await settle();
    },
    close: () => runtime.close(),
  };
}

/** The verbs, asked by whoever is at this machine. */
function asLocal(runtime: Runtime): Verbs {
  const rest = new Set(["changesSince", "subscribe", "startWorkers", "workOnce", "close"]);
  const verbs = Object.entries(runtime).filter(([name]) => !rest.has(name));
  return Object.fromEntries(
    verbs.map(([name, verb]) => [
      name,
      (args: never) => (verb as (actor: unknown, args: never) => unknown)(localActor, args),
    ]),
  ) as Verbs;
}

function invocationOf(task: EmbeddedTask): Invocation {
  return async (input, context) => {
    try {
      return { output: await task(input, context) };
    } catch (error) {
      const { code, retry } = (error ?? {}) as { code?: unknown; retry?: unknown };
      const message = error instanceof Error ? error.message : String(error);
      return {
        error: { code: typeof code === "string" ? code : "error", message },
        retry: retry !== false,
      };
    }
  };
}
