import { afterEach, describe, expect, test, vi } from "vitest";
import { must } from "@/lib/base/assert";
import type { Json, JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { taskRow } from "@/lib/testing/rows";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import type { TaskRow } from "@/lib/store/tasks";
import { nextOfSaga } from "./saga-rules";
import { expired } from "./task-rules";

/** Locks a pallet, lifts it, sets it down; what was done is undone when the last fails. */
const mission = (settings: JsonObject = {}): JsonObject => ({
  lockstep: 1,
  settings,
  tasks: { reserve: {}, release: {}, lift: {}, lower: {}, drop: {} },
  context: { pallet: "P1", over: false },
  initial: "reserving",
  states: {
    reserving: {
      invoke: {
        id: "one",
        src: "reserve",
        compensate: {
          src: "release",
          input: { pallet: "context.pallet", was: "event.data" },
          retry: { attempts: 2, delay: "10ms" },
        },
      },
      on: { "done.invoke.one": { target: "lifting", actions: { assign: { pallet: "'changed'" } } } },
    },
    lifting: {
      invoke: { id: "two", src: "lift", timeout: "30s", compensate: { src: "lower", input: "event.data" } },
      on: { "done.invoke.two": "dropping", giveUp: "undoing" },
    },
    dropping: {
      invoke: { id: "three", src: "drop", retry: { attempts: 1 } },
      on: {
        "error.invoke.three": "undoing",
        cancel: "undoing",
        break: { actions: { assign: { over: "context.nothing.at.all" } } },
      },
    },
    undoing: { entry: { compensate: true }, on: { "done.compensate": "home", ping: {} } },
    home: { on: { rest: "resting" } },
    resting: { type: "final" },
  },
});

describe.each(providers)("sagas on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const begin = async (settings?: JsonObject, lifting: { invoke?: JsonObject; on?: JsonObject } = {}) => {
    at = await freshRuntime(provider);
    const chart = mission(settings);
    const { lifting: state } = chart.states as { lifting: { invoke: JsonObject; on: JsonObject } };
    Object.assign(state.invoke, lifting.invoke);
    Object.assign(state.on, lifting.on);
    await publish(at.runtime, "mission", chart);
    at.runtime.startWorkers();
    await at.runtime.startInstance(local, { chartId: "mission", id: "m" });
  };
  const claim = async (type: string) => {
    const args = { types: [type], workerId: "w", waitMs: 5_000 };
    return must((await at.runtime.claimTasks(local, args)).tasks[0], `a task ${type}`);
  };
  const done = async (type: string, output: Json) => {
    const { token, input } = await claim(type);
    await at.runtime.completeTask(local, { token, output });
    return input;
  };
  const fails = async (type: string) => {
    const { token } = await claim(type);
    await at.runtime.failTask(local, { token, error: { code: "no", message: "no", retry: true } });
  };
  const get = () => at.runtime.getInstance(local, { instanceId: "m" });
  const becomes = (about: object) => vi.waitFor(async () => expect(await get()).toMatchObject(about), 5_000);
  const send = (type: string) => at.runtime.sendEvent(local, { instanceId: "m", type });

  test("I2: what was done is undone last first, each with the context of its deed and its result; then the chart goes on", async () => {
    await begin();
    await done("reserve", "r1");
    await done("lift", "l1");
    await fails("drop");
    await becomes({ status: "compensating", configuration: ["undoing"] });
    expect(await send("ping")).toMatchObject({ state: "queued" });
    expect(await done("lower", null)).toEqual({ outcome: "succeeded", result: "l1" });
    await becomes({ status: "compensating" });
    expect(await done("release", null)).toEqual({
      pallet: "P1",
      was: { outcome: "succeeded", result: "r1" },
    });
    await becomes({ status: "running", configuration: ["home"] });
    const { items } = await at.runtime.getLog(local, { instanceId: "m" });
    expect(
      items
        .map(({ type }) => type)
        .slice(0, 3)
        .sort(),
    ).toEqual(["compensated", "done.compensate", "ping"]);
    expect(await at.runtime.getState(local, { instanceId: "m" })).toMatchObject({ hashMatches: true });
  });

  test("I9: an undoing that has used up its attempts leaves the instance stuck, where it is seen", async () => {
    await begin();
    await done("reserve", "r1");
    await done("lift", "l1");
    await fails("drop");
    await done("lower", null);
    await fails("release");
    await fails("release");
    await becomes({ status: "stuck" });
    expect((await at.runtime.listInstances(local, { status: "stuck" })).items).toMatchObject([
      { error: { code: "compensation-failed", message: "what one did could not be undone: no" } },
    ]);
    await at.runtime.terminateInstance(local, { instanceId: "m", reason: "undone by hand" });
    await becomes({ status: "terminated" });
  });

  test("I9: one that is stuck is redriven: what could not be undone is tried again, with all its attempts, then the rest", async () => {
    await begin();
    await done("reserve", "r1");
    await done("lift", "l1");
    await fails("drop");
    const lowering = await claim("lower");
    const error = { code: "jammed", message: "jammed", retry: false };
    await at.runtime.failTask(local, { token: lowering.token, error });
    await becomes({ status: "stuck", error: { code: "compensation-failed" } });
    const redrive = () => at.runtime.redriveInstance(local, { instanceId: "m", reason: "oiled" });
    expect(await redrive()).toMatchObject({ status: "compensating", changed: true });
    expect(await get()).toMatchObject({ error: null, configuration: ["undoing"] });
    const again = await claim("lower");
    expect(again).toMatchObject({ input: lowering.input, idempotencyKey: lowering.idempotencyKey });
    await at.runtime.completeTask(local, { token: again.token });
    for (let round = 1; round <= 2; round += 1) {
      await fails("release");
      await becomes({ status: "compensating" });
      await fails("release");
      await becomes({ status: "stuck" });
      expect(await redrive()).toMatchObject({ status: "compensating" });
    }
    await done("release", null);
    await becomes({ status: "running", configuration: ["home"] });
    expect(await at.runtime.getState(local, { instanceId: "m" })).toMatchObject({ hashMatches: true });
    await expect(redrive()).rejects.toMatchObject({ code: "wrong-status" });
  });

  test("an undoing that is tried again waits for its concurrency key as at first", async () => {
    at = await freshRuntime(provider);
    const chart = mission();
    const { reserving } = chart.states as { reserving: { invoke: { compensate: JsonObject } } };
    Object.assign(reserving.invoke.compensate, { concurrencyKey: "'bay'", retry: { attempts: 1 } });
    await publish(at.runtime, "mission", chart);
    at.runtime.startWorkers();
    const error = { code: "no", message: "no", retry: false };
    for (const id of ["m", "n"]) {
      await at.runtime.startInstance(local, { chartId: "mission", id });
      await done("reserve", "r1");
      await claim("lift");
      await at.runtime.sendEvent(local, { instanceId: id, type: "giveUp" });
      // Nobody says what came of it: it is undone as well.
      await advance(at.database.url, 61_000);
      await done("lower", null);
      if (id === "m") {
        await at.runtime.failTask(local, { token: (await claim("release")).token, error });
        await becomes({ status: "stuck" });
      }
    }
    const other = await claim("release");
    expect(other.instanceId).toBe("n");
    await at.runtime.redriveInstance(local, { instanceId: "m", reason: "oiled" });
    const now = { types: ["release"], workerId: "w", waitMs: 600 };
    expect((await at.runtime.claimTasks(local, now)).tasks).toEqual([]);
    const { items } = await at.runtime.listTasks(local, { instanceId: "m" });
    expect(items.find(({ kind, status }) => kind === "compensation" && status === "pending")).toMatchObject({
      waits: { for: "key", key: "bay", instanceId: "n" },
    });
    await at.runtime.completeTask(local, { token: other.token });
    expect((await claim("release")).instanceId).toBe("m");
  });

  test("I3: a deed whose outcome is unknown is undone once no attempt can run; a late result is handed over", async () => {
    await begin();
    await done("reserve", "r1");
    const lifting = await claim("lift");
    await send("giveUp");
    await becomes({ status: "compensating" });
    const early = { types: ["lower"], workerId: "w", waitMs: 600 };
    expect((await at.runtime.claimTasks(local, early)).tasks).toEqual([]);
    expect(await at.runtime.completeTask(local, { token: lifting.token, output: "late" })).toMatchObject({
      status: "cancelled",
    });
    expect(await done("lower", null)).toEqual({ outcome: "succeeded", result: "late" });
    await done("release", null);
    await becomes({ configuration: ["home"] });
  });

  test("I3: when nobody answers, it is undone as unknown after the lease", async () => {
    await begin();
    await done("reserve", "r1");
    await claim("lift");
    await send("giveUp");
    await advance(at.database.url, 61_000);
    expect(await done("lower", null)).toEqual({ outcome: "unknown" });
    await done("release", null);
    await becomes({ configuration: ["home"] });
  });

  test("I3: an attempt that was lost may have done it, whatever a later one says for sure: it is undone as unknown", async () => {
    await begin({}, { on: { "error.invoke.two": "undoing" } });
    await done("reserve", "r1");
    await claim("lift");
    await advance(at.database.url, 31_000);
    const { token } = await claim("lift");
    await at.runtime.failTask(local, { token, error: { code: "declined", message: "no", retry: false } });
    expect(await done("lower", null)).toEqual({ outcome: "unknown" });
    await done("release", null);
    await becomes({ configuration: ["home"] });
  });

  test("I3: whoever lost its lease may go on until its attempt's time is over: undoing waits for that", async () => {
    await begin({}, { invoke: { timeout: "5m" } });
    await done("reserve", "r1");
    await claim("lift");
    await send("giveUp");
    await advance(at.database.url, 61_000);
    const early = { types: ["lower"], workerId: "w", waitMs: 800 };
    expect((await at.runtime.claimTasks(local, early)).tasks).toEqual([]);
    await advance(at.database.url, 240_000);
    expect(await done("lower", null)).toEqual({ outcome: "unknown" });
    await done("release", null);
    await becomes({ configuration: ["home"] });
  });

  test("I9: a deed that is answered after its undoing began, or was done, is handed over: it is undone again with the result", async () => {
    await begin();
    await done("reserve", "r1");
    const lifting = await claim("lift");
    await send("giveUp");
    await advance(at.database.url, 61_000);
    const lowering = await claim("lower");
    expect(lowering.input).toEqual({ outcome: "unknown" });
    const late = { token: lifting.token, output: "late" };
    expect(await at.runtime.completeTask(local, late)).toMatchObject({
      status: "cancelled",
      replayed: false,
    });
    expect(await at.runtime.completeTask(local, late)).toMatchObject({ status: "cancelled", replayed: true });
    // The attempt that knew nothing counts no more; the next one begins when it can't run any more.
    await expect(at.runtime.completeTask(local, { token: lowering.token })).rejects.toMatchObject({
      code: "lease-lost",
    });
    const early = { types: ["lower"], workerId: "w", waitMs: 600 };
    expect((await at.runtime.claimTasks(local, early)).tasks).toEqual([]);
    await advance(at.database.url, 61_000);
    const again = await claim("lower");
    expect(again).toMatchObject({
      input: { outcome: "succeeded", result: "late" },
      idempotencyKey: lowering.idempotencyKey,
    });
    expect(again.fence).toBeGreaterThan(lowering.fence);
    await at.runtime.completeTask(local, { token: again.token });
    await done("release", null);
    await becomes({ status: "running", configuration: ["home"] });
  });

  test("I9: also when everything had been undone, and for one whose last attempt had run out", async () => {
    await begin({}, { invoke: { retry: { attempts: 1 } }, on: { "error.invoke.two": "undoing" } });
    await done("reserve", "r1");
    const { token } = await claim("lift");
    await advance(at.database.url, 61_000);
    expect(await done("lower", null)).toEqual({ outcome: "unknown" });
    await done("release", null);
    await becomes({ status: "running", configuration: ["home"] });
    const before = await at.runtime.getInstance(local, { instanceId: "m" });
    await at.runtime.completeTask(local, { token, output: "late" });
    expect(await done("lower", null)).toEqual({ outcome: "succeeded", result: "late" });
    expect(await get()).toMatchObject({ seq: before.seq, configuration: ["home"] });
    await expect(at.runtime.completeTask(local, { token: "t-none" })).rejects.toMatchObject({
      code: "lease-lost",
    });
  });

  test("settings.onFailure: an instance that fails is undone first and has failed then", async () => {
    await begin({ errors: "stop", onFailure: "compensate" });
    await done("reserve", "r1");
    await done("lift", "l1");
    await becomes({ configuration: ["dropping"] });
    await send("break").catch(() => undefined);
    await becomes({ status: "compensating" });
    await done("lower", null);
    await done("release", null);
    await becomes({ status: "failed" });
    // Its failing event is repeated, and there is nothing left to undo.
    const { seq } = await get();
    await at.runtime.redriveInstance(local, { instanceId: "m", reason: "test" });
    await becomes({ status: "failed", seq: seq + 3 });
  });

  test("one that is cancelled undoes what it did, and is cancelled then", async () => {
    await begin();
    await done("reserve", "r1");
    await done("lift", "l1");
    await becomes({ configuration: ["dropping"] });
    await at.runtime.cancelInstance(local, { instanceId: "m", reason: "test" });
    await becomes({ status: "compensating" });
    await done("lower", null);
    await done("release", null);
    await becomes({ status: "cancelling", configuration: ["home"] });
    await send("rest");
    await becomes({ status: "cancelled" });
  });

  test("I9: a second process goes on undoing where the first ended", async () => {
    await begin();
    await done("reserve", "r1");
    await done("lift", "l1");
    await fails("drop");
    await becomes({ status: "compensating" });
    const { token } = await claim("lower");
    const { runtime } = await at.again();
    await at.runtime.close();
    at.runtime = runtime;
    await runtime.completeTask(local, { token });
    runtime.startWorkers();
    await done("release", null);
    await becomes({ status: "running", configuration: ["home"] });
    const tasks = (await runtime.listTasks(local, { instanceId: "m" })).items;
    expect(tasks.filter(({ kind }) => kind === "compensation")).toHaveLength(2);
  });
});

