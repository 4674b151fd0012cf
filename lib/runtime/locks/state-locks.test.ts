import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { foldLockLog } from "./lock-rules";
import { readLockRequest } from "../workers/settle-state-locks";

/** Holds its keys in `zone` and the state in it. */
const vehicle = (more: JsonObject = {}, invoke: JsonObject = {}): JsonObject => ({
  lockstep: 1,
  context: { lost: null, refused: null },
  initial: "zone",
  states: {
    zone: {
      invoke: { id: "hold", src: "lock", input: { keys: "input", wait: "'20s'", ...more }, ...invoke },
      initial: "waiting",
      states: { waiting: {}, inside: {} },
      on: {
        "done.invoke.hold": ".inside",
        "error.invoke.hold": { target: "refused", actions: { assign: { refused: "event.data" } } },
        "lock.lost": { target: "lost", actions: { assign: { lost: "event.data" } } },
        leave: "outside",
        end: "ended",
      },
    },
    outside: { on: { enter: "zone" } },
    refused: {},
    lost: {},
    ended: { type: "final" },
  },
});

describe.each(providers)("locks held by states on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    // I7: what every test left is what the log says.
    for (const { key } of (await at.runtime.listLocks(local, { status: "all" })).items) {
      const [row] = await at.store.findLocks([key]);
      expect(foldLockLog(key, (await at.store.listLockLog(key, null, 1_000)).reverse())).toEqual(row);
    }
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const begin = async (more?: JsonObject, invoke?: JsonObject) => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "agv", vehicle(more, invoke));
    at.runtime.startWorkers();
  };
  const enter = (id: string, ...keys: string[]) =>
    at.runtime.startInstance(local, { chartId: "agv", id, input: keys });
  const send = (instanceId: string, type: string) => at.runtime.sendEvent(local, { instanceId, type });
  const get = (instanceId: string) => at.runtime.getInstance(local, { instanceId });
  const is = (instanceId: string, name: string) =>
    vi.waitFor(async () => expect((await get(instanceId)).configuration).toEqual([name]), 5_000);
  const lock = (key: string) => at.runtime.getLock(local, { key });

  test("I2: a state holds its lock without a lease and gives it back in the step that leaves it", async () => {
    await begin();
    await enter("a", "Z");
    await is("a", "zone.inside");
    expect(await lock("Z")).toMatchObject({
      status: "held",
      holder: "a",
      fence: 1,
      expiresAt: null,
      ttlMs: null,
      health: "healthy",
      instance: { id: "a", configuration: ["zone.inside"] },
    });
    await advance(at.database.url, 3_600_000);
    expect(await lock("Z")).toMatchObject({ status: "held", holder: "a" });
    await send("a", "leave");
    expect(await lock("Z")).toMatchObject({ status: "free", fence: 1 });
    await send("a", "enter");
    await is("a", "zone.inside");
    expect(await lock("Z")).toMatchObject({ status: "held", fence: 2 });
  });

  test.each(["leave", "end", "terminate", "delete"])(
    "I2: after %s the next in line has it, in the order of asking",
    async (how) => {
      await begin();
      await enter("a", "Z");
      await is("a", "zone.inside");
      await enter("b", "Z");
      await vi.waitFor(async () => expect((await lock("Z")).queue).toMatchObject([{ holder: "b" }]), 5_000);
      await enter("c", "Z");
      await vi.waitFor(async () => expect((await lock("Z")).queue).toHaveLength(2), 5_000);
      if (how === "leave" || how === "end") await send("a", how);
      if (how === "terminate") await at.runtime.terminateInstance(local, { instanceId: "a", reason: "test" });
      if (how === "delete") await at.runtime.deleteInstance(local, { instanceId: "a" });
      await is("b", "zone.inside");
      expect(await lock("Z")).toMatchObject({ holder: "b", fence: 2, queue: [{ holder: "c" }] });
      // One that waits and leaves waits no more.
      await send("c", "leave");
      expect(await lock("Z")).toMatchObject({ holder: "b", queue: [] });
    },
  );

  test("several keys are granted at once, when all can be had; a session's client waits its turn and gives way", async () => {
    await begin();
    const mine = { session: "s", holder: "client", ttlMs: 60_000 };
    await at.runtime.acquireLock(local, { key: "B", ...mine });
    await enter("a", "C", "A", "B");
    await vi.waitFor(async () => expect((await lock("B")).queue).toMatchObject([{ holder: "a" }]), 5_000);
    const keys = ["A", "B", "C"];
    expect(await lock("A")).toMatchObject({
      status: "free",
      queue: [{ holder: "a", keys, waitsFor: "keys" }],
    });
    expect((await lock("B")).queue).toMatchObject([{ holder: "a", keys, waitsFor: "holder" }]);
    // Nobody passes who waits.
    expect(await at.runtime.acquireLock(local, { key: "A", ...mine })).toMatchObject({ result: "busy" });
    await at.runtime.releaseLock(local, { key: "B", session: "s", fence: 1 });
    await is("a", "zone.inside");
    for (const key of ["A", "B", "C"]) expect(await lock(key)).toMatchObject({ holder: "a" });
    const waiting = at.runtime.acquireLock(local, { key: "B", ...mine, waitMs: 5_000 });
    await vi.waitFor(async () => expect((await lock("B")).queue).toHaveLength(1), 5_000);
    await send("a", "leave");
    expect(await waiting).toMatchObject({ result: "acquired", fence: 3 });
  });

  test("what is not to be had within the wait is an error that names the holder", async () => {
    await begin();
    await enter("a", "Z");
    await is("a", "zone.inside");
    await enter("b", "Z");
    await vi.waitFor(async () => expect((await lock("Z")).queue).toHaveLength(1), 5_000);
    await advance(at.database.url, 21_000);
    await is("b", "refused");
    expect((await get("b")).context).toMatchObject({
      refused: { code: "lock-timeout", data: { key: "Z", holder: "a" } },
    });
    expect(await lock("Z")).toMatchObject({ holder: "a", queue: [] });
  });

  test("the time for all attempts bounds the wait for a lock", async () => {
    await begin({}, { retry: { within: "5s" } });
    await enter("a", "Z");
    await is("a", "zone.inside");
    await enter("b", "Z");
    await vi.waitFor(async () => expect((await lock("Z")).queue).toHaveLength(1), 5_000);
    await advance(at.database.url, 6_000);
    await is("b", "refused");
    expect((await get("b")).context).toMatchObject({ refused: { code: "lock-timeout" } });
    expect(await lock("Z")).toMatchObject({ holder: "a", queue: [] });
  });

  test("I3: force-release takes it at once, and the instance hears lock.lost", async () => {
    await begin();
    await enter("a", "Z");
    await is("a", "zone.inside");
    await enter("b", "Z");
    await vi.waitFor(async () => expect((await lock("Z")).queue).toHaveLength(1), 5_000);
    await at.runtime.forceReleaseLock(local, { key: "Z", expectedFence: 1, reason: "stuck" });
    await is("a", "lost");
    expect((await get("a")).context).toMatchObject({ lost: { key: "Z", reason: "stuck" } });
    await is("b", "zone.inside");
    expect(await lock("Z")).toMatchObject({ holder: "b", fence: 3 });
  });

  test("holdMax ends it, and the instance hears lock.lost; a suspended one keeps its lock", async () => {
    await begin({ holdMax: "'10m'" });
    await enter("a", "Z");
    await is("a", "zone.inside");
    await at.runtime.suspendInstance(local, { instanceId: "a", reason: "test" });
    expect(await lock("Z")).toMatchObject({ holder: "a", status: "held", instance: { status: "suspended" } });
    await at.runtime.resumeInstance(local, { instanceId: "a", reason: "test" });
    await advance(at.database.url, 601_000);
    await is("a", "lost");
    await enter("b", "Z");
    await is("b", "zone.inside");
  });

  test("I3: 16 states race for one lock through two processes: one at a time, each in its turn", async () => {
    await begin();
    (await at.again()).runtime.startWorkers();
    const ids = Array.from({ length: 16 }, (_, index) => `r${index}`);
    await Promise.all(ids.map((id) => enter(id, "Z")));
    const had: string[] = [];
    while (had.length < 16) {
      const holder = await vi.waitFor(async () => {
        const { holder: found } = await lock("Z");
        if (found === null || had.includes(found)) throw new Error("not passed on yet");
        return found;
      }, 5_000);
      await is(holder, "zone.inside");
      const inside = await at.runtime.listInstances(local, { state: "zone.inside" });
      expect(inside.items.map(({ id }) => id)).toEqual([holder]);
      had.push(holder);
      await send(holder, "leave");
    }
    expect(await lock("Z")).toMatchObject({ status: "free", fence: 16 });
  }, 30_000);

  describe("waits that would never end", () => {
    /** Holds the first of its keys and, within, waits for the second; gives all up when it is told that it can't. */
    const crossing: JsonObject = {
      lockstep: 1,
      context: { refused: null },
      initial: "zone",
      states: {
        zone: {
          invoke: { id: "outer", src: "lock", input: { keys: "[input[0]]" } },
          initial: "waiting",
          states: {
            waiting: { on: { "done.invoke.outer": "near" } },
            near: { on: { go: "crossing" } },
            crossing: {
              invoke: { id: "inner", src: "lock", input: { keys: "[input[1]]", wait: "'10m'" } },
              on: {
                "done.invoke.inner": "across",
                "error.invoke.inner": { target: "#off", actions: { assign: { refused: "event.data" } } },
              },
            },
            across: {},
          },
          on: { leave: "#off" },
        },
        off: { id: "off" },
      },
    };
    const cross = async (id: string, ...keys: string[]) => {
      await at.runtime.startInstance(local, { chartId: "crossing", id, input: keys });
      await is(id, "zone.near");
    };
    const waits = (key: string, count: number) =>
      vi.waitFor(async () => expect((await lock(key)).queue).toHaveLength(count), 5_000);
    const prepare = async () => {
      await begin();
      await publish(at.runtime, "crossing", crossing);
    };
    const deadlock = (key: string, holder: string | null) => ({
      refused: { code: "lock-deadlock", data: { key, holder } },
    });

    test("of two states that wait for each other the younger hears lock-deadlock, and the other goes on", async () => {
      await prepare();
      await cross("a", "K", "L");
      await cross("b", "L", "K");
      await send("a", "go");
      await waits("L", 1);
      await advance(at.database.url, 10);
      await send("b", "go");
      await is("b", "off");
      expect((await get("b")).context).toMatchObject(deadlock("K", "a"));
      await is("a", "zone.across");
      expect((await get("a")).context).toEqual({ refused: null });
      expect(await lock("K")).toMatchObject({ holder: "a", queue: [] });
    });

    test("a state that waits for what it holds itself hears it too", async () => {
      await prepare();
      await cross("a", "K", "K");
      await send("a", "go");
      await is("a", "off");
      expect((await get("a")).context).toMatchObject(deadlock("K", "a"));
      expect(await lock("K")).toMatchObject({ status: "free", queue: [] });
    });

    test("so does a caller that waits for a state, when it holds what that waits for", async () => {
      await prepare();
      const mine = { session: "s", holder: "client", ttlMs: 60_000 };
      await at.runtime.acquireLock(local, { key: "L", ...mine });
      await cross("a", "K", "L");
      await send("a", "go");
      await waits("L", 1);
      await advance(at.database.url, 10);
      await expect(
        at.runtime.acquireLock(local, { key: "K", ...mine, waitMs: 20_000 }),
      ).rejects.toMatchObject({ code: "lock-deadlock", details: { key: "K", session: "s" } });
      expect(await lock("K")).toMatchObject({ holder: "a", queue: [] });
      await at.runtime.releaseLock(local, { key: "L", session: "s", fence: 1 });
      await is("a", "zone.across");
    });

    test("who stands before in a queue is waited for as well: several keys are granted together", async () => {
      await prepare();
      await cross("b", "L", "K");
      await enter("a", "K", "L");
      await waits("K", 1);
      await advance(at.database.url, 10);
      await send("b", "go");
      await is("b", "off");
      await is("a", "zone.inside");
    });
  });

  test("a client can't use a state's name", async () => {
    await begin();
    const asked = { key: "Z", session: "state:a:1:1:hold", holder: "a", ttlMs: 1_000 };
    await expect(at.runtime.acquireLock(local, asked)).rejects.toMatchObject({ code: "bad-request" });
  });
});

