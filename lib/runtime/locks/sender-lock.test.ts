import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

describe.each(providers)("settings.locking: distributed on %s", (provider) => {
  let at: TestRuntime;
  const instanceId = "c";
  const key = "instance:c";
  const add = (more: object = {}) => at.runtime.sendEvent(local, { instanceId, type: "add", ...more });
  const acquire = async (session: string) => {
    const got = await at.runtime.acquireLock(local, {
      key,
      session,
      holder: session,
      ttlMs: 30_000,
      waitMs: 20_000,
    });
    if (got.result !== "acquired") throw new Error("busy");
    return { key, session, fence: got.fence };
  };
  const seq = async () => (await at.runtime.getInstance(local, { instanceId })).seq;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "counter", { ...counter, settings: { locking: "distributed" } });
    await at.runtime.startInstance(local, { chartId: "counter", id: instanceId });
  });
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });

  test("I3: while one holds the instance's lock, nobody sends without its fence; free, anybody does", async () => {
    expect(await add()).toMatchObject({ state: "applied", seq: 2 });
    const held = await acquire("a");
    await expect(add()).rejects.toMatchObject({ code: "lock-busy", details: { key, holder: "a" } });
    const events = [{ type: "add" }, { type: "add" }];
    await expect(at.runtime.sendEvents(local, { instanceId, events })).rejects.toMatchObject({
      code: "lock-busy",
    });
    expect(await seq()).toBe(2);
    expect(await add({ fences: [held] })).toMatchObject({ seq: 3 });
    expect(await at.runtime.sendEvents(local, { instanceId, events, fences: [held] })).toMatchObject({
      seq: 5,
    });
    await at.runtime.releaseLock(local, held);
    expect(await add()).toMatchObject({ seq: 6 });
    await expect(add({ fences: [held] })).rejects.toMatchObject({ code: "stale-fence" });
  });

  test("operators' verbs pass, and so does what the instance is owed", async () => {
    await acquire("a");
    await at.runtime.suspendInstance(local, { instanceId, reason: "r" });
    await at.runtime.resumeInstance(local, { instanceId, reason: "r" });
    expect(await seq()).toBe(3);
  });

  test("I3: between a grant and its release no one else's event lands, however many try", async () => {
    let done = false;
    const outsiders = Array.from({ length: 4 }, async () => {
      while (!done) await add({ data: "outside" }).catch(() => undefined);
    });
    const mine: number[][] = [];
    for (let round = 0; round < 6; round += 1) {
      const held = await acquire(`s${round}`);
      const first = await add({ fences: [held], waitMs: 20_000 });
      const second = await add({ fences: [held], waitMs: 20_000 });
      mine.push([first.seq ?? 0, second.seq ?? 0]);
      await at.runtime.releaseLock(local, held);
    }
    done = true;
    await Promise.all(outsiders);
    for (const [first = 0, second = 0] of mine) expect(second).toBe(first + 1);
  });
});