test("what was done last is undone first, whichever was begun first", () => {
  const deed = { compensate: "{}", status: "succeeded", result: "1", queue: null };
  const tasks = [
    taskRow({ ...deed, taskId: "1:long", startedAt: 1_000, endedAt: 9_000 }),
    taskRow({ ...deed, taskId: "2:short", startedAt: 2_000, endedAt: 3_000 }),
  ];
  expect(nextOfSaga(tasks, 10_000)).toMatchObject({ do: "undo", task: { taskId: "1:long" } });
});

test("a deed that nobody took is not undone; one whose attempt was lost is, however its time ran out", () => {
  const undoes = (over: Partial<TaskRow>) => {
    const pending = taskRow({ compensate: '{"index":0,"src":"undo"}', overallUntil: 5_000, ...over });
    return nextOfSaga([expired(pending, 5_000, 0)], 90_000).do;
  };
  const refused = JSON.stringify({ code: "no", message: "no" });
  expect(undoes({})).toBe("done");
  expect(undoes({ attempt: 1, fence: 1, error: refused })).toBe("done");
  expect(undoes({ attempt: 1, fence: 1, error: refused, lost: 1 })).toBe("undo");
  expect(undoes({ attempt: 1, fence: 1, error: JSON.stringify({ code: "timeout", message: "" }) })).toBe(
    "undo",
  );
  expect(undoes({ status: "running", attempt: 1, fence: 1, worker: "w", leaseUntil: 5_000 })).toBe("undo");
});
