import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { advance, providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { checkpointOf } from "./lock-checkpoint";
import { foldLockLog } from "./lock-rules";

const key = "Z";

describe.each(providers)("longest holds and cooling on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
  });
  afterEach(async () => {
    // I7
    for (const { key: name } of await at.store.listLocks({ status: "all" }, null, 100, 0)) {
      const log = (await at.store.listLockLog(name, null, 10_000)).reverse();
      const [row] = await at.store.findLocks([name]);
      expect(foldLockLog(name, log)).toEqual(row);
    }
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const acquire = (session: string, args: object = {}) =>
    at.runtime.acquireLock(local, { key, session, holder: `h-${session}`, ...args });
  const renew = (fence: number) => at.runtime.renewLock(local, { key, session: "a", fence });
  const release = (session: string, fence: number) => at.runtime.releaseLock(local, { key, session, fence });
  const lock = () => at.runtime.getLock(local, { key });
  const types = async () =>
    (await at.runtime.getLockLog(local, { key, limit: 50 })).items.map(({ type }) => type).reverse();

  test("renewals go no further than the longest hold; then the lock is lost, and the next has it", async () => {
    await acquire("a", { ttlMs: 30_000, holdMaxMs: 50_000 });
    const { holdUntil, acquiredAt } = await lock();
    expect((holdUntil ?? 0) - (acquiredAt ?? 0)).toBe(50_000);
    await advance(at.database.url, 25_000);
    const last = await renew(1);
    expect(last.expiresAt).toBe(holdUntil);
    expect(last.leftMs).toBeLessThanOrEqual(25_000);
    await advance(at.database.url, 26_000);
    await expect(renew(1)).rejects.toMatchObject({ code: "lock-lost", details: { reason: "hold-over" } });
    expect(await acquire("b")).toMatchObject({ result: "acquired", fence: 2 });
    expect(await lock()).toMatchObject({ holdUntil: null });
  });

  test("I4: what was asked for beside the lease is part of the call", async () => {
    const call = (more: object) => acquire("a", { idempotencyKey: "k", ...more });
    await call({ coolMs: 5_000 });
    expect(await call({ coolMs: 5_000 })).toMatchObject({ replayed: true });
    for (const more of [{}, { coolMs: 6_000 }, { coolMs: 5_000, holdMaxMs: 5_000 }])
      await expect(call(more)).rejects.toMatchObject({ code: "idempotency-key-reuse" });
  });

  test("who waits while a lock cools is seen to, is not served before its time, and then without anyone asking", async () => {
    at.runtime.startWorkers();
    await acquire("a", { coolMs: 60_000 });
    const waits = acquire("b", { waitMs: 25_000, coolMs: 5_000 });
    await vi.waitFor(async () => expect((await lock()).queue).toMatchObject([{ waitsFor: "holder" }]), 5_000);
    await release("a", 1);
    const seen = await lock();
    expect(seen).toMatchObject({ status: "free", queue: [{ session: "b", waitsFor: "cooling" }] });
    expect((seen.coolUntil ?? 0) - seen.now).toBeGreaterThan(50_000);
    expect(await acquire("c")).toMatchObject({ result: "busy", coolUntil: seen.coolUntil, position: 2 });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await lock()).toMatchObject({ status: "free" });
    // Its call's own time is another clock's: the database's must not end its wait.
    await at.store.transaction(async (tx) => {
      const row = await tx.lockLock(key);
      const [place] = await tx.readWaiters(key);
      if (!place) throw new Error("b waits");
      const later = {
        ...place,
        givesUpAt: place.givesUpAt + 120_000,
        heartbeatAt: place.heartbeatAt + 120_000,
      };
      await tx.writeLock({ row, log: [], left: [place], joined: [later], answer: null });
    });
    await advance(at.database.url, 60_000);
    expect(await waits).toMatchObject({ result: "acquired", fence: 2 });
    expect((await types()).slice(-3)).toEqual(["RELEASED", "COOLED", "HANDOFF"]);
    // What it asked for itself counts from its own grant on.
    await release("b", 2);
    expect(await acquire("c")).toMatchObject({ result: "busy" });
    await advance(at.database.url, 5_000);
    expect(await acquire("c")).toMatchObject({ result: "acquired", fence: 3 });
  });

  test("I3: a lock that was force-released or ran out cools too, and its log tells so", async () => {
    await acquire("a", { coolMs: 10_000 });
    await at.runtime.forceReleaseLock(local, { key, expectedFence: 1, reason: "gone" });
    expect(await acquire("b")).toMatchObject({ result: "busy" });
    await advance(at.database.url, 10_000);
    await acquire("b", { ttlMs: 5_000, coolMs: 10_000 });
    await advance(at.database.url, 6_000);
    expect(await acquire("c")).toMatchObject({ result: "busy" });
    expect(await types()).toContain("EXPIRED");
    await advance(at.database.url, 9_000);
    expect(await acquire("c")).toMatchObject({ result: "acquired", fence: 4 });
  });

  test("the database's clock set back ends no cooling early; the session that had it need not wait", async () => {
    await acquire("a", { coolMs: 10_000 });
    await release("a", 1);
    await advance(at.database.url, -5_000);
    expect(await acquire("b")).toMatchObject({ result: "busy" });
    expect(await acquire("a")).toMatchObject({ result: "acquired", fence: 2 });
  });

  test("of several locks one that cools keeps all of them from being had, and no longer", async () => {
    at.runtime.startWorkers();
    await acquire("a", { coolMs: 600 });
    await release("a", 1);
    const both = { keys: ["Y", key], session: "b", holder: "b" };
    expect(await at.runtime.acquireLocks(local, both)).toMatchObject({ result: "busy", locks: [{ key }] });
    const waits = at.runtime.acquireLocks(local, { ...both, waitMs: 20_000 });
    await vi.waitFor(async () => {
      expect((await at.runtime.getLock(local, { key: "Y" })).queue).toMatchObject([{ waitsFor: "keys" }]);
    });
    expect(await waits).toMatchObject({ result: "acquired", locks: [{ fence: 1 }, { fence: 2 }] });
  });

  test("a free lock is listed with those in use while it cools or somebody waits for it, then no more", async () => {
    const listed = async () => (await at.runtime.listLocks(local, {})).items.map(({ key: name }) => name);
    await acquire("a", { coolMs: 10_000 });
    await at.runtime.acquireLock(local, { key: "held", session: "b", holder: "b", ttlMs: 3_600_000 });
    await release("a", 1);
    expect(await listed()).toEqual(["Z", "held"]);
    expect(await lock()).toMatchObject({ status: "free", coolMs: null });
    await advance(at.database.url, 10_000);
    expect(await listed()).toEqual(["held"]);
    const both = { keys: ["free", "held"], session: "c", holder: "c", waitMs: 20_000 };
    const waits = at.runtime.acquireLocks(local, both);
    await vi.waitFor(async () => expect(await listed()).toEqual(["free", "held"]), 5_000);
    await at.runtime.releaseLock(local, { key: "held", session: "b", fence: 1 });
    await waits;
  });

  test("a state waits for its cooling, and is given it then", async () => {
    await publish(at.runtime, "keeper", {
      lockstep: 1,
      initial: "wants",
      states: {
        wants: { invoke: { id: "z", src: "lock", input: { keys: "'Z'" } }, on: { "done.invoke.z": "has" } },
        has: {},
      },
    });
    at.runtime.startWorkers();
    await acquire("a", { coolMs: 700 });
    await release("a", 1);
    const until = (await lock()).coolUntil ?? Infinity;
    await at.runtime.startInstance(local, { chartId: "keeper", id: "k" });
    await vi.waitFor(
      async () =>
        expect(await at.runtime.getInstance(local, { instanceId: "k" })).toMatchObject({
          configuration: ["has"],
        }),
      5_000,
    );
    const { items } = await at.runtime.getLockLog(local, { key });
    const granted = items.find(({ type }) => type === "HANDOFF");
    expect(granted).toMatchObject({ holder: "k" });
    expect(granted?.at).toBeGreaterThanOrEqual(until);
  });

  test("I3: nobody sends to a distributed instance while the lock on it cools", async () => {
    await publish(at.runtime, "counter", { ...counter, settings: { locking: "distributed" } });
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    const add = () => at.runtime.sendEvent(local, { instanceId: "c", type: "add" });
    const mine = { key: "instance:c", session: "a" };
    await at.runtime.acquireLock(local, { ...mine, holder: "a", coolMs: 30_000 });
    await at.runtime.releaseLock(local, { ...mine, fence: 1 });
    await expect(add()).rejects.toMatchObject({
      code: "lock-busy",
      message: expect.stringContaining("the lock instance:c cools down") as string,
      details: { holder: null, expiresAt: null, coolUntil: expect.any(Number) as number },
    });
    await advance(at.database.url, 30_000);
    expect(await add()).toMatchObject({ outcome: "handled" });
  });

  test("I7: a checkpoint of a log that cools, or has a longest hold, still gives the row", async () => {
    const folded = async () => {
      const log = (await at.store.listLockLog(key, null, 100)).reverse();
      expect(foldLockLog(key, [checkpointOf(key, log)])).toEqual((await at.store.findLocks([key]))[0]);
    };
    await acquire("a", { coolMs: 60_000, holdMaxMs: 90_000 });
    await folded();
    await release("a", 1);
    await folded();
  });
});
