/**
 * The task-worker SDK against a real server on a real store, over HTTP.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { must } from "@/lib/base/assert";
import type { Json, JsonObject } from "@/lib/base/json";
import { advance } from "@/lib/testing/database";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { LeaseLost, TaskCancelled, TaskFailure, WorkerEnding, type TaskFunction } from "./task-function";
import { runTaskWorker, type TaskWorker, type TaskWorkerOptions, type WorkerEvent } from "./task-worker";

const chart: JsonObject = {
  lockstep: 1,
  tasks: { charge: {} },
  context: { answer: null },
  initial: "paying",
  states: {
    paying: {
      invoke: { id: "pay", src: "charge", input: { n: "input.n" }, retry: { attempts: 2, delay: "100ms" } },
      on: {
        "done.invoke.pay": { target: "paid", actions: { assign: { answer: "event.data" } } },
        "error.invoke.pay": { target: "unpaid", actions: { assign: { answer: "event.data.code" } } },
        leave: "aside",
      },
    },
    paid: {},
    unpaid: {},
    aside: {},
  },
};

let at: TestRuntime;
let server: TestServer;
let workers: TaskWorker[];
let events: WorkerEvent[];
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  at.runtime.startWorkers();
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  await publish(at.runtime, "order", chart);
  workers = [];
  events = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop().catch(() => undefined)));
  await server.close();
  await at.end();
  expect(at.reported).toEqual([]);
});

const work = (charge: TaskFunction, over: Partial<TaskWorkerOptions> = {}): TaskWorker => {
  const worker = runTaskWorker({
    baseUrl: server.baseUrl,
    tasks: { charge },
    signals: false,
    report: (event) => events.push(event),
    ...over,
  });
  workers.push(worker);
  return worker;
};
const start = (id: string) => at.runtime.startInstance(local, { chartId: "order", id, input: { n: 7 } });
const instance = (id: string) => at.runtime.getInstance(local, { instanceId: id });
const becomes = (id: string, state: string) =>
  vi.waitFor(async () => expect((await instance(id)).configuration).toEqual([state]), 8_000);
const task = async (id: string) =>
  must((await at.runtime.listTasks(local, { instanceId: id })).items[0], "the newest task");
const whenAborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) =>
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true }),
  );
const kinds = () => events.map((event) => event.kind);

test("a function is run for each task of its type, and what it returns moves the chart", async () => {
  const seen: Json[] = [];
  work((input, { idempotencyKey, fence, attempt, progress }) => {
    seen.push({ input, idempotencyKey, fence, attempt, progress });
    return { receipt: idempotencyKey };
  });
  await start("a");
  await becomes("a", "paid");
  expect(seen).toEqual([
    { input: { n: 7 }, idempotencyKey: "a:1:pay", fence: 1, attempt: 1, progress: null },
  ]);
  expect(await instance("a")).toMatchObject({ context: { answer: { receipt: "a:1:pay" } } });
  await start("b");
  await becomes("b", "paid");
  await vi.waitFor(() => expect(kinds()).toEqual(["claimed", "succeeded", "claimed", "succeeded"]));
});

test("what it throws fails the attempt; the next one finds the progress of the last", async () => {
  work(async (_input, { attempt, progress, heartbeat }) => {
    if (attempt === 2) throw new TaskFailure("declined", `after page ${JSON.stringify(progress)}`);
    await heartbeat({ page: 3 });
    throw new Error("connection reset");
  });
  await start("a");
  await becomes("a", "unpaid");
  expect(await instance("a")).toMatchObject({ context: { answer: "declined" } });
  expect(await task("a")).toMatchObject({
    attempt: 2,
    error: { code: "declined", message: 'after page {"page":3}' },
  });
});

test("at most `slots` tasks run at once, over all instances", async () => {
  let now = 0;
  let most = 0;
  const charge = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 50));
    now -= 1;
  };
  const ids = Array.from({ length: 7 }, (_, n) => `i${n}`);
  for (const id of ids) await start(id);
  work(charge, { slots: 3 });
  for (const id of ids) await becomes(id, "paid");
  expect(most).toBe(3);
});

test("I3: a worker that lost its lease is told by its signal and writes nothing, though its function returns", async () => {
  let lost: unknown = null;
  work(
    async (_input, { signal, heartbeat }) => {
      const aborted = whenAborted(signal);
      await advance(at.database.url, 61_000);
      await vi.waitFor(async () => expect((await task("a")).status).not.toBe("running"), 5_000);
      await heartbeat().catch((error: unknown) => (lost = error));
      expect(await aborted).toBeInstanceOf(LeaseLost);
      return "too late";
    },
    { workerId: "slow", slots: 1 },
  );
  await start("a");
  await vi.waitFor(() => expect(kinds()).toContain("lease-lost"), 8_000);
  expect(lost).toBeInstanceOf(LeaseLost);
  expect(await task("a")).toMatchObject({ result: null });
  expect((await instance("a")).configuration).toEqual(["paying"]);
});

test("a task whose instance moved on is told so with the next heartbeat", async () => {
  const seen: unknown[] = [];
  work(async (_input, { signal, heartbeat }) => {
    const aborted = whenAborted(signal);
    await at.runtime.sendEvent(local, { instanceId: "a", type: "leave" });
    await heartbeat();
    seen.push(await aborted);
    throw signal.reason;
  });
  await start("a");
  await vi.waitFor(() => expect(kinds()).toEqual(["claimed", "cancelled"]), 8_000);
  expect(seen[0]).toBeInstanceOf(TaskCancelled);
  // Acknowledged: no attempt of it can be running any more.
  expect(await task("a")).toMatchObject({ status: "cancelled", leaseUntil: null });
});

test("a worker that ends finishes what it has, and gives back what takes too long", async () => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const reasons: unknown[] = [];
  const worker = work(
    async (_input, { signal, instanceId }) => {
      if (instanceId === "quick") return finished;
      reasons.push(await whenAborted(signal));
    },
    { workerId: "ending", graceMs: 300 },
  );
  await start("quick");
  await start("slow");
  await vi.waitFor(() => expect(kinds()).toEqual(["claimed", "claimed"]), 8_000);
  const stopped = worker.stop();
  await vi.waitFor(async () =>
    expect((await at.runtime.listWorkers(local, {})).items).toMatchObject([
      { kind: "task", id: "ending", status: "draining", slots: 4, types: ["charge"] },
      { kind: "runtime" },
    ]),
  );
  finish();
  await stopped;
  await becomes("quick", "paid");
  expect(reasons[0]).toBeInstanceOf(WorkerEnding);
  expect(await task("slow")).toMatchObject({ status: "pending", worker: null });
  expect((await at.runtime.listWorkers(local, {})).items).toMatchObject([{ kind: "runtime" }]);
});

test("a second worker with the id of a live one is refused", async () => {
  const first = work(() => null, { workerId: "one" });
  await vi.waitFor(async () => expect((await at.runtime.listWorkers(local, {})).items).toHaveLength(2));
  await expect(work(() => null, { workerId: "one" }).ended).rejects.toMatchObject({ code: "worker-exists" });
  await first.stop();
  const second = work(() => null, { workerId: "one" });
  await start("a");
  await becomes("a", "paid");
  await second.stop();
});

test("a server that is away is waited for, and an answer is repeated until it is taken", async () => {
  let refuse = 0;
  const flaky: typeof fetch = (url, init) => {
    if (refuse > 0 && (url as string).endsWith("/tasks/complete")) {
      refuse -= 1;
      // It arrives, and its answer is lost.
      return fetch(url, init).then(() => Promise.reject(new TypeError("fetch failed")));
    }
    return fetch(url, init);
  };
  refuse = 1;
  work(() => "once", { fetch: flaky });
  await start("a");
  await becomes("a", "paid");
  await vi.waitFor(() => expect(kinds()).toEqual(["claimed", "succeeded"]), 8_000);
  const { items } = await at.runtime.getLog(local, { instanceId: "a" });
  expect(items.filter((entry) => entry.kind === "task-answer")).toHaveLength(1);
});

test("what a function gives that can't be told fails its attempt, and never keeps the worker from telling it", async () => {
  const gives: Record<string, () => Json> = {
    nan: () => ({ n: Number.NaN }),
    data: () => {
      throw new TaskFailure("declined", "half a pair: \ud800", {
        retry: false,
        data: { at: new Date(0) } as never,
      });
    },
    code: () => {
      throw new TaskFailure("", "no code", { retry: false });
    },
  };
  for (const id of Object.keys(gives)) await start(id);
  work((_input, { instanceId }) => must(gives[instanceId], "a case")());
  for (const [id, code] of [
    ["nan", "bad-request"],
    ["data", "declined"],
    ["code", "error"],
  ] as const) {
    await becomes(id, "unpaid");
    expect((await instance(id)).context).toMatchObject({ answer: code });
  }
});