test("what an invocation of lock may ask for", () => {
  expect(readLockRequest({ keys: "Z" })).toEqual({ keys: ["Z"], waitMs: 30_000, holdMaxMs: null });
  expect(readLockRequest({ keys: ["b", "a", "b"], wait: 0, holdMax: "1m" })).toEqual({
    keys: ["a", "b"],
    waitMs: 0,
    holdMaxMs: 60_000,
  });
  for (const input of [
    null,
    {},
    { keys: [] },
    { keys: [1] },
    { keys: "Z", wait: "soon" },
    { keys: "Z", holdMax: 0 },
  ])
    expect(readLockRequest(input)).toMatchObject({ error: { code: "bad-input" } });
});

test.each(providers)("I2: on %s, a state keeps its lock while no worker runs", async (provider) => {
  const at = await freshRuntime(provider);
  await publish(at.runtime, "agv", vehicle());
  const worker = await at.again();
  worker.runtime.startWorkers();
  await worker.runtime.startInstance(local, { chartId: "agv", id: "a", input: ["Z"] });
  const now = () => at.runtime.getInstance(local, { instanceId: "a" });
  await vi.waitFor(async () => expect((await now()).configuration).toEqual(["zone.inside"]), 5_000);
  await worker.runtime.close();
  await advance(at.database.url, 24 * 3_600_000);
  const take = () => at.runtime.acquireLock(local, { key: "Z", session: "s", holder: "h" });
  expect(await take()).toMatchObject({ result: "busy", holder: "a", expiresAt: null });
  expect(await at.runtime.getLock(local, { key: "Z" })).toMatchObject({ status: "held", holder: "a" });
  await at.runtime.sendEvent(local, { instanceId: "a", type: "leave" });
  expect(await take()).toMatchObject({ result: "acquired", fence: 2 });
  await at.end();
  expect(at.reported).toEqual([]);
});
