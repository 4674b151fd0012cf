import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { must } from "@/lib/base/assert";
import { LockstepError } from "@/lib/base/errors";
import { advance, providers } from "@/lib/testing/database";
import { Random } from "@/lib/testing/random-chart";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { foldLockLog } from "./lock-rules";
import type { Runtime } from "../runtime";

describe.each(providers)("several locks at once on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    // I7
    for (const { key } of await at.store.listLocks({ status: "all" }, null, 100, 0)) {
      const log = (await at.store.listLockLog(key, null, 10_000)).reverse();
      const [row] = await at.store.findLocks([key]);
      expect(foldLockLog(key, log)).toEqual(row);
    }
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const acquire = (session: string, keys: string[], args: object = {}, runtime: Runtime = at.runtime) =>
    runtime.acquireLocks(local, { keys, session, holder: `h-${session}`, ...args });
  const one = (session: string, key: string, args: object = {}) =>
    at.runtime.acquireLock(local, { key, session, holder: `h-${session}`, ...args });
  const release = async (session: string, ...keys: string[]) => {
    for (const key of keys) {
      const { fence } = await at.runtime.getLock(local, { key });
      expect(await at.runtime.releaseLock(local, { key, session, fence })).toMatchObject({
        result: "released",
      });
    }
  };
  const lock = (key: string) => at.runtime.getLock(local, { key });
  const queue = async (key: string) => (await lock(key)).queue.map(({ session }) => session);
  const queued = (key: string, ...sessions: string[]) =>
    vi.waitFor(async () => expect(await queue(key)).toEqual(sessions), 5_000);

  test("who holds one that others wait for gets the other of them when it comes free", async () => {
    await one("s", "a", { ttlMs: 60_000 });
    await one("x", "b", { ttlMs: 60_000 });
    const behind = one("t", "a", { waitMs: 20_000 });
    await queued("a", "t");
    const both = acquire("s", ["a", "b"], { waitMs: 10_000 });
    await queued("b", "s");
    const began = performance.now();
    await release("x", "b");
    expect(await both).toMatchObject({ result: "acquired" });
    expect(performance.now() - began).toBeLessThan(5_000);
    await release("s", "a");
    expect(await behind).toMatchObject({ result: "acquired" });
  });

  test("a wait is over in its time also when every command fails in passing", async () => {
    await one("x", "b", { ttlMs: 60_000 });
    await one("y", "c", { ttlMs: 60_000 });
    const waiting = acquire("s", ["b", "c"], { waitMs: 1_500 });
    await queued("b", "s");
    await release("x", "b");
    await release("y", "c").catch(() => null);
    const busy = new LockstepError("database-busy", "busy", { retry: "later" });
    vi.spyOn(at.store, "transaction").mockRejectedValue(busy);
    const end = await Promise.race([
      waiting.then(
        ({ result }) => result,
        (error: unknown) => error,
      ),
      pause(10_000, "waits for ever"),
    ]);
    // It may have had them before.
    expect(["acquired", busy]).toContain(end);
  });

  test("a lapsed lease that nobody has been given yet closes no circle", async () => {
    at.runtime.startWorkers();
    await one("x", "m", { ttlMs: 60_000 });
    await one("z", "l", { ttlMs: 60_000 });
    await one("s", "k", { ttlMs: 1_000 });
    const both = acquire("x", ["k", "l"], { waitMs: 20_000 });
    await vi.waitFor(async () => expect((await lock("k")).status).toBe("expired"), 5_000);
    expect(await one("s", "m", { waitMs: 300 })).toMatchObject({ result: "busy" });
    await release("z", "l");
    expect(await both).toMatchObject({ result: "acquired" });
  });

  test("who comes while the locks of others are read waits in line once, and no longer than it would", async () => {
    await one("x", "m", { ttlMs: 60_000 });
    await one("y", "k", { ttlMs: 60_000 });
    const read = at.store.findLocks.bind(at.store);
    vi.spyOn(at.store, "findLocks").mockImplementation(async (keys) => {
      const rows = await read(keys);
      await pause(50);
      return rows;
    });
    const other = one("z", "k", { waitMs: 3_000 });
    const began = performance.now();
    expect(await one("s", "m", { waitMs: 500 })).toMatchObject({ result: "busy" });
    expect(performance.now() - began).toBeLessThan(2_500);
    const log = await at.store.listLockLog("m", null, 10_000);
    expect(log.filter(({ type }) => type === "ENQUEUED")).toHaveLength(1);
    await release("y", "k");
    expect(await other).toMatchObject({ result: "acquired" });
  });

  const holdsZone = {
    lockstep: 1,
    initial: "zone",
    states: {
      zone: {
        invoke: { id: "hold", src: "lock", input: { keys: "input", wait: "'20s'" } },
        initial: "waiting",
        states: { waiting: {}, inside: {} },
        on: { "done.invoke.hold": ".inside", leave: "outside" },
      },
      outside: {},
    },
  };
  test.each([
    ["a step of a chart whose senders lock it", "a", "distributed"],
    ["a deletion", "z", "optimistic"],
  ])(
    "%s takes lock rows in the order of keys, as those do who ask for several",
    async (what, zone, locking) => {
      if (provider === "sqlite") return; // One writer: nobody waits for a row.
      at.runtime.startWorkers();
      await publish(at.runtime, "agv", { ...holdsZone, settings: { locking } });
      const ids = Array.from({ length: 12 }, (_, n) => `m${n}`);
      for (const id of ids) {
        await at.runtime.startInstance(local, { chartId: "agv", id, input: [`${zone}${id}`] });
        await one("q", `instance:${id}`);
        await release("q", `instance:${id}`);
      }
      const inside = async (instanceId: string) =>
        expect((await at.runtime.getInstance(local, { instanceId })).configuration).toEqual(["zone.inside"]);
      for (const id of ids) await vi.waitFor(() => inside(id), 10_000);
      const before = at.store.repeatedTransactions();
      const act = (instanceId: string) =>
        what === "a deletion"
          ? at.runtime.deleteInstance(local, { instanceId })
          : at.runtime.sendEvent(local, { instanceId, type: "leave" });
      await Promise.all(
        ids.flatMap((id) => [
          ...["s1", "s2"].map((session) =>
            acquire(session, [`${zone}${id}`, `instance:${id}`], { ttlMs: 1_000 }),
          ),
          act(id).catch(() => null),
        ]),
      );
      expect(at.store.repeatedTransactions() - before).toBe(0);
    },
  );

  test("all are granted, by key, each with a fence of its own, a key named twice once", async () => {
    await one("x", "b");
    await release("x", "b");
    expect(await acquire("a", ["b", "a", "b"])).toMatchObject({
      result: "acquired",
      locks: [
        { key: "a", fence: 1 },
        { key: "b", fence: 2 },
      ],
      replayed: false,
      valid: true,
    });
    expect(await acquire("a", ["c", "b"])).toMatchObject({ locks: [{ fence: 2 }, { key: "c", fence: 1 }] });
    await expect(acquire("a", [])).rejects.toMatchObject({ code: "bad-request" });
    const many = Array.from({ length: 21 }, (_, n) => `k${n}`);
    await expect(acquire("a", many)).rejects.toMatchObject({ code: "bad-request" });
  });

  test("of keys of which one is held none is had, and it is told which, by whom, and its place", async () => {
    await one("x", "b");
    await one("x", "d");
    const waits = one("y", "d", { waitMs: 20_000 });
    await queued("d", "y");
    expect(await acquire("a", ["a", "b", "c", "d"])).toMatchObject({
      result: "busy",
      locks: [
        { key: "b", holder: "h-x", position: 1 },
        { key: "d", holder: "h-x", position: 2 },
      ],
    });
    for (const key of ["a", "c"]) expect(await lock(key)).toMatchObject({ status: "free", fence: 0 });
    await release("x", "d");
    expect(await waits).toMatchObject({ result: "acquired" });
  });

  test("who is before the caller in the line of a lock that nobody holds is not told to hold it", async () => {
    await one("x", "b");
    const waits = acquire("a", ["a", "b"], { waitMs: 20_000 });
    await queued("a", "a");
    const nobody = { holder: null, expiresAt: null, coolUntil: null };
    expect(await one("y", "a")).toMatchObject({ result: "busy", ...nobody, position: 2 });
    await release("x", "b");
    expect(await waits).toMatchObject({ result: "acquired" });
  });

  test("who waits stands in all queues, is granted when first in all, and nobody overtakes it in any", async () => {
    await one("x", "b");
    const waits = acquire("a", ["c", "a", "b"], { waitMs: 20_000 });
    for (const key of ["a", "b", "c"]) await queued(key, "a");
    expect((await lock("c")).queue).toMatchObject([{ keys: ["a", "b", "c"] }]);
    expect(await one("y", "c")).toMatchObject({ result: "busy", holder: null });
    const behind = one("z", "c", { waitMs: 20_000 });
    await queued("c", "a", "z");
    await release("x", "b");
    expect(await waits).toMatchObject({
      result: "acquired",
      locks: [{ fence: 1 }, { fence: 2 }, { fence: 1 }],
    });
    await release("a", "c");
    expect(await behind).toMatchObject({ result: "acquired", fence: 2 });
    const { items } = await at.runtime.getLockLog(local, { key: "a" });
    expect(items.map(({ type }) => type)).toEqual(["HANDOFF", "ENQUEUED", "REQUESTED"]);
  });

  test("whose time is up leaves all queues, and those behind it are served", async () => {
    await one("x", "b");
    const waits = acquire("a", ["a", "b"], { waitMs: 300 });
    await queued("a", "a");
    const behind = one("y", "a", { waitMs: 20_000 });
    await queued("a", "a", "y");
    const told = await waits;
    expect(told).toMatchObject({ result: "busy" });
    expect(told.locks.at(-1)).toMatchObject({ key: "b", holder: "h-x", position: 1 });
    expect(await behind).toMatchObject({ result: "acquired", fence: 1 });
    expect([...(await queue("a")), ...(await queue("b"))]).toEqual([]);
  });

  test("who hung up leaves all queues; so does who closes", async () => {
    const other = await at.again();
    await one("x", "b");
    const hangs = new AbortController();
    const gone = acquire("a", ["a", "b"], { waitMs: 20_000, signal: hangs.signal });
    await queued("a", "a");
    hangs.abort();
    expect(await gone).toMatchObject({ result: "busy" });
    await queued("a");
    const closing = acquire("c", ["a", "b"], { waitMs: 20_000 }, other.runtime).catch(
      (error: unknown) => error,
    );
    await queued("b", "c");
    await other.runtime.close();
    expect(await closing).toMatchObject({ code: "shutting-down" });
    expect([...(await queue("a")), ...(await queue("b"))]).toEqual([]);
  });

  test("I4: a lost answer repeated with its key has the same fences, and says whether all still stand", async () => {
    const call = () => acquire("a", ["b", "a"], { idempotencyKey: "k" });
    const first = await call();
    expect(await call()).toEqual({ ...first, replayed: true });
    await expect(acquire("a", ["a", "c"], { idempotencyKey: "k" })).rejects.toMatchObject({
      code: "idempotency-key-reuse",
    });
    await release("a", "b");
    expect(await call()).toEqual({ ...first, replayed: true, valid: false });
    // busy is not kept.
    expect(await acquire("c", ["a"], { idempotencyKey: "l" })).toMatchObject({ result: "busy" });
    await release("a", "a");
    expect(await acquire("c", ["a"], { idempotencyKey: "l" })).toMatchObject({ locks: [{ fence: 2 }] });
  });

  test("who lost its connection and asks again keeps its places, whatever becomes of the first call", async () => {
    await one("x", "b");
    const hangs = new AbortController();
    const first = acquire("a", ["a", "b"], { waitMs: 20_000, signal: hangs.signal });
    await queued("b", "a");
    const behind = acquire("y", ["a", "b"], { waitMs: 20_000 });
    await queued("b", "a", "y");
    const again = acquire("a", ["a", "b"], { waitMs: 20_000 });
    await vi.waitFor(async () => {
      const [place] = await at.store.listWaiters("b");
      expect((place?.givesUpAt ?? 0) - (place?.since ?? 0)).toBeGreaterThan(20_000);
    }, 5_000);
    hangs.abort();
    expect(await first).toMatchObject({ result: "busy" });
    await queued("b", "a", "y");
    await release("x", "b");
    expect(await again).toMatchObject({ result: "acquired" });
    await release("a", "a", "b");
    expect(await behind).toMatchObject({ result: "acquired" });
  });

  test("a session that asks for others with it takes new places in all, so that it is before nobody in one queue alone", async () => {
    await one("x", "a");
    await one("x", "b");
    const first = acquire("s", ["a", "b"], { waitMs: 1_500 });
    await queued("b", "s");
    const other = acquire("t", ["b", "c"], { waitMs: 20_000 });
    await queued("b", "s", "t");
    const second = acquire("s", ["b", "c"], { waitMs: 20_000 });
    await queued("b", "t", "s");
    await queued("c", "t", "s");
    await release("x", "b");
    expect(await other).toMatchObject({ result: "acquired" });
    await release("t", "b", "c");
    expect(await second).toMatchObject({ result: "acquired" });
    expect(await first).toMatchObject({ result: "busy" });
    expect(await queue("a")).toEqual([]);
  });

  test("those that ask in opposite orders again and again all have their turn, and never two one key", async () => {
    const other = await at.again();
    const holders = new Map<string, string>();
    const client = async (name: string, keys: string[], runtime: Runtime) => {
      for (let round = 0; round < 6; round += 1) {
        const session = `${name}-${round}`;
        const got = await acquire(session, keys, { waitMs: 30_000 }, runtime);
        if (got.result !== "acquired") throw new Error(`${session} was not served`);
        for (const { key } of got.locks) {
          expect(holders.get(key)).toBeUndefined();
          holders.set(key, session);
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
        for (const { key, fence } of got.locks) {
          holders.delete(key);
          await runtime.releaseLock(local, { key, session, fence });
        }
      }
    };
    await Promise.all([
      client("a", ["x", "y"], at.runtime),
      client("b", ["y", "x"], other.runtime),
      client("c", ["z", "y"], at.runtime),
      client("d", ["x", "z"], other.runtime),
    ]);
    for (const key of ["x", "y", "z"]) expect(await lock(key)).toMatchObject({ status: "free", queue: [] });
  }, 60_000);

  test("all or none: at no time does one that was refused hold any, whatever sets of keys race", async () => {
    const other = await at.again();
    const all = ["a", "b", "c", "d"];
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = new Random(seed);
      const tries = Array.from({ length: 8 }, (_, n) => ({
        session: `s${seed}-${n}`,
        keys: all.filter(() => random.chance(0.5)),
      })).filter(({ keys }) => keys.length > 0);
      const told = await Promise.all(
        tries.map(({ session, keys }, n) =>
          acquire(session, keys, { waitMs: n % 3 === 0 ? 100 : 0 }, n % 2 ? at.runtime : other.runtime),
        ),
      );
      const held = new Map<string, string>();
      told.forEach(({ result, locks }, n) => {
        const { session, keys } = must(tries[n], "one answer each");
        if (result === "busy") return expect(locks.length).toBeGreaterThan(0);
        expect(locks.map(({ key }) => key)).toEqual(keys);
        for (const key of keys) {
          expect(held.has(key)).toBe(false);
          held.set(key, session);
        }
      });
      expect(held.size).toBeGreaterThan(0);
      for (const key of all.filter((each) => tries.some(({ keys }) => keys.includes(each)))) {
        expect(await lock(key)).toMatchObject({ session: held.get(key) ?? null, queue: [] });
        if (held.has(key)) await release(held.get(key) ?? "", key);
      }
    }
  }, 60_000);

  test("who holds one and waits for another in a circle is told so, and no place of it is left", async () => {
    await one("a", "x");
    await one("b", "y");
    const first = acquire("a", ["x", "y", "z"], { waitMs: 20_000 });
    await queued("y", "a");
    await expect(acquire("b", ["w", "x"], { waitMs: 20_000 })).rejects.toMatchObject({
      code: "lock-deadlock",
    });
    expect(await queue("x")).toEqual([]);
    await release("b", "y");
    expect(await first).toMatchObject({
      result: "acquired",
      locks: [{ fence: 1 }, { fence: 2 }, { fence: 1 }],
    });
  });

  test("a circle that nobody saw when it was closed is broken: the younger leaves all queues", async () => {
    const other = await at.again();
    await one("a", "x");
    await one("b", "y");
    for (const store of [at.store, other.store]) vi.spyOn(store, "sessionsBlocking").mockResolvedValue([]);
    const first = acquire("a", ["y", "z"], { waitMs: 20_000 });
    await queued("y", "a");
    await expect(acquire("b", ["x", "z"], { waitMs: 20_000 }, other.runtime)).rejects.toMatchObject({
      code: "lock-deadlock",
    });
    expect(await queue("z")).toEqual(["a"]);
    await release("b", "y");
    expect(await first).toMatchObject({ result: "acquired" });
  });

  test("one at the head whose process died is passed over, by calls and by states", async () => {
    const other = await at.again();
    await one("x", "b", { ttlMs: 600_000 });
    const dead = acquire("dead", ["a", "b"], { waitMs: 600_000 }, other.runtime).catch(() => null);
    await queued("a", "dead");
    vi.spyOn(other.store, "transaction").mockRejectedValue(new Error("gone"));
    const next = acquire("next", ["a", "c"], { waitMs: 20_000 });
    await queued("a", "dead", "next");
    await advance(at.database.url, 11_000);
    expect(await next).toMatchObject({ result: "acquired" });
    expect(await queue("a")).toEqual([]);
    // The place in the other queue is found when its turn comes.
    await publish(at.runtime, "keeper", {
      lockstep: 1,
      initial: "wants",
      states: {
        wants: {
          invoke: { id: "z", src: "lock", input: { keys: "'b'" } },
          on: { "done.invoke.z": "has" },
        },
        has: {},
      },
    });
    at.runtime.startWorkers();
    await at.runtime.startInstance(local, { chartId: "keeper", id: "k" });
    await vi.waitFor(async () => expect(await queue("b")).toHaveLength(2), 5_000);
    await release("x", "b");
    await vi.waitFor(
      async () =>
        expect(await at.runtime.getInstance(local, { instanceId: "k" })).toMatchObject({
          configuration: ["has"],
        }),
      5_000,
    );
    vi.restoreAllMocks();
    await other.runtime.close();
    await dead;
  }, 30_000);
});
