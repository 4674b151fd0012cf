/**
 * Lockstep within your own process: the same runtime on SQLite, in memory or in a file, with time in your hands. For tests
 * of charts with all that is around them, and for programs that want durable statecharts without a server.
 *
 * Holds: nothing happens but by your calls: a send is stepped in its call, everything else by step() and advance(); time
 *        stands still between them. advance() stops at each moment at which something is due, in order, so that one hour
 *        advanced is what an hour would have been. What goes after its time (retention) goes at those stops and at the end.
 *        Arguments are held to the API's schemas; a copy of them is taken, as JSON.
 * Does not: listen, know HTTP or read the environment; it is no worker among others (no beats, no drain).
 */
import { localActor } from "./access/actor";
import { assert } from "./base/assert";
import { sha256Hex } from "./base/canonical";
import { LockstepError } from "./base/errors";
import type { Json, JsonObject } from "./base/json";
import { toldCode, toldMessage } from "./base/told-error";
import { checkArgs } from "./contract/check-args";
import { endpoints, idempotencyKey, type Endpoint } from "./contract/endpoints";
import { requirePublishable } from "./runtime/charts/publish-version";
import { requireJson } from "./runtime/require-payload";
import { createRuntime, type Runtime } from "./runtime/runtime";
import type { Invocation, InvocationContext } from "./runtime/tasks/invocation";
import { openSqlStore } from "./store/sql/open-sql-store";

type Verb = Exclude<
  keyof Runtime,
  "changesSince" | "subscribe" | "startWorkers" | "workOnce" | "tidyOnce" | "close"
>;
/** Every verb of the runtime, as you: `lockstep.sendEvent({instanceId, type, data})`. */
type Verbs = { [Name in Verb]: (args: Parameters<Runtime[Name]>[1]) => ReturnType<Runtime[Name]> };

/**
 * Its return value is the invocation's output; what it throws fails the attempt, tried again as the chart says. A value that
 * is no JSON fails the task for good.
 */
export type EmbeddedTask = (input: Json, context: InvocationContext) => Json | Promise<Json>;

export interface EmbeddedOptions {
  /** A database file, made when it isn't there; default: memory. */
  file?: string;
  /** The time at the beginning, whole ms since the epoch; default: now. A file's time goes on from where it was. */
  startAt?: number;
  /** What carries out tasks of a type, http among them. Tasks of other types wait to be claimed. */
  tasks?: Record<string, EmbeddedTask>;
}

export interface Embedded extends Verbs {
  /**
   * Publishes a chart: its first version, or the next one when it differs from the newest. Throws `chart-invalid` with
   * {diagnostics}: then nothing was changed.
   */
  publish(chartId: string, chart: JsonObject): Promise<void>;
  /** The time, ms since the epoch. */
  now(): Promise<number>;
  /** Does once what is to be done now: waiting messages, due timers, tasks. False when there was nothing. */
  step(): Promise<boolean>;
  /** Steps until there is nothing to do at this moment. */
  settle(): Promise<void>;
  /** Lets that much time (whole ms) pass, and whatever is due on the way happen when it is due. */
  advance(ms: number): Promise<void>;
  /** Calls made from now on are refused as `shutting-down`. */
  close(): Promise<void>;
}

/** More is a chart that sends itself round for ever. */
const stepsMax = 100_000;

/** JavaScript's dates end here. */
const timeMaxMs = 8_640_000_000_000_000;
/** As often as a server's loops look for what is to be forgotten. */
const tidyEveryMs = 1_000;

export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  let timeMs = options.startAt ?? Date.now();
  requireMs(timeMs, "startAt", timeMaxMs);
  if (options.file !== undefined && (typeof options.file !== "string" || options.file === ""))
    throw wrong("file", "must be a path, or be left out for a database in memory");
  const url = `file:${options.file ?? ":memory:"}`;
  const store = await openSqlStore({ url, connections: 1, clock: () => timeMs });
  timeMs = await store.now();
  let tidiedAt = timeMs;
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
  let closed = false;

  /** What is under way when it is closed fails somewhere: the reason is that. */
  async function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw wasClosed();
    try {
      return await work();
    } catch (error) {
      throw closed ? wasClosed() : error;
    }
  }
  async function step(): Promise<boolean> {
    if (closed) throw wasClosed();
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
  async function arriveAt(moment: number): Promise<void> {
    timeMs = Math.max(timeMs, moment);
    if (timeMs - tidiedAt >= tidyEveryMs) {
      tidiedAt = timeMs;
      await runtime.tidyOnce();
    }
    await settle();
  }
  const verbs = asLocal(runtime, whileOpen);
  /** One after another: each builds on what it reads of the chart. */
  let published: Promise<void> = Promise.resolve();
  return {
    ...verbs,
    publish: (chartId, chart) =>
      whileOpen(() => {
        const checked = publishable(chartId, chart);
        const mine = published.then(() => publish(verbs, chartId, checked));
        published = mine.catch(() => undefined);
        return mine;
      }),
    now: () => whileOpen(() => store.now()),
    step: () => whileOpen(step),
    settle: () => whileOpen(settle),
    advance: (ms) =>
      whileOpen(async () => {
        requireMs(ms, "ms", timeMaxMs - timeMs);
        const until = timeMs + ms;
        await settle();
        for (let stops = 0; ; stops += 1) {
          assert(stops < stepsMax, `more than ${stepsMax} things are due on the way`);
          const due = await store.nextDue(timeMs);
          if (due === null || due > until) break;
          await arriveAt(due);
        }
        await arriveAt(until);
      }),
    close() {
      closed = true;
      return runtime.close();
    },
  };
}

