import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { advance, providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { foldLockLog } from "./lock-rules";

describe.each(providers)("locks on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
  });
  afterEach(async () => {
    await foldsMatch();
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const acquire = (session: string, args: object = {}) =>
    at.runtime.acquireLock(local, { key: "zone/1", session, holder: `h-${session}`, ...args });
  const lock = () => at.runtime.getLock(local, { key: "zone/1" });

  /** I7: every lock's row is the fold of its log. */
  async function foldsMatch(): Promise<void> {
    for (const { key } of await at.store.listLocks({ status: "all" }, null, 100, 0)) {
      const log = (await at.store.listLockLog(key, null, 10_000)).reverse();
      const [row] = await at.store.findLocks([key]);
      expect(foldLockLog(key, log)).toEqual(row);
    }
  }

  test("however many ask for a lock whose row another process holds, the others find a connection", async () => {
    if (provider === "sqlite") return; // One writer: nobody holds a row while another writes.
    await acquire("first");
    const { store } = await at.again();
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const holder = store.transaction(async (tx) => {
      await tx.lockLock("zone/1");
      await held;
    });
    const asking = Array.from({ length: 30 }, (_, n) => acquire(`s${n}`));
    const other = { key: "zone/2", session: "o", holder: "o" };
    expect(await at.runtime.acquireLock(local, other)).toMatchObject({ result: "acquired" });
    letGo();
    await holder;
    expect((await Promise.all(asking)).map(({ result }) => result)).toEqual(Array(30).fill("busy"));
  });

  test("of 16 that race from two processes one wins, and no fence is given twice", async () => {
    const other = await at.again();
    for (let round = 1; round <= 3; round += 1) {
      const tries = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          (n % 2 ? at.runtime : other.runtime).acquireLock(local, {
            key: "zone/1",
            session: `s${n}`,
            holder: `h${n}`,
          }),
        ),
      );
      const won = tries.filter((each) => each.result === "acquired");
      expect(won).toHaveLength(1);
      expect(won[0]).toMatchObject({ fence: round, valid: true, replayed: false });
      const { session } = await lock();
      expect(
        await at.runtime.releaseLock(local, { key: "zone/1", session: session ?? "", fence: round }),
      ).toMatchObject({ result: "released" });
    }
  });

  test("who waits is served in order when the lock comes free, also across processes", async () => {
    const other = await at.again();
    await acquire("a");
    const served: string[] = [];
    const waiting = [];
    for (const [n, session] of ["b", "c", "d"].entries()) {
      const runtime = n % 2 ? at.runtime : other.runtime;
      waiting.push(
        runtime
          .acquireLock(local, { key: "zone/1", session, holder: session, waitMs: 10_000 })
          .then(async (granted) => {
            served.push(session);
            if (granted.result !== "acquired") throw new Error(`${session} was not served`);
            await runtime.releaseLock(local, { key: "zone/1", session, fence: granted.fence });
          }),
      );
      await vi.waitFor(async () => expect((await lock()).queue).toHaveLength(n + 1), 3_000);
    }
    expect(await at.runtime.listLocks(local, {})).toMatchObject({
      held: 1,
      waiting: 3,
      items: [{ waiters: 3 }],
    });
    await at.runtime.releaseLock(local, { key: "zone/1", session: "a", fence: 1 });
    await Promise.all(waiting);
    expect(served).toEqual(["b", "c", "d"]);
    expect(await lock()).toMatchObject({ status: "free", fence: 4, queue: [] });
  });

  test("who waits in vain is told, and leaves the queue", async () => {
    await acquire("a");
    expect(await acquire("b", { waitMs: 200 })).toMatchObject({ result: "busy", holder: "h-a", position: 1 });
    expect((await lock()).queue).toEqual([]);
    const { items } = await at.runtime.getLockLog(local, { key: "zone/1", limit: 1 });
    expect(items[0]).toMatchObject({ type: "WAIT_TIMEOUT", session: "b" });
  });

  test("a lease that runs out is logged and handed on without anyone asking", async () => {
    at.runtime.startWorkers();
    await acquire("a", { ttlMs: 60_000 });
    expect(await lock()).toMatchObject({ status: "held", health: "healthy" });
    await advance(at.database.url, 40_000);
    expect(await lock()).toMatchObject({ status: "held", health: "late" });
    await advance(at.database.url, 30_000);
    expect(await lock()).toMatchObject({ status: "expired", health: "expired", holder: "h-a" });
    await vi.waitFor(async () => {
      const { items } = await at.runtime.getLockLog(local, { key: "zone/1", limit: 1 });
      expect(items[0]?.type).toBe("EXPIRED");
    }, 3_000);
    await expect(
      at.runtime.renewLock(local, { key: "zone/1", session: "a", fence: 1 }),
    ).rejects.toMatchObject({
      code: "lock-lost",
      details: { reason: "expired" },
    });
    expect(await acquire("b")).toMatchObject({ result: "acquired", fence: 2 });
    await expect(
      at.runtime.renewLock(local, { key: "zone/1", session: "a", fence: 1 }),
    ).rejects.toMatchObject({
      code: "lock-lost",
      details: { reason: "superseded" },
    });
  });

  test("who renews what was never given is told so, not of another holder", async () => {
    const renew = (session: string, fence: number, key = "zone/1") =>
      at.runtime.renewLock(local, { key, session, fence });
    await acquire("a");
    await expect(renew("a", 7)).rejects.toThrow("that fence was never given (the newest is 1)");
    await expect(renew("nobody", 1)).rejects.toThrow("that fence was given to another session");
    await expect(renew("a", 1, "zone/none")).rejects.toMatchObject({
      code: "lock-lost",
      details: { reason: "never-given", newest: 0 },
    });
  });

  test("I4: lock commands are safe to repeat, and a replay says whether the grant still holds", async () => {
    const first = await acquire("a", { idempotencyKey: "1" });
    expect(await acquire("a", { idempotencyKey: "1" })).toEqual({ ...first, replayed: true });
    await expect(acquire("a", { idempotencyKey: "1", ttlMs: 5_000 })).rejects.toMatchObject({
      code: "idempotency-key-reuse",
    });
    const give = { key: "zone/1", session: "a", fence: 1, idempotencyKey: "2" };
    expect(await at.runtime.releaseLock(local, give)).toMatchObject({ result: "released", replayed: false });
    expect(await at.runtime.releaseLock(local, give)).toMatchObject({ result: "released", replayed: true });
    expect(await acquire("a", { idempotencyKey: "1" })).toMatchObject({
      fence: 1,
      replayed: true,
      valid: false,
    });
    await acquire("b");
    // busy was not kept: with the same key it may be tried again.
    expect(await acquire("c", { idempotencyKey: "3" })).toMatchObject({ result: "busy" });
    await at.runtime.releaseLock(local, { key: "zone/1", session: "b", fence: 2 });
    expect(await acquire("c", { idempotencyKey: "3" })).toMatchObject({ result: "acquired", fence: 3 });
  });

  test("I4: a renewal repeated with its key is done once, and says whether the grant still holds, and how long", async () => {
    await acquire("a", { ttlMs: 30_000 });
    const again = () =>
      at.runtime.renewLock(local, {
        key: "zone/1",
        session: "a",
        fence: 1,
        ttlMs: 60_000,
        idempotencyKey: "r",
      });
    const first = await again();
    expect(first).toMatchObject({ leftMs: 60_000, replayed: false, valid: true });
    await advance(at.database.url, 20_000);
    const second = await again();
    expect(second).toEqual({ ...first, leftMs: second.leftMs, replayed: true });
    expect(second.leftMs).toBeLessThanOrEqual(40_000);
    expect(second.leftMs).toBeGreaterThan(30_000);
    await advance(at.database.url, 41_000);
    expect(await again()).toEqual({ ...first, leftMs: 0, replayed: true, valid: false });
    await acquire("b");
    expect(await again()).toMatchObject({ fence: 1, leftMs: 0, replayed: true, valid: false });
    const { items } = await at.runtime.getLockLog(local, { key: "zone/1" });
    expect(items.filter(({ type }) => type === "RENEWED")).toHaveLength(1);
  });

  test("force-release compares the fence, says what it did, is audited and safe to repeat", async () => {
    await acquire("a");
    const force = (expectedFence: number, idempotencyKey?: string) =>
      at.runtime.forceReleaseLock(local, {
        key: "zone/1",
        expectedFence,
        reason: "holder is gone",
        idempotencyKey,
      });
    await expect(force(7)).rejects.toMatchObject({
      code: "fence-moved",
      details: { expectedFence: 7, fence: 1 },
    });
    const done = { fence: 2, previousFence: 1, previousHolder: "h-a", nextHolder: null, replayed: false };
    expect(await force(1, "k")).toMatchObject(done);
    expect(await force(1, "k")).toMatchObject({ ...done, replayed: true });
    await expect(force(1)).rejects.toMatchObject({ code: "fence-moved" });
    await expect(
      at.runtime.renewLock(local, { key: "zone/1", session: "a", fence: 1 }),
    ).rejects.toMatchObject({
      details: { reason: "forced" },
    });
    await expect(
      at.runtime.forceReleaseLock(local, { key: "none", expectedFence: 0, reason: "why" }),
    ).rejects.toMatchObject({ code: "not-found" });
    const { items, total } = await at.runtime.getLockLog(local, { key: "zone/1" });
    expect(total).toBe(3);
    expect(items[0]).toMatchObject({ type: "FORCE_RELEASED", reason: "holder is gone", actor: "local" });
  });

  test("a key that nobody has ever asked for: force-release is refused, also after it was named otherwise, and nothing is written", async () => {
    const key = "TYPO";
    const force = (expectedFence: number) =>
      at.runtime.forceReleaseLock(local, { key, expectedFence, reason: "why" });
    for (const fence of [0, 1]) {
      const call = { key, session: "s", fence };
      await expect(at.runtime.renewLock(local, call)).rejects.toMatchObject({ code: "lock-lost" });
      const idempotencyKey = `k${fence}`;
      const result = fence === 0 ? "already-released" : "stale";
      expect(await at.runtime.releaseLock(local, { ...call, idempotencyKey })).toMatchObject({ result });
      await expect(force(fence)).rejects.toMatchObject({ code: "not-found" });
    }
    await expect(at.runtime.getLock(local, { key })).rejects.toMatchObject({ code: "not-found" });
    // A row without a log, as releases and renewals used to leave it.
    await at.store.transaction((tx) => tx.lockLock(key));
    await expect(force(0)).rejects.toMatchObject({ code: "not-found" });
    const [row] = await at.store.findLocks([key]);
    expect(row).toMatchObject({ fence: 0, logSeq: 0 });
    expect(await acquire("a", { key })).toMatchObject({ result: "acquired", fence: 1 });
  });

  test("waiting that would close a circle is refused", async () => {
    await acquire("a");
    await acquire("b", { key: "zone/2" });
    const first = acquire("b", { waitMs: 3_000 });
    await vi.waitFor(async () => expect((await lock()).queue).toHaveLength(1), 3_000);
    await expect(acquire("a", { key: "zone/2", waitMs: 3_000 })).rejects.toMatchObject({
      code: "lock-deadlock",
    });
    await at.runtime.releaseLock(local, { key: "zone/1", session: "a", fence: 1 });
    expect(await first).toMatchObject({ result: "acquired" });
  });

  test("closing ends waiting calls and leaves no ghost in the queue", async () => {
    const other = await at.again();
    await acquire("a");
    const waiting = other.runtime.acquireLock(local, {
      key: "zone/1",
      session: "b",
      holder: "b",
      waitMs: 30_000,
    });
    await vi.waitFor(async () => expect((await lock()).queue).toHaveLength(1), 3_000);
    const refused = expect(waiting).rejects.toMatchObject({ code: "shutting-down" });
    await other.runtime.close();
    await refused;
    expect((await lock()).queue).toEqual([]);
  });

  describe("fences", () => {
    beforeEach(async () => {
      await publish(at.runtime, "counter", counter);
      await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    });
    const write = (fence: number, session = "a") =>
      at.runtime.sendEvent(local, {
        instanceId: "c",
        type: "add",
        fences: [{ key: "zone/1", session, fence }],
      });
    const seq = async () => (await at.runtime.getInstance(local, { instanceId: "c" })).seq;

    test("I3: a write under a good fence lands, one under a stale fence changes nothing and is logged on the lock", async () => {
      await acquire("a");
      expect(await write(1)).toMatchObject({ seq: 2 });
      await at.runtime.forceReleaseLock(local, { key: "zone/1", expectedFence: 1, reason: "stuck" });
      await expect(write(1)).rejects.toMatchObject({
        code: "stale-fence",
        details: { key: "zone/1", fence: 1, current: 2 },
      });
      await acquire("b");
      await expect(write(1)).rejects.toMatchObject({ code: "stale-fence" });
      await expect(write(3, "a")).rejects.toMatchObject({ code: "stale-fence" });
      expect(await write(3, "b")).toMatchObject({ seq: 3 });
      expect(await seq()).toBe(3);
      expect(await lock()).toMatchObject({ rejectedWrites: 3 });
      const { items } = await at.runtime.getLockLog(local, { key: "zone/1", limit: 1 });
      expect(items[0]).toMatchObject({ type: "WRITE_REJECTED", session: "a", details: { instance: "c" } });
    });

    test("I3: an expired lease is refused too, though nobody has superseded it", async () => {
      await acquire("a", { ttlMs: 10_000 });
      await advance(at.database.url, 11_000);
      await expect(write(1)).rejects.toMatchObject({ code: "stale-fence" });
      await expect(write(5)).rejects.toMatchObject({ code: "stale-fence" });
      expect(await seq()).toBe(1);
    });

    test("I3: while a force-release races writes, every write that landed was committed before it", async () => {
      const other = await at.again();
      let fence = 1;
      for (let round = 0; round < 6; round += 1) {
        const granted = await acquire(`s${round}`);
        if (granted.result !== "acquired") throw new Error("the lock was free");
        fence = granted.fence;
        const session = `s${round}`;
        const writes = Array.from({ length: 5 }, () =>
          write(fence, session).then(
            () => true,
            () => false,
          ),
        );
        const forced = await other.runtime.forceReleaseLock(local, {
          key: "zone/1",
          expectedFence: fence,
          reason: "racing",
        });
        // What lands after the answer of the force-release would show in this seq.
        const seqAtForce = await seq();
        await Promise.all(writes);
        expect(await seq()).toBe(seqAtForce);
        await expect(write(fence, session)).rejects.toMatchObject({ code: "stale-fence" });
        expect(forced.fence).toBe(fence + 1);
      }
    });

    test("deleting an instance ends the lock on it, with a higher fence", async () => {
      await acquire("a", { key: "instance:c" });
      await at.runtime.deleteInstance(local, { instanceId: "c" });
      expect(await at.runtime.getLock(local, { key: "instance:c" })).toMatchObject({
        status: "free",
        fence: 2,
      });
    });
  });
});
