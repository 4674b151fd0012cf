/**
 * What instances wait for, on one of them and in lists, on both databases.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import type { Condition } from "./instance-views";

const working = (invoke: JsonObject): JsonObject => ({
  lockstep: 1,
  tasks: { debit: {} },
  initial: "at",
  states: { at: { invoke, on: { leave: "away" } }, away: { on: { back: "at" } } },
});
const charts: Record<string, JsonObject> = {
  charge: working({ id: "pay", src: "debit" }),
  ask: working({ id: "ask", src: "human", input: { title: "'Well?'" } }),
  zone: working({ id: "hold", src: "lock", input: { keys: "['Z']", wait: "'20s'" } }),
  parent: working({ id: "leg", src: "chart", input: { chart: "'charge'" } }),
  call: working({ id: "get", src: "http", input: { url: "'http://shop.example/'" } }),
  one: { ...working({ id: "pay", src: "debit" }), settings: { concurrencyKey: "'crane'" } },
  brief: {
    ...{ lockstep: 1, tasks: { debit: {} }, initial: "at" },
    states: {
      at: { invoke: { id: "pay", src: "debit" }, on: { left: "away" }, entry: { raise: { type: "left" } } },
      away: {},
    },
  },
  keyed: working({ id: "pay", src: "debit", concurrencyKey: "'till'" }),
  plain: { lockstep: 1, initial: "a", states: { a: {} } },
};

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    const why = { code: "breaker-open", message: "shop.example failed again and again" };
    at = await freshRuntime(provider, {
      invocations: {
        byType: { http: () => Promise.resolve({ postponeMs: 60_000, why }) },
        note: () => null,
        breakers: () => [],
        resetBreaker: () => undefined,
      },
    });
    for (const [id, chart] of Object.entries(charts)) await publish(at.runtime, id, chart);
  });
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const start = (chartId: string, id = chartId) => at.runtime.startInstance(local, { chartId, id });
  const send = (instanceId: string, type: string) => at.runtime.sendEvent(local, { instanceId, type });
  const of = async (instanceId: string) => (await at.runtime.getInstance(local, { instanceId })).conditions;
  const becomes = (instanceId: string, condition: Partial<Condition>) =>
    vi.waitFor(async () => expect(await of(instanceId)).toMatchObject([condition]), 5_000);
  const find = async (condition: Condition["for"]) =>
    (await at.runtime.listInstances(local, { condition })).items.map(({ id }) => id);

  test("a task is waited for: until a worker takes it, while it works, until it is tried again", async () => {
    await start("charge");
    const task = { for: "task", taskId: "1:pay", of: "debit", by: null, until: null };
    expect(await of("charge")).toEqual([{ ...task, reason: "a worker that takes pay (debit)" }]);
    const claim = async () =>
      (await at.runtime.claimTasks(local, { types: ["debit"], workerId: "w1", waitMs: 0 })).tasks;
    const [mine] = await claim();
    expect(await of("charge")).toMatchObject([{ by: "w1", reason: "pay (debit): w1 is at attempt 1 of 5" }]);
    const error = { code: "closed", message: "" };
    const { readyAt } = await at.runtime.failTask(local, { token: mine?.token ?? "", error });
    expect(await of("charge")).toMatchObject([
      { by: null, until: readyAt, reason: "pay (debit): tried again after 1 of 5 attempts" },
    ]);
    expect(await find("task")).toEqual(["charge"]);
    await send("charge", "leave");
    expect(await of("charge")).toEqual([]);
    expect(await find("task")).toEqual([]);
  });

  test("a person, a child, a lock with its holder and a breaker are told apart, one by one and in lists", async () => {
    at.runtime.startWorkers();
    for (const id of ["ask", "parent", "call", "plain"]) await start(id);
    await start("zone", "first");
    await vi.waitFor(async () => expect(await of("first")).toEqual([]), 5_000);
    await start("zone", "second");
    await becomes("second", { for: "lock", of: "Z", by: "first", reason: "the lock Z, which first holds" });
    await becomes("call", { for: "breaker", reason: "get: shop.example failed again and again" });
    expect((await of("call"))[0]?.until).toBeGreaterThan(0);
    await becomes("parent", { for: "child", reason: "what leg invoked: an instance" });
    expect(await of("ask")).toMatchObject([{ for: "human", by: null, reason: "a person’s answer to ask" }]);
    await at.runtime.takeTask(local, { instanceId: "ask", taskId: "1:ask", how: "take" });
    expect(await of("ask")).toMatchObject([{ by: "local", reason: "local’s answer to ask" }]);
    expect(await of("plain")).toEqual([]);
    const { items } = await at.runtime.listInstances(local, {});
    for (const { id, conditions } of items) expect(conditions, id).toEqual(await of(id));
    expect(await find("human")).toEqual(["ask"]);
    expect(await find("lock")).toEqual(["second"]);
    expect(await find("breaker")).toEqual(["call"]);
    expect(await find("child")).toEqual(["parent"]);
    expect(await find("task")).toHaveLength(1);
    await send("first", "leave");
    await vi.waitFor(async () => expect(await find("lock")).toEqual([]), 5_000);
  });

  test("the answer to a start, and a repeat's, tell it at once, as reading it does", async () => {
    for (const chartId of ["charge", "ask", "zone", "parent", "plain"]) {
      const call = { chartId, id: chartId, idempotencyKey: chartId };
      const { conditions } = await at.runtime.startInstance(local, call);
      expect(conditions, chartId).toEqual(await of(chartId));
      expect(conditions).toHaveLength(chartId === "plain" ? 0 : 1);
      await send(chartId, "leave");
      expect((await at.runtime.startInstance(local, call)).conditions).toEqual(conditions);
    }
    expect((await start("brief")).conditions).toEqual([]);
    const keyed = await start("keyed");
    expect(keyed.conditions).toMatchObject([
      { taskId: "1:pay", reason: "a worker that takes pay (debit), once it has the concurrency key till" },
    ]);
  });

  test("the answer to a fork tells what it invoked itself", async () => {
    await start("charge");
    await send("charge", "leave");
    await send("charge", "back");
    const reason = "to try it";
    const fork = { instanceId: "charge", reason, seq: 1 };
    expect((await at.runtime.forkInstance(local, fork)).conditions).toEqual([]);
    const made = await at.runtime.forkInstance(local, { ...fork, laterEvents: true });
    expect(made.conditions).toMatchObject([{ for: "task", taskId: "2:pay" }]);
    expect(made.conditions).toEqual(await of(made.id));
  });

  test("a lock that cools is waited for until a time that is told", async () => {
    const mine = { key: "Z", session: "s" };
    await at.runtime.acquireLock(local, { ...mine, holder: "h", coolMs: 60_000 });
    await at.runtime.releaseLock(local, { ...mine, fence: 1 });
    const { coolUntil } = await at.runtime.getLock(local, { key: "Z" });
    await at.runtime.acquireLock(local, { ...mine, holder: "h" });
    at.runtime.startWorkers();
    await start("zone");
    await becomes("zone", { by: "h", until: null, reason: "the lock Z, which h holds" });
    await at.runtime.releaseLock(local, { ...mine, fence: 2 });
    const reason = `the lock Z, cooling until ${new Date(coolUntil ?? 0).toISOString()}`;
    await becomes("zone", { for: "lock", of: "Z", by: null, until: coolUntil, reason });
  });

  test("one in line for its concurrency key is found, with who has it; an end or a deletion ends every wait", async () => {
    await start("one", "a");
    expect(await start("one", "b")).toMatchObject({
      status: "queued",
      conditions: [
        { for: "key", taskId: null, of: "crane", by: "a", reason: "the concurrency key crane, which a has" },
      ],
    });
    expect(await find("key")).toEqual(["b"]);
    expect(await find("task")).toEqual(["a"]);
    const selection = { filter: { condition: "task" as const } };
    expect(await at.runtime.countBatch(local, { selection })).toMatchObject({ count: 1 });
    await at.runtime.terminateInstance(local, { instanceId: "a", reason: "r" });
    expect(await find("task")).toEqual([]);
    await start("charge");
    await at.runtime.deleteInstance(local, { instanceId: "charge" });
    expect(await find("task")).toEqual([]);
  });
});
