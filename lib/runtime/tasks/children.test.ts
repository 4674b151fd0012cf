import { afterEach, describe, expect, test, vi } from "vitest";
import type { Json, JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

/** Ends with its input when told; `fail` breaks it. */
const child: JsonObject = {
  lockstep: 1,
  settings: { errors: "stop" },
  context: { heard: [] },
  initial: "busy",
  output: "{'was': input, 'heard': context.heard}",
  states: {
    busy: {
      on: {
        ping: { actions: [{ assign: { heard: "context.heard + [event.data]" } }] },
        tell: { actions: { send: { to: "#_parent", type: "told", data: "event.data" } } },
        finish: "done",
        fail: { actions: { assign: { heard: "context.nothing.at.all" } } },
      },
    },
    done: { type: "final" },
  },
};
/** Ends at once. */
const quick: JsonObject = {
  lockstep: 1,
  output: "input",
  initial: "done",
  states: { done: { type: "final" } },
};
/** Cleans up. */
const tidy: JsonObject = {
  lockstep: 1,
  initial: "working",
  states: {
    working: { on: { cancel: "tidying" } },
    tidying: { on: { tidy: "away" } },
    away: { type: "final" },
  },
};
const parent = (src: string, input: Json, more: JsonObject = {}): JsonObject => ({
  lockstep: 1,
  context: { answers: [], told: [] },
  initial: "waiting",
  states: {
    waiting: {
      invoke: { id: "kid", src, input, ...more },
      on: {
        "done.invoke.kid": {
          target: "after",
          actions: { assign: { answers: "context.answers + [event.data]" } },
        },
        "error.invoke.kid": {
          target: "failed",
          actions: { assign: { answers: "context.answers + [event.data]" } },
        },
        told: { actions: { assign: { told: "context.told + [event.data]" } } },
        ask: { actions: { send: { to: "#_kid", type: "ping", data: "event.data" } } },
        leave: "aside",
        "error.communication": { actions: { assign: { told: "context.told + ['unreachable']" } } },
      },
    },
    after: { on: { again: "waiting" } },
    failed: {},
    aside: { on: { again: "waiting" } },
  },
});
const chartInput = { chart: "'child'", input: "input" };

describe.each(providers)("children on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const begin = async (chart: JsonObject, input: Json = null) => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "child", child);
    await publish(at.runtime, "quick", quick);
    await publish(at.runtime, "tidy", tidy);
    await publish(at.runtime, "parent", chart);
    await at.runtime.startInstance(local, { chartId: "parent", id: "p", input });
    at.runtime.startWorkers();
  };
  const get = (instanceId: string) => at.runtime.getInstance(local, { instanceId });
  const kids = async (status?: "running") =>
    (await at.runtime.listInstances(local, { parent: "p", status, limit: 200 })).items;
  const kid = async () =>
    vi.waitFor(async () => {
      const [found] = await kids();
      if (!found) throw new Error("no child yet");
      return found.id;
    }, 5_000);
  const becomes = (name: string, instanceId = "p") =>
    vi.waitFor(async () => expect((await get(instanceId)).configuration).toEqual([name]), 10_000);
  const send = (instanceId: string, type: string, data?: Json) =>
    at.runtime.sendEvent(local, { instanceId, type, data });
  const context = async () => (await get("p")).context;
  const task = async () => (await at.runtime.listTasks(local, { instanceId: "p" })).items[0];

  test("I2: an invocation of chart is an instance; its output answers it", async () => {
    // SCXML: <finalize> runs for what comes from the invocation.
    const finalize = { assign: { told: "context.told + ['of kid']" } };
    await begin(parent("chart", chartInput, { finalize }), 5);
    const id = await kid();
    expect(await get(id)).toMatchObject({
      chartId: "child",
      status: "running",
      parent: { instanceId: "p", taskId: "1:kid", place: 0 },
    });
    expect(await task()).toMatchObject({ kind: "chart", status: "running", progress: { instanceId: id } });
    await send("p", "ask", "hello");
    await vi.waitFor(async () => expect((await get(id)).context).toEqual({ heard: ["hello"] }), 5_000);
    await send(id, "tell", "news");
    await vi.waitFor(async () => expect(await context()).toMatchObject({ told: ["of kid", "news"] }), 5_000);
    await send(id, "finish");
    await becomes("after");
    expect(await context()).toMatchObject({ answers: [{ was: 5, heard: ["hello"] }] });
    expect(await task()).toMatchObject({ status: "succeeded" });
    expect(await kids()).toHaveLength(1);
    expect(await at.runtime.getState(local, { instanceId: "p" })).toMatchObject({ hashMatches: true });
  });

  test("I2: a child that ends at once answers too; one that can't begin is an error", async () => {
    await begin(parent("chart", { chart: "input", input: 1 }), "quick");
    await becomes("after");
    expect(await context()).toMatchObject({ answers: [1] });
    await at.runtime.startInstance(local, { chartId: "parent", id: "q", input: "unknown" });
    await becomes("failed", "q");
    expect((await get("q")).context).toMatchObject({ answers: [{ code: "not-found" }] });
  });

  test.each([
    ["fail", "child-failed"],
    ["terminate", "child-terminated"],
    ["cancel", "child-cancelled"],
    ["delete", "child-terminated"],
  ])("I2: a child's end by %s is the error %s", async (how, code) => {
    await begin(parent("chart", chartInput));
    const instanceId = await kid();
    const args = { instanceId, reason: "test" };
    if (how === "fail") await send(instanceId, "fail").catch(() => undefined);
    if (how === "terminate") await at.runtime.terminateInstance(local, args);
    if (how === "cancel") await at.runtime.cancelInstance(local, args);
    if (how === "delete") await at.runtime.deleteInstance(local, { instanceId });
    await becomes("failed");
    expect(await context()).toMatchObject({ answers: [{ code, data: { instanceId } }] });
  });

  test.each(["leave", "terminate", "delete"])(
    "I6: %s ends the child, a suspended one too; the next entry has its own",
    async (how) => {
      await begin(parent("chart", chartInput));
      const instanceId = await kid();
      await at.runtime.suspendInstance(local, { instanceId, reason: "test" });
      if (how === "leave") await send("p", "leave");
      if (how === "terminate") await at.runtime.terminateInstance(local, { instanceId: "p", reason: "test" });
      if (how === "delete") await at.runtime.deleteInstance(local, { instanceId: "p" });
      const status = how === "leave" ? "cancelled" : "terminated";
      await vi.waitFor(async () => expect(await get(instanceId)).toMatchObject({ status }), 5_000);
      if (how === "delete") await at.runtime.startInstance(local, { chartId: "parent", id: "p" });
      else if (how === "leave") await send("p", "again");
      if (how !== "terminate")
        await vi.waitFor(async () => expect(await kids("running")).toHaveLength(1), 5_000);
    },
  );

  test("a child that nobody waits for any more is cancelled: it cleans up first; one whose parent is cancelled, too", async () => {
    for (const how of ["leave", "cancel"]) {
      await begin(parent("chart", { ...chartInput, chart: "'tidy'" }));
      const instanceId = await kid();
      if (how === "leave") await send("p", "leave");
      else await at.runtime.cancelInstance(local, { instanceId: "p", reason: "test" });
      const is = (about: object) =>
        vi.waitFor(async () => expect(await get(instanceId)).toMatchObject(about), 5_000);
      await is({ status: "cancelling", configuration: ["tidying"] });
      await send(instanceId, "tidy");
      await is({ status: "cancelled" });
      if (how === "leave") await at.end();
    }
  });

  test("a child that takes longer than the invocation's timeout is an error, and ends", async () => {
    await begin(parent("chart", chartInput, { timeout: "5s" }));
    const instanceId = await kid();
    await advance(at.database.url, 6_000);
    await becomes("failed");
    expect(await context()).toMatchObject({ answers: [{ code: "timeout" }] });
    await vi.waitFor(async () => expect(await get(instanceId)).toMatchObject({ status: "cancelled" }), 5_000);
  });

  test("the time for all attempts begins with the invocation: children that nobody began by then never begin", async () => {
    await begin(parent("chart", chartInput, { retry: { within: "5s" } }));
    const instanceId = await kid();
    const { items } = await at.runtime.listTasks(local, { instanceId: "p" });
    expect((items[0]?.dueAt ?? 0) - (items[0]?.createdAt ?? 0)).toBe(5_000);
    await advance(at.database.url, 6_000);
    await becomes("failed");
    expect(await context()).toMatchObject({ answers: [{ code: "timeout" }] });
    await vi.waitFor(async () => expect(await get(instanceId)).toMatchObject({ status: "cancelled" }), 5_000);
    await at.runtime.close();
    const idle = await at.again();
    const id = "late";
    await idle.runtime.startInstance(local, { chartId: "parent", id });
    await advance(at.database.url, 6_000);
    await vi.waitFor(async () => {
      while (await idle.runtime.workOnce());
      expect((await idle.runtime.getInstance(local, { instanceId: id })).configuration).toEqual(["failed"]);
    }, 5_000);
    expect((await idle.runtime.listInstances(local, { parent: id })).items).toEqual([]);
  });

  const each = (more: JsonObject) => parent("each", { chart: "'child'", items: "input", ...more });
  const running = async (count: number) => {
    await vi.waitFor(async () => expect(await kids("running")).toHaveLength(count), 5_000);
    const all = await Promise.all((await kids("running")).map(({ id }) => get(id)));
    return all.sort((a, b) => (a.parent?.place ?? 0) - (b.parent?.place ?? 0)).map(({ id }) => id);
  };

  test("each: one child per item, at most cap at once, results by index", async () => {
    await begin(each({ cap: 2 }), ["a", "b", "c", "d", "e"]);
    let [first, second] = await running(2);
    await send(second ?? "", "finish");
    await vi.waitFor(async () => expect(await kids()).toHaveLength(3), 5_000);
    expect(await task()).toMatchObject({ progress: { total: 5, started: 3, succeeded: 1, failed: 0 } });
    for (let ends = 1; ends < 5; ends += 1) {
      [first, second] = await running(Math.min(2, 5 - ends));
      await send(first ?? "", "finish");
    }
    await becomes("after");
    const results = ["a", "b", "c", "d", "e"].map((was) => ({ was, heard: [] }));
    expect(await context()).toMatchObject({ answers: [{ results, errors: [], succeeded: 5, failed: 0 }] });
  });

  test("each: any is decided by the first that succeeds, the others end; quorum counts", async () => {
    await begin(each({ join: "'any'" }), [1, 2, 3]);
    const [first, second, third] = await running(3);
    await at.runtime.terminateInstance(local, { instanceId: first ?? "", reason: "test" });
    await send(second ?? "", "finish");
    await becomes("after");
    expect(await context()).toMatchObject({
      answers: [{ results: [null, { was: 2 }, null], errors: [{ index: 0, code: "child-terminated" }] }],
    });
    await vi.waitFor(
      async () => expect(await get(third ?? "")).toMatchObject({ status: "cancelled" }),
      5_000,
    );
  });

  test.each([
    ["all", {}, "child-failed"],
    ["quorum", { join: { quorum: 3 } }, "join-impossible"],
  ] as const)(
    "each: a failed child ends the join of %s by policy and never hangs it",
    async (_, more, code) => {
      await begin(each(more), [1, 2, 3]);
      const [first] = await running(3);
      await send(first ?? "", "fail").catch(() => undefined);
      await becomes("failed");
      expect(await context()).toMatchObject({ answers: [{ code }] });
      await running(0);
    },
  );

  test("each: with onFailed continue all are waited for, and the failed ones told", async () => {
    await begin(each({ onFailed: "'continue'" }), [1, 2]);
    const [first, second] = await running(2);
    await send(first ?? "", "fail").catch(() => undefined);
    await send(second ?? "", "finish");
    await becomes("after");
    expect(await context()).toMatchObject({
      answers: [{ results: [null, { was: 2 }], errors: [{ index: 0, code: "child-failed" }], failed: 1 }],
    });
  });

  test("a family is read by place, in pages, with what each child is and what came of it", async () => {
    await begin(each({ onFailed: "'continue'" }), [1, 2, 3]);
    const [first, second, third] = await running(3);
    await send(first ?? "", "fail").catch(() => undefined);
    await send(second ?? "", "finish");
    const call = { instanceId: "p", taskId: (await task())?.taskId ?? "" };
    const family = await at.runtime.listChildren(local, call);
    expect(family.items).toMatchObject([
      { place: 0, status: "failed", error: { code: "child-failed" }, instance: { status: "failed" } },
      { place: 1, status: "succeeded", result: { was: 2 }, instance: { status: "completed" } },
      { place: 2, status: "running", instance: { chartId: "child", configuration: ["busy"] } },
    ]);
    expect(family.items.map(({ instanceId }) => instanceId)).toEqual([first, second, third]);
    expect(family.counts).toEqual({ running: 1, orphan: 0, succeeded: 1, failed: 1, cancelled: 0 });
    const page = await at.runtime.listChildren(local, { ...call, limit: 2 });
    const rest = await at.runtime.listChildren(local, { ...call, limit: 2, cursor: page.nextCursor ?? "" });
    expect([...page.items, ...rest.items]).toEqual(family.items);
    expect(rest.nextCursor).toBeNull();
    const failed = await at.runtime.listChildren(local, { ...call, status: "failed" });
    expect(failed.items.map(({ place }) => place)).toEqual([0]);
    await expect(at.runtime.listChildren(local, { ...call, instanceId: "no" })).rejects.toMatchObject({
      code: "not-found",
    });
    await send(third ?? "", "finish");
    await becomes("after");
  });

  test("each: no items are done at once; a wrong input is an error that says what", async () => {
    await begin(each({}), []);
    await becomes("after");
    await at.runtime.startInstance(local, { chartId: "parent", id: "q", input: "no list" });
    await becomes("failed", "q");
    expect((await get("q")).context).toMatchObject({ answers: [{ code: "bad-input" }] });
  });

  test("I9: two processes begin 300 children that end at once, each exactly once", async () => {
    await begin(parent("each", { chart: "'quick'", items: "input", cap: 40 }), [...Array(300).keys()]);
    (await at.again()).runtime.startWorkers();
    await becomes("after");
    expect(await context()).toMatchObject({ answers: [{ results: [...Array(300).keys()], succeeded: 300 }] });
    expect(await at.store.countChildren("p")).toBe(300);
  }, 20_000);
});
