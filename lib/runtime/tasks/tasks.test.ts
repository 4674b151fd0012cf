import { getEventListeners } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import { anonymousActor } from "@/lib/access/actor";
import { must } from "@/lib/base/assert";
import type { JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { fairnessDefault } from "../workers/choose-runnable";
import type { ClaimedTask } from "./task-views";

/** Pays by a task; `leave` goes away from it, `again` enters it anew. */
const paying = (invoke: JsonObject = {}): JsonObject => ({
  lockstep: 1,
  tasks: { charge: {} },
  context: { answers: [] },
  initial: "paying",
  states: {
    paying: {
      invoke: { id: "pay", src: "charge", input: { amount: "input.amount" }, ...invoke },
      on: {
        "done.invoke.pay": {
          target: "paid",
          actions: { assign: { answers: "context.answers + [event.data]" } },
        },
        "error.invoke.pay": {
          target: "unpaid",
          actions: { assign: { answers: "context.answers + [event.data.code]" } },
        },
        leave: "aside",
        again: { target: "paying", reenter: true },
        stop: "stopped",
      },
    },
    paid: { on: { again: "paying" } },
    unpaid: {},
    aside: { on: { again: "paying" } },
    stopped: { type: "final" },
  },
});
const minute = 60_000;

describe.each(providers)("tasks on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const begin = async (invoke: JsonObject = {}, ...ids: string[]) => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "order", paying(invoke));
    for (const id of ids.length > 0 ? ids : ["a"]) {
      await at.runtime.startInstance(local, { chartId: "order", id, input: { amount: 5 } });
    }
  };
  const claim = async (over: object = {}): Promise<ClaimedTask[]> => {
    const args = { types: ["charge"], workerId: "w1", ...over };
    return (await at.runtime.claimTasks(local, args)).tasks;
  };
  const claimOne = async (over: object = {}) => must((await claim(over))[0], "a task to claim");
  const send = (type: string, instanceId = "a") => at.runtime.sendEvent(local, { instanceId, type });
  const state = async (instanceId = "a") =>
    (await at.runtime.getInstance(local, { instanceId })).configuration;
  const tasks = async (instanceId = "a") => (await at.runtime.listTasks(local, { instanceId })).items;
  const task = async () => must((await tasks())[0], "the newest task");
  const becomes = (name: string, instanceId = "a") =>
    vi.waitFor(async () => expect(await state(instanceId)).toEqual([name]), 5_000);
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => "none",
      (error: { code?: string }) => error.code,
    );
  const log = async (instanceId = "a") =>
    (await at.runtime.getLog(local, { instanceId })).items.map(({ kind, type, outcome, reason }) =>
      [kind, type, outcome, reason].filter((each) => each !== null).join(" "),
    );

  test("I2: entering a state begins its task; its answer moves the chart and is one log entry", async () => {
    await begin();
    at.runtime.startWorkers();
    expect(await task()).toMatchObject({
      taskId: "1:pay",
      type: "charge",
      kind: "named",
      status: "pending",
      input: { amount: 5 },
      state: "paying",
    });
    const mine = await claimOne();
    expect(mine).toMatchObject({
      instanceId: "a",
      input: { amount: 5 },
      idempotencyKey: "a:1:pay",
      attempt: 1,
      fence: 1,
      progress: null,
    });
    expect(await claim()).toEqual([]);
    expect(await task()).toMatchObject({ status: "running", worker: "w1", attempt: 1 });
    const done = await at.runtime.completeTask(local, { token: mine.token, output: { receipt: 7 } });
    expect(done).toEqual({ status: "succeeded", replayed: false });
    await becomes("paid");
    expect(await task()).toMatchObject({ status: "succeeded", result: { receipt: 7 }, leaseUntil: null });
    expect(await log()).toEqual(["task-answer done.invoke.pay moved", "start start moved"]);
    expect(await at.runtime.getState(local, { instanceId: "a" })).toMatchObject({
      hashMatches: true,
      context: { answers: [{ receipt: 7 }] },
    });
  });

  test("I4: what an id that was deleted and is used again asks for has other idempotency keys", async () => {
    await begin();
    expect(await claimOne()).toMatchObject({ idempotencyKey: "a:1:pay" });
    await at.runtime.deleteInstance(local, { instanceId: "a" });
    await at.runtime.startInstance(local, { chartId: "order", id: "a", input: { amount: 5 } });
    expect(await claimOne()).toMatchObject({ idempotencyKey: "a#2:1:pay" });
  });

  test("I4: the same completion again changes nothing and says so; another's token is refused", async () => {
    await begin();
    const { token } = await claimOne();
    await at.runtime.completeTask(local, { token, output: { a: 1, b: [2] } });
    const again = { b: [2], a: 1 };
    expect(await at.runtime.completeTask(local, { token, output: again })).toMatchObject({ replayed: true });
    expect(await code(at.runtime.completeTask(local, { token, output: { a: 2 } }))).toBe("wrong-status");
    expect(await task()).toMatchObject({ result: { a: 1, b: [2] } });
    expect(await at.store.countMailbox("a")).toBe(1);
    expect(await code(at.runtime.failTask(local, { token, error: { code: "x", message: "" } }))).toBe(
      "lease-lost",
    );
    expect(await code(at.runtime.heartbeatTask(local, { token }))).toBe("lease-lost");
    expect(await code(at.runtime.completeTask(local, { token: "t-guessed" }))).toBe("lease-lost");
  });

  test("I4: the same failure again changes nothing and says so; another one is refused", async () => {
    await begin();
    const { token } = await claimOne();
    const error = { code: "closed", message: "the bank is closed" };
    expect(await at.runtime.failTask(local, { token, error })).toMatchObject({ replayed: false });
    expect(await at.runtime.failTask(local, { token, error })).toMatchObject({
      status: "pending",
      replayed: true,
    });
    expect(await code(at.runtime.failTask(local, { token, error: { code: "x", message: "" } }))).toBe(
      "wrong-status",
    );
    expect(await task()).toMatchObject({ status: "pending", attempt: 1, error });
  });

  test("children of a task that is not there are not found; a task without any has an empty page", async () => {
    await begin();
    const ask = (taskId: string) => at.runtime.listChildren(local, { instanceId: "a", taskId });
    expect(await ask("1:pay")).toMatchObject({ items: [], counts: { running: 0 } });
    await expect(ask("1:none")).rejects.toThrow("Instance a has no task 1:none.");
    expect(await code(ask("1:none"))).toBe("not-found");
  });

  test("I3: a worker whose lease ran out writes nothing, before and after another has taken over", async () => {
    await begin();
    const first = await claimOne();
    await at.runtime.heartbeatTask(local, { token: first.token, progress: { page: 3 } });
    await advance(at.database.url, minute + 1);
    // Not swept yet: the lease counts, not the row's status.
    expect(await code(at.runtime.completeTask(local, { token: first.token }))).toBe("lease-lost");
    at.runtime.startWorkers();
    const second = must((await claim({ workerId: "w2", waitMs: 5_000 }))[0], "taken over");
    expect(second).toMatchObject({ attempt: 2, fence: 2, progress: { page: 3 }, idempotencyKey: "a:1:pay" });
    for (const verb of ["completeTask", "heartbeatTask"] as const) {
      expect(await code(at.runtime[verb](local, { token: first.token }))).toBe("lease-lost");
    }
    await at.runtime.completeTask(local, { token: second.token, output: "second" });
    await becomes("paid");
    expect(await task()).toMatchObject({ worker: "w2", attempt: 2, result: "second" });
  });

  test("I3: an answer under a fence that is no longer good is refused, and the lock remembers it", async () => {
    await begin();
    const { token } = await claimOne();
    const session = { key: "zone", session: "s1", holder: "w1" };
    const granted = await at.runtime.acquireLock(local, session);
    const fence = granted.result === "acquired" ? granted.fence : 0;
    const { key } = session;
    await at.runtime.forceReleaseLock(local, { key, expectedFence: fence, reason: "stuck" });
    const fences = [{ key, session: "s1", fence }];
    expect(await code(at.runtime.completeTask(local, { token, fences }))).toBe("stale-fence");
    expect(await task()).toMatchObject({ status: "running" });
    expect(await at.store.countMailbox("a")).toBe(0);
    expect((await at.runtime.getLockLog(local, { key })).items[0]).toMatchObject({ type: "WRITE_REJECTED" });
    const again = await at.runtime.acquireLock(local, session);
    const good = again.result === "acquired" ? again.fence : 0;
    const done = at.runtime.completeTask(local, { token, fences: [{ key, session: "s1", fence: good }] });
    expect(await done).toMatchObject({ status: "succeeded" });
  });

  test("a heartbeat keeps the task for as long as it beats", async () => {
    await begin();
    at.runtime.startWorkers();
    const { token, leaseUntil } = await claimOne();
    for (let beat = 0; beat < 3; beat += 1) {
      await advance(at.database.url, 40_000);
      const renewed = await at.runtime.heartbeatTask(local, { token });
      expect(renewed.cancel).toBe(false);
      expect(renewed.leaseUntil).toBeGreaterThanOrEqual(leaseUntil + (beat + 1) * 40_000);
    }
    expect(await at.runtime.completeTask(local, { token })).toMatchObject({ status: "succeeded" });
  });

  test("a failed attempt is tried again after a growing pause, and ends as error.invoke", async () => {
    await begin({ retry: { attempts: 3, delay: "10s" } });
    at.runtime.startWorkers();
    const error = { code: "declined", message: "no funds" };
    for (const [attempt, delayMs] of [
      [1, 10_000],
      [2, 20_000],
    ] as const) {
      const mine = must((await claim({ waitMs: 2_000 }))[0], `attempt ${attempt}`);
      expect(mine.attempt).toBe(attempt);
      const now = await at.store.now();
      const told = await at.runtime.failTask(local, { token: mine.token, error });
      expect(told).toMatchObject({ status: "pending", replayed: false });
      const waitMs = must(told.readyAt, "a time") - now;
      expect(waitMs).toBeGreaterThanOrEqual(delayMs * 0.75);
      expect(waitMs).toBeLessThan(delayMs + 1_000);
      expect(await at.runtime.failTask(local, { token: mine.token, error })).toEqual({
        ...told,
        replayed: true,
      });
      expect(await claim()).toEqual([]);
      expect(await task()).toMatchObject({ status: "pending", error });
      await advance(at.database.url, delayMs);
    }
    const last = await claimOne();
    expect(await at.runtime.failTask(local, { token: last.token, error })).toMatchObject({
      status: "failed",
    });
    await becomes("unpaid");
    expect(await log()).toEqual(["task-answer error.invoke.pay moved", "start start moved"]);
  });

  test("an error named in noRetry, or one that says so, ends the task at once", async () => {
    await begin({ retry: { noRetry: ["fraud"] } }, "a", "b");
    at.runtime.startWorkers();
    const [one, two] = await claim({ max: 2 });
    const failing = (
      of: ClaimedTask | undefined,
      error: { code: string; message: string; retry?: boolean },
    ) => at.runtime.failTask(local, { token: must(of, "claimed").token, error });
    expect(await failing(one, { code: "fraud", message: "" })).toMatchObject({ status: "failed" });
    expect(await failing(two, { code: "x", message: "", retry: false })).toMatchObject({ status: "failed" });
    await becomes("unpaid", "a");
    await becomes("unpaid", "b");
  });

  test("an attempt has its time, and all attempts together have theirs", async () => {
    await begin({ timeout: "30s", retry: { within: "70s", delay: "1s", attempts: 9 } });
    at.runtime.startWorkers();
    const first = await claimOne();
    await advance(at.database.url, 20_000);
    const renewed = await at.runtime.heartbeatTask(local, { token: first.token });
    expect(renewed.leaseUntil).toBe(first.attemptUntil);
    await advance(at.database.url, 11_000);
    await vi.waitFor(async () => expect(await task()).toMatchObject({ status: "pending" }), 5_000);
    expect(await task()).toMatchObject({ error: { code: "timeout" } });
    expect(await code(at.runtime.completeTask(local, { token: first.token }))).toBe("lease-lost");
    await advance(at.database.url, 2_000);
    const second = must((await claim({ waitMs: 2_000 }))[0], "a second attempt");
    expect(second.attempt).toBe(2);
    await advance(at.database.url, 40_000);
    await becomes("unpaid");
    expect(await task()).toMatchObject({ status: "failed", error: { code: "timeout" } });
  });

  test("the time for all attempts begins with the task: what nobody takes, or waits for its key, runs out too", async () => {
    await begin({ retry: { within: "70s" }, concurrencyKey: "'till'" }, "a", "b");
    expect(await task()).toMatchObject({ status: "pending", attempt: 0 });
    const { createdAt, dueAt } = await task();
    expect(dueAt).toBe(createdAt + 70_000);
    await advance(at.database.url, 71_000);
    expect(await claim()).toEqual([]);
    at.runtime.startWorkers();
    for (const id of ["a", "b"]) {
      await becomes("unpaid", id);
      const error = { code: "timeout", message: "nobody took it within the time for all attempts" };
      expect((await tasks(id))[0]).toMatchObject({ status: "failed", attempt: 0, error });
    }
    await vi.waitFor(async () => expect(await at.store.findFreeKeys("task", 9)).toEqual([]), 2_000);
  });

  test("the time for all attempts is not counted anew by the first claim", async () => {
    await begin({ retry: { within: "70s" } });
    await advance(at.database.url, 50_000);
    const first = await claimOne();
    expect(first.leaseMs).toBeLessThanOrEqual(20_000);
    expect(first.leaseMs).toBeGreaterThan(15_000);
  });

  test("a task that takes its workers along ends after its attempts", async () => {
    await begin({ retry: { attempts: 2 } });
    at.runtime.startWorkers();
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      expect(must((await claim({ waitMs: 5_000 }))[0], "a task").attempt).toBe(attempt);
      await advance(at.database.url, minute + 1);
    }
    await becomes("unpaid");
    expect(await task()).toMatchObject({ status: "failed", error: { code: "lease-expired" } });
  });

  test("I6: leaving the state cancels its task; the late answer is kept and moves nothing", async () => {
    await begin();
    at.runtime.startWorkers();
    const { token } = await claimOne();
    await send("leave");
    expect(await task()).toMatchObject({ status: "cancelled" });
    expect(await at.runtime.heartbeatTask(local, { token })).toMatchObject({ cancel: true });
    await send("again");
    const late = await at.runtime.completeTask(local, { token, output: "late" });
    expect(late).toEqual({ status: "cancelled", replayed: false });
    expect((await tasks()).map(({ taskId, status, result }) => [taskId, status, result])).toEqual([
      ["2:pay", "pending", null],
      ["1:pay", "cancelled", "late"],
    ]);
    expect(await state()).toEqual(["paying"]);
    expect(await at.runtime.completeTask(local, { token, output: "late" })).toMatchObject({ replayed: true });
    expect(await code(at.runtime.completeTask(local, { token, output: "later" }))).toBe("wrong-status");
  });

  test("I6: an answer that waits in the mailbox while the state is entered anew is logged as stale", async () => {
    await begin();
    const { token } = await claimOne();
    const again = at.runtime.sendEvent(local, { instanceId: "a", type: "again", waitMs: 0 });
    await again;
    // The answer of generation 1, posted by a process that had not seen the step.
    await at.store.transaction(async (tx) => {
      const { answerMessage } = await import("./task-answer");
      const { noWrites } = await import("@/lib/store/steps");
      const row = must(await tx.lockTaskByToken(token), "the first task");
      await tx.writeSteps({
        ...noWrites(),
        enqueued: [answerMessage(row, { output: "old" }, "local", await tx.now())],
      });
    });
    at.runtime.startWorkers();
    await vi.waitFor(async () => expect(await log()).toHaveLength(3), 5_000);
    expect((await log())[0]).toBe("task-answer done.invoke.pay ignored stale-generation");
    expect(await state()).toEqual(["paying"]);
  });

  test("an instance that ends cancels its tasks, one that is deleted takes them along", async () => {
    await begin({}, "a", "b");
    const [one, two] = (await claim({ max: 2 })).sort((x, y) => (x.instanceId < y.instanceId ? -1 : 1));
    await send("stop", "a");
    expect(await task()).toMatchObject({ status: "cancelled" });
    const token = must(one, "a's").token;
    expect(await at.runtime.completeTask(local, { token, output: 1 })).toMatchObject({ status: "cancelled" });
    expect(await at.store.countMailbox("a")).toBe(0);
    await at.runtime.deleteInstance(local, { instanceId: "b" });
    expect(await code(at.runtime.completeTask(local, { token: must(two, "b's").token }))).toBe("lease-lost");
    await at.runtime.startInstance(local, { chartId: "order", id: "b", input: { amount: 1 } });
    expect(await tasks("b")).toMatchObject([{ taskId: "1:pay", status: "pending" }]);
  });

  test("I8: a waiting claim is served within 100 ms of the commit, another process's within 1 s", async () => {
    await begin();
    await claimOne();
    const other = await at.again();
    const start = (id: string, runtime = at.runtime) =>
      runtime.startInstance(local, { chartId: "order", id, input: { amount: 1 } });
    for (const [runtime, withinMs] of [
      [at.runtime, 100],
      [other.runtime, 1_000],
    ] as const) {
      const waiting = claim({ waitMs: 10_000 });
      await new Promise((resolve) => setTimeout(resolve, 100));
      await start(`late-${withinMs}`, runtime);
      const began = performance.now();
      expect(await waiting).toMatchObject([{ instanceId: `late-${withinMs}` }]);
      expect(performance.now() - began).toBeLessThan(withinMs);
    }
    const nothing = performance.now();
    expect(await claim({ waitMs: 300 })).toEqual([]);
    expect(performance.now() - nothing).toBeGreaterThan(290);
    expect(performance.now() - nothing).toBeLessThan(1_000);
  });

  describe("a claim looks at its worker", () => {
    const beat = (session: string) =>
      at.runtime.beatWorker(local, {
        workerId: "w1",
        session,
        types: ["charge"],
        slots: 1,
        running: 0,
        draining: false,
      });
    const drain = (wanted: boolean) =>
      at.runtime.drainWorker(local, { workerId: "w1", drain: wanted, reason: "to be replaced" });
    const ask = (over: object = {}) =>
      at.runtime.claimTasks(local, { types: ["charge"], workerId: "w1", waitMs: 5_000, ...over });

    test("one that is to be drained gets nothing and is told so, at once and in the middle of its wait", async () => {
      await begin();
      await beat("one");
      await drain(true);
      for (const session of ["one", undefined])
        expect(await ask({ session })).toEqual({ tasks: [], drain: true });
      expect(await task()).toMatchObject({ status: "pending", attempt: 0 });
      await drain(false);
      expect(await ask()).toMatchObject({ tasks: [{ attempt: 1 }], drain: false });
      const waiting = ask();
      await new Promise((resolve) => setTimeout(resolve, 100));
      await drain(true);
      expect(await waiting).toEqual({ tasks: [], drain: true });
    });

    test("a drain ends with the worker that it was asked of: who has its id after it works", async () => {
      await begin({}, "a", "b");
      await beat("one");
      await drain(true);
      await advance(at.database.url, 40_000);
      expect((await ask({ session: "two", max: 1 })).tasks).toHaveLength(1);
      expect(await beat("two")).toMatchObject({ drain: false });
      expect((await ask({ session: "two", max: 1 })).tasks).toHaveLength(1);
    });

    test("I3: a second worker of a live one's id is refused, until that one is gone", async () => {
      await begin();
      await beat("one");
      expect(await code(ask({ session: "two" }))).toBe("worker-exists");
      expect(await task()).toMatchObject({ status: "pending" });
      await advance(at.database.url, 40_000);
      expect((await ask({ session: "two" })).tasks).toHaveLength(1);
    });
  });

  test("a caller that has gone is given nothing, and a closing runtime ends those that wait", async () => {
    await begin();
    await claimOne();
    const gone = new AbortController();
    const waiting = claim({ waitMs: 10_000, signal: gone.signal });
    gone.abort();
    expect(await waiting).toEqual([]);
    await at.runtime.startInstance(local, { chartId: "order", id: "b", input: { amount: 1 } });
    expect((await tasks("b"))[0]).toMatchObject({ status: "pending", attempt: 0 });
    expect(await claim({ signal: gone.signal })).toEqual([]);
    const lasting = new AbortController();
    await claim({ types: ["none"], waitMs: 0, signal: lasting.signal });
    expect(getEventListeners(lasting.signal, "abort")).toEqual([]);
    const closing = claim({ types: ["none"], waitMs: 10_000 });
    await at.runtime.close();
    expect(await closing).toEqual([]);
  });

  describe("tasks that share a concurrency key", () => {
    const keyed = { concurrencyKey: "'zone-14'" };
    const waits = async (id: string) => must((await tasks(id))[0], "its task").waits;

    test("run one at a time, first come first served, and say for whom they wait", async () => {
      await begin(keyed, "a", "b", "c");
      at.runtime.startWorkers();
      expect(await waits("a")).toEqual({ for: "worker" });
      for (const id of ["b", "c"]) {
        expect(await waits(id)).toEqual({ for: "key", key: "zone-14", instanceId: "a", taskId: "1:pay" });
      }
      for (const id of ["a", "b", "c"]) {
        const mine = await claim({ max: 9, waitMs: 2_000 });
        expect(mine.map((each) => each.instanceId)).toEqual([id]);
        expect(await claim({ max: 9 })).toEqual([]);
        await at.runtime.completeTask(local, { token: must(mine[0], id).token });
      }
      await becomes("paid", "c");
      await vi.waitFor(async () => expect(await at.store.findFreeKeys("task", 9)).toEqual([]), 2_000);
      expect(await at.store.findKeys([{ scope: "task:charge", key: "zone-14" }])).toEqual([]);
    });

    test("a failed attempt keeps the turn, the task's end passes it on", async () => {
      await begin({ ...keyed, retry: { attempts: 2, delay: "1s" } }, "a", "b");
      at.runtime.startWorkers();
      const error = { code: "x", message: "" };
      await at.runtime.failTask(local, { token: (await claimOne()).token, error });
      expect(await waits("a")).toMatchObject({ for: "time" });
      expect(await claim()).toEqual([]);
      await advance(at.database.url, 1_000);
      const second = await claimOne();
      expect(second).toMatchObject({ instanceId: "a", attempt: 2 });
      await at.runtime.failTask(local, { token: second.token, error });
      expect(await claimOne({ waitMs: 2_000 })).toMatchObject({ instanceId: "b" });
    });

    test("a cancelled one keeps the turn while its attempt may be under way", async () => {
      await begin(keyed, "a", "b", "c", "d");
      at.runtime.startWorkers();
      const first = await claimOne();
      await send("leave", "a");
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(await claim()).toEqual([]);
      await at.runtime.failTask(local, { token: first.token, error: { code: "cancelled", message: "" } });
      const second = await claimOne({ waitMs: 2_000 });
      expect(second.instanceId).toBe("b");
      // Not acknowledged: its lease runs out.
      await send("stop", "b");
      await advance(at.database.url, minute + 1);
      expect(await claimOne({ waitMs: 2_000 })).toMatchObject({ instanceId: "c" });
      await at.runtime.deleteInstance(local, { instanceId: "c" });
      expect(await claimOne({ waitMs: 2_000 })).toMatchObject({ instanceId: "d" });
    });

    test("I9: begun and ended by many at once, never two run together and none is left waiting", async () => {
      await begin({ concurrencyKey: "string(input.amount)" });
      at.runtime.startWorkers();
      const other = await at.again();
      other.runtime.startWorkers();
      const count = 30;
      const running = new Map<string, number>();
      let done = 0;
      const work = async (runtime: TestRuntime["runtime"], workerId: string) => {
        while (done < count + 1) {
          const { tasks } = await runtime.claimTasks(local, {
            types: ["charge"],
            workerId,
            max: 3,
            waitMs: 300,
          });
          for (const { token, input } of tasks) {
            const key = JSON.stringify(input);
            running.set(key, (running.get(key) ?? 0) + 1);
            expect(running.get(key)).toBe(1);
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
            running.set(key, 0);
            await runtime.completeTask(local, { token });
            done += 1;
          }
        }
      };
      const starting = Promise.all(
        Array.from({ length: count }, (_, n) =>
          (n % 2 === 0 ? at : other).runtime.startInstance(local, {
            chartId: "order",
            id: `i${n}`,
            input: { amount: n % 3 },
          }),
        ),
      );
      await Promise.all([
        starting,
        work(at.runtime, "w1"),
        work(other.runtime, "w2"),
        work(at.runtime, "w3"),
      ]);
      expect(done).toBe(count + 1);
    });
  });

  test("most claims take high tiers first, a minute's wait is one tier, and the rest go by age", async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "order", paying());
    const start = (id: string, priority: number) =>
      at.runtime.startInstance(local, { chartId: "order", id, priority, input: { amount: 1 } });
    await start("old", 0);
    await advance(at.database.url, 1_000);
    await start("high", 3);
    const { claimIn } = await import("./task-claim");
    const order = (high: boolean) =>
      at.store
        .transaction(async (tx) => {
          const rows = await claimIn(
            tx,
            { types: ["charge"], workerId: "w", max: 2 },
            high ? fairnessDefault : null,
          );
          throw Object.assign(new Error("only looking"), { order: rows.map((row) => row.instanceId) });
        })
        .catch((error: { order?: string[] }) => error.order);
    expect(await order(true)).toEqual(["high", "old"]);
    expect(await order(false)).toEqual(["old", "high"]);
    await advance(at.database.url, 4 * minute);
    await start("higher", 3);
    expect(await order(true)).toEqual(["high", "old"]);
  });

  test("Lockstep's own types, denied actors and too large a progress are refused", async () => {
    await begin();
    expect(await code(claim({ types: ["http"] }))).toBe("bad-request");
    expect(await code(at.runtime.claimTasks(anonymousActor, { types: ["x"], workerId: "w" }))).toBe(
      "forbidden",
    );
    const { token } = await claimOne();
    const progress = "x".repeat(70_000);
    expect(await code(at.runtime.heartbeatTask(local, { token, progress }))).toBe("payload-too-large");
  });
});
