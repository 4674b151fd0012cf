import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";

/** One at a time for each crane; its name is the business key. */
const job: JsonObject = {
  lockstep: 1,
  settings: { concurrencyKey: "input.crane", businessKey: "input.name", errors: "stop" },
  context: { moves: 0 },
  initial: "lifting",
  states: {
    lifting: {
      on: {
        move: { actions: { assign: { moves: "context.moves + 1" } } },
        drop: { actions: { assign: { moves: "context.nothing" } } },
        done: "lowered",
      },
    },
    lowered: { type: "final" },
  },
};

describe.each(providers)("concurrency keys of instances on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const begin = async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "job", job);
    at.runtime.startWorkers();
  };
  const start = (id: string, crane: string | number = "c1") =>
    at.runtime.startInstance(local, { chartId: "job", id, input: { crane, name: `order ${id}` } });
  const send = (instanceId: string, type: string) => at.runtime.sendEvent(local, { instanceId, type });
  const get = (instanceId: string) => at.runtime.getInstance(local, { instanceId });
  const becomes = (id: string, status: string) =>
    vi.waitFor(async () => expect(await get(id)).toMatchObject({ status }), 5_000);
  const control = { reason: "test" };
  const log = async (instanceId: string) =>
    (await at.runtime.getLog(local, { instanceId })).items.map(({ type }) => type).reverse();

  test("I1: of one key one instance is under way, the others begin in the order they were started; another key goes beside", async () => {
    await begin();
    expect(await start("a")).toMatchObject({
      status: "running",
      concurrencyKey: "c1",
      blockedBy: null,
      businessKey: "order a",
    });
    expect(await start("b")).toMatchObject({ status: "queued", blockedBy: "a", configuration: [], seq: 0 });
    await start("c");
    expect(await start("d", "c2")).toMatchObject({ status: "running" });
    // What is sent meanwhile waits, in order, behind the start.
    expect(await send("b", "move")).toMatchObject({ state: "queued", status: "queued" });
    await send("b", "done");
    const { items } = await at.runtime.listInstances(local, { status: "queued" });
    expect(items.map(({ id, blockedBy }) => [id, blockedBy])).toEqual([
      ["c", "a"],
      ["b", "a"],
    ]);
    expect(await at.runtime.getState(local, { instanceId: "b" })).toMatchObject({
      seq: 0,
      status: "queued",
      configuration: [],
      hashMatches: true,
    });
    await send("a", "done");
    await becomes("b", "completed");
    expect(await log("b")).toEqual(["start", "move", "done"]);
    expect(await get("b")).toMatchObject({ context: { moves: 1 } });
    expect(await at.runtime.getState(local, { instanceId: "b" })).toMatchObject({ hashMatches: true });
    await becomes("c", "running");
    await send("c", "done");
    await vi.waitFor(async () => expect(await at.store.findFreeKeys("chart", 9)).toEqual([]), 5_000);
    expect(await start("e")).toMatchObject({ status: "running" });
  });

  test("a suspended one keeps its key; one that fails, is terminated or deleted gives it up", async () => {
    await begin();
    await start("a");
    await at.runtime.suspendInstance(local, { instanceId: "a", ...control });
    for (const id of ["b", "c", "d", "e"]) expect(await start(id)).toMatchObject({ status: "queued" });
    await at.runtime.terminateInstance(local, { instanceId: "a", ...control });
    await becomes("b", "running");
    await send("b", "drop").catch(() => undefined);
    await becomes("b", "failed");
    await becomes("c", "running");
    await at.runtime.deleteInstance(local, { instanceId: "c" });
    await becomes("d", "running");
    await at.runtime.cancelInstance(local, { instanceId: "d", ...control });
    await becomes("e", "running");
  });

  test("one in line that is cancelled, terminated or deleted leaves it, and its start with it", async () => {
    await begin();
    await start("a");
    for (const id of ["b", "c", "d", "e"]) await start(id);
    await send("b", "move");
    await at.runtime.cancelInstance(local, { instanceId: "b", ...control });
    await at.runtime.terminateInstance(local, { instanceId: "c", ...control });
    await at.runtime.deleteInstance(local, { instanceId: "d" });
    expect(await at.runtime.getState(local, { instanceId: "d", seq: 1 })).toMatchObject({
      hashMatches: true,
    });
    expect(await get("b")).toMatchObject({ status: "cancelled", configuration: [] });
    for (const instanceId of ["b", "c"]) {
      expect(await log(instanceId)).toHaveLength(1);
      expect(await at.runtime.getState(local, { instanceId })).toMatchObject({ hashMatches: true });
    }
    const letters = await at.runtime.listDeadLetters(local, { instanceId: "b" });
    expect(letters.items).toMatchObject([{ type: "move", reason: "instance-ended" }]);
    await send("a", "done");
    await becomes("e", "running");
    // Its id is free for another life, in the line anew.
    expect(await start("d")).toMatchObject({ status: "queued", blockedBy: "e" });
    await send("e", "done");
    await becomes("d", "running");
    expect(await at.runtime.getState(local, { instanceId: "d" })).toMatchObject({ hashMatches: true });
  });

  test("one in line is moved to another version, and begins in that", async () => {
    await begin();
    await start("a");
    await start("b");
    await send("b", "move");
    await publishNext(at.runtime, "job", { ...job, context: { moves: 10 } });
    const moved = await at.runtime.migrateInstance(local, { instanceId: "b", version: 2, ...control });
    expect(moved).toMatchObject({ status: "queued", version: 2 });
    await send("a", "done");
    await vi.waitFor(async () => expect(await get("b")).toMatchObject({ context: { moves: 11 } }), 5_000);
    expect(await log("b")).toEqual(["migrate", "start", "move"]);
    expect(await at.runtime.getState(local, { instanceId: "b" })).toMatchObject({ hashMatches: true });
  });

  test("a lock on it does not keep it from beginning when its key is free", async () => {
    await begin();
    const settings = { concurrencyKey: "input.crane", locking: "distributed" };
    await publish(at.runtime, "job-locked", { ...job, settings });
    const ask = (id: string) =>
      at.runtime.startInstance(local, { chartId: "job-locked", id, input: { crane: "c1", name: id } });
    await ask("a");
    await ask("b");
    await at.runtime.acquireLock(local, { key: "instance:b", session: "s", holder: "h", ttlMs: 60_000 });
    await at.runtime.terminateInstance(local, { instanceId: "a", ...control });
    await becomes("b", "running");
    const sent = { type: "done", fences: [{ key: "instance:b", session: "s", fence: 1 }] };
    await at.runtime.sendEvent(local, { instanceId: "b", ...sent });
    await becomes("b", "completed");
  });

  test("a parent whose queued child is ended hears of its end alone", async () => {
    await begin();
    await publish(at.runtime, "parent", {
      lockstep: 1,
      initial: "waiting",
      states: {
        waiting: {
          invoke: {
            id: "kid",
            src: "chart",
            input: { chart: "'job'", id: "'kid'", input: { crane: "'c1'", name: "'kid'" } },
          },
          on: { "error.invoke.kid": "alone" },
        },
        alone: {},
      },
    });
    await start("a");
    await at.runtime.startInstance(local, { chartId: "parent", id: "p" });
    await becomes("kid", "queued");
    await at.runtime.terminateInstance(local, { instanceId: "kid", ...control });
    await vi.waitFor(async () => expect(await get("p")).toMatchObject({ configuration: ["alone"] }), 5_000);
    expect(await log("p")).toEqual(["start", "error.invoke.kid"]);
  });

  test("a redriven one queues again and goes on from where it failed when its key is free", async () => {
    await begin();
    await start("a");
    await send("a", "drop").catch(() => undefined);
    await becomes("a", "failed");
    await start("b");
    await becomes("b", "running");
    const reset = at.runtime.resetInstance(local, { instanceId: "a", seq: 1, ...control });
    await expect(reset).rejects.toMatchObject({ code: "wrong-status", details: { concurrencyKey: "c1" } });
    expect(await at.runtime.redriveInstance(local, { instanceId: "a", ...control })).toMatchObject({
      status: "queued",
    });
    expect(await get("a")).toMatchObject({ status: "queued", blockedBy: "b" });
    await send("b", "done");
    // Its event fails again.
    await becomes("a", "failed");
    expect(await log("a")).toEqual(["start", "drop", "redrive", "redrive", "drop"]);
    expect(await at.runtime.getState(local, { instanceId: "a" })).toMatchObject({ hashMatches: true });
    await vi.waitFor(async () => expect(await at.store.findFreeKeys("chart", 9)).toEqual([]), 5_000);
    await at.runtime.resetInstance(local, { instanceId: "a", seq: 1, ...control });
    expect(await get("a")).toMatchObject({ status: "running" });
    expect(await start("c")).toMatchObject({ status: "queued", blockedBy: "a" });
  });

  test("children wait for their key as well; one whose key can't be told is refused", async () => {
    await begin();
    const items = [1, 2, 3].map((each) => ({ crane: "c9", name: String(each) }));
    await publish(at.runtime, "fleet", {
      lockstep: 1,
      initial: "all",
      context: { items: items as never },
      states: {
        all: {
          invoke: { id: "jobs", src: "each", input: { chart: "'job'", items: "context.items" } },
          on: { "done.invoke.jobs": "end", "error.invoke.jobs": "failed" },
        },
        end: { type: "final" },
        failed: {},
      },
    });
    await at.runtime.startInstance(local, { chartId: "fleet", id: "f" });
    for (let done = 0; done < 3; done += 1) {
      const underWay = await vi.waitFor(async () => {
        const { items: all } = await at.runtime.listInstances(local, { chartId: "job", status: "running" });
        expect(all).toHaveLength(1);
        return all[0]?.id ?? "";
      }, 5_000);
      await send(underWay, "done");
    }
    await becomes("f", "completed");
    const refused = at.runtime.startInstance(local, { chartId: "job", input: {} });
    await expect(refused).rejects.toMatchObject({
      code: "bad-request",
      details: { setting: "settings/concurrencyKey" },
    });
    await publish(at.runtime, "broken", {
      lockstep: 1,
      initial: "all",
      states: {
        all: {
          invoke: {
            id: "jobs",
            src: "each",
            input: { chart: "'job'", items: [{ crane: "'c1'", name: "'x'" }, {}] },
          },
          on: { "error.invoke.jobs": "failed" },
        },
        failed: {},
      },
    });
    await at.runtime.startInstance(local, { chartId: "broken", id: "g" });
    await vi.waitFor(async () => expect(await get("g")).toMatchObject({ configuration: ["failed"] }), 5_000);
  });

  test("I9: many at once through two processes: never two of a key under way, and none is left waiting", async () => {
    await begin();
    const other = await at.again();
    other.runtime.startWorkers();
    const ids = Array.from({ length: 24 }, (_, index) => `r${index}`);
    await Promise.all(
      ids.map((id, index) =>
        (index % 2 ? at : other).runtime.startInstance(local, {
          chartId: "job",
          id,
          input: { crane: `c${index % 3}`, name: id },
        }),
      ),
    );
    for (let ended = 0; ended < ids.length;) {
      const { items } = await at.runtime.listInstances(local, { chartId: "job", status: "running" });
      const keys = items.map(({ concurrencyKey }) => concurrencyKey);
      expect(new Set(keys).size).toBe(keys.length);
      for (const { id } of items) await send(id, "done");
      ended += items.length;
      if (items.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const { items } = await at.runtime.listInstances(local, {
      chartId: "job",
      status: "completed",
      limit: 100,
    });
    expect(items).toHaveLength(ids.length);
  }, 30_000);
});