/** The chart as it is now, checked before anything is made: a refused one takes no id. */
function publishable(chartId: string, chart: JsonObject): { text: string; hash: string } {
  requireJson(chart, "chart");
  const text = JSON.stringify(chart) ?? "";
  checkArgs(endpoints.createChart.body, { id: chartId, text }, "");
  return { text, hash: sha256Hex(requirePublishable(chartId, text, false)) };
}

async function publish(
  verbs: Verbs,
  chartId: string,
  { text, hash }: ReturnType<typeof publishable>,
): Promise<void> {
  const before = await verbs.getChart({ chartId }).catch((error: unknown) => {
    if (error instanceof LockstepError && error.code === "not-found") return null;
    throw error;
  });
  if (!before) {
    const { revision } = await verbs.createChart({ id: chartId, text });
    await verbs.publishVersion({ chartId, revision });
    return;
  }
  if (before.versions.some((each) => each.version === before.version && each.hash === hash)) return;
  const { layout, revision: baseRevision } = before.draft;
  const { revision } = await verbs.saveDraft({ chartId, baseRevision, text, layout });
  await verbs.publishVersion({ chartId, revision });
}

/** The verbs, asked by whoever is at this machine. */
function asLocal(runtime: Runtime, whileOpen: <T>(work: () => Promise<T>) => Promise<T>): Verbs {
  const verbs = Object.entries(runtime).filter(([name]) => Object.hasOwn(endpoints, name));
  return Object.fromEntries(
    verbs.map(([name, verb]) => [
      name,
      (args: unknown) =>
        whileOpen(() => {
          const call = verb as (actor: unknown, args: unknown) => Promise<unknown>;
          return call(localActor, readArgs(endpoints[name as keyof typeof endpoints], args));
        }),
    ]),
  ) as Verbs;
}

/** Throws `bad-request` naming the argument. */
function readArgs(endpoint: Endpoint, args: unknown = {}): Record<string, unknown> {
  if (typeof args !== "object" || args === null) throw wrong("arguments", "must be one object");
  const { signal, ...rest } = args as Record<string, unknown>;
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) requireJson(value, name);
  const body = new Map(Object.entries(JSON.parse(JSON.stringify(rest)) as Record<string, unknown>));
  const take = (names: readonly string[]) => {
    const taken = names.filter((name) => body.has(name)).map((name) => [name, body.get(name)] as const);
    for (const name of names) body.delete(name);
    return Object.fromEntries(taken);
  };
  const key = endpoint.idempotent ? take(["idempotencyKey"])["idempotencyKey"] : undefined;
  const params = readTexts(endpoint.params, take(endpoint.path.match(/(?<=:)\w+/g) ?? []));
  const others = Object.fromEntries(body);
  return {
    ...(endpoint.body ? (checkArgs(endpoint.body, others, "") as object) : readTexts(endpoint.query, others)),
    ...params,
    ...(key === undefined ? {} : { idempotencyKey: checkArgs(idempotencyKey, key, "idempotencyKey") }),
    ...(signal instanceof AbortSignal ? { signal } : {}),
  };
}

/** A path and a query carry numbers as text; here they are what they mean. */
function readTexts(schema: Endpoint["query"], args: Record<string, unknown>): Record<string, unknown> {
  const texts = Object.entries(args).map(([name, value]) => [
    name,
    typeof value === "number" ? String(value) : value,
  ]);
  const read = checkArgs(schema, Object.fromEntries(texts), "") as Record<string, unknown>;
  for (const [name, value] of Object.entries(read))
    if (typeof value !== typeof args[name]) throw wrong(name, `must be a ${typeof value}`);
  return read;
}

function requireMs(ms: unknown, field: string, max: number): void {
  if (typeof ms === "number" && Number.isInteger(ms) && ms >= 0 && ms <= max) return;
  throw wrong(field, `must be a whole number of milliseconds from 0 to ${max}`);
}

const wrong = (field: string, problem: string): LockstepError =>
  new LockstepError("bad-request", `${field}: ${problem}.`, { details: { field } });

const wasClosed = (): LockstepError =>
  new LockstepError("shutting-down", "This Lockstep was closed. Open another one with openEmbedded().");

function invocationOf(task: EmbeddedTask): Invocation {
  return async (input, context) => {
    try {
      return { output: await task(input, context) };
    } catch (error) {
      const { code, retry } = (error ?? {}) as { code?: unknown; retry?: unknown };
      const message = error instanceof Error ? error.message : String(error);
      return {
        error: { code: toldCode(code), message: toldMessage(message) },
        retry: retry !== false,
      };
    }
  };
}
