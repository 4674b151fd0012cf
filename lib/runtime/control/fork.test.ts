import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";

const first: JsonObject = {
  lockstep: 1,
  settings: { errors: "stop" },
  tasks: { charge: {} },
  context: { count: 0, zero: 0 },
  initial: "working",
  states: {
    working: {
      after: { "10m": "late" },
      on: {
        add: { actions: { assign: { count: "context.count + 1" } } },
        break: { actions: { assign: { count: "context.count / context.zero" } } },
        pay: "paying",
        split: "both",
      },
    },
    paying: { invoke: { id: "pay", src: "charge" }, on: { "done.invoke.pay": "paid", back: "working" } },
    paid: {},
    both: {
      type: "parallel",
      states: {
        left: { initial: "l1", states: { l1: { id: "l1" }, l2: { id: "l2" } } },
        right: { initial: "r1", states: { r1: { id: "r1" } } },
      },
    },
    late: {},
  },
};
/** `working` is `busy` now, nothing fails any more, and there is a note. */
const second: JsonObject = {
  ...first,
  context: { count: 0, zero: 1, note: "new" },
  initial: "busy",
  states: {
    busy: {
      on: {
        add: { actions: { assign: { count: "context.count + 10" } } },
        break: { actions: { assign: { count: "100" } } },
      },
    },
    paid: {},
    late: {},
  },
};
const minutes = (n: number) => n * 60_000;
const reason = "before the mistake";

describe.each(providers)("fork, reset and migrate on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const instanceId = "a";
  const begin = async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "job", first);
    await at.runtime.startInstance(local, { chartId: "job", id: instanceId });
  };
  const publishSecond = (chart = second) => publishNext(at.runtime, "job", chart);
  const send = (type: string, id = instanceId) => at.runtime.sendEvent(local, { instanceId: id, type });
  const view = (id = instanceId) => at.runtime.getInstance(local, { instanceId: id });
  const everySeqMatches = async (id = instanceId) => {
    for (const { seq } of (await at.runtime.getLog(local, { instanceId: id })).items) {
      expect(await at.runtime.getState(local, { instanceId: id, seq })).toMatchObject({ hashMatches: true });
    }
  };

  test("I5: a fork begins with the state of that seq and goes on by itself", async () => {
    await begin();
    await send("add");
    await send("add");
    const forked = await at.runtime.forkInstance(local, { instanceId, seq: 2, id: "b", reason });
    expect(forked).toMatchObject({ id: "b", seq: 1, context: { count: 1 }, timers: [], status: "running" });
    await send("add", "b");
    expect(await view("b")).toMatchObject({ context: { count: 2 }, seq: 2 });
    expect(await view()).toMatchObject({ context: { count: 2 }, seq: 3 });
    const entry = await at.runtime.getLogEntry(local, { instanceId: "b", seq: 1 });
    expect(entry).toMatchObject({ kind: "control", type: "fork", data: { reason, instanceId, seq: 2 } });
    await everySeqMatches("b");
    await expect(at.runtime.forkInstance(local, { instanceId, id: "b", reason })).rejects.toMatchObject({
      code: "instance-exists",
    });
  });

  test("a fork repeats later external events and arms timers by choice, and sends no task again", async () => {
    await begin();
    await advance(at.database.url, minutes(4));
    await send("add");
    await send("add");
    await send("pay");
    const [task] = (await at.runtime.claimTasks(local, { types: ["charge"], workerId: "w" })).tasks;
    await at.runtime.completeTask(local, { token: task?.token ?? "", output: 1 });
    at.runtime.startWorkers();
    await vi.waitFor(async () => expect((await view()).configuration).toEqual(["paid"]), 5_000);
    const args = { instanceId, seq: 2, id: "b", reason, laterEvents: true, idempotencyKey: "k" };
    const forked = await at.runtime.forkInstance(local, args);
    await vi.waitFor(
      async () => expect(await view("b")).toMatchObject({ context: { count: 2 }, seq: 3 }),
      5_000,
    );
    expect(await view("b")).toMatchObject({ configuration: ["paying"] });
    expect((await at.runtime.forkInstance(local, args)).id).toBe(forked.id);

    const armed = await at.runtime.forkInstance(local, {
      instanceId,
      seq: 2,
      id: "c",
      reason,
      rearmTimers: true,
    });
    const left = (armed.timers[0]?.dueAt ?? 0) - armed.createdAt;
    expect(left).toBeGreaterThan(minutes(5));
    expect(left).toBeLessThanOrEqual(minutes(6));
    await advance(at.database.url, minutes(7));
    await vi.waitFor(async () => expect((await view("c")).configuration).toEqual(["late"]), 5_000);

    // In `paying` there was a task: the fork waits for it in vain, none is sent.
    await at.runtime.forkInstance(local, { instanceId, seq: 4, id: "d", reason });
    expect((await at.runtime.listTasks(local, { instanceId: "d" })).items).toEqual([]);
    await everySeqMatches("b");
  });

  test("I6: reset puts it back, and an answer of what was abandoned never moves it", async () => {
    await begin();
    await send("pay");
    const [task] = (await at.runtime.claimTasks(local, { types: ["charge"], workerId: "w" })).tasks;
    expect(await at.runtime.resetInstance(local, { instanceId, seq: 1, reason })).toMatchObject({
      seq: 3,
      configuration: ["working"],
      status: "running",
    });
    await send("pay");
    expect(await view()).toMatchObject({ configuration: ["paying"], seq: 4 });
    await at.runtime.completeTask(local, { token: task?.token ?? "", output: 1 });
    expect(await send("nothing")).toMatchObject({ configuration: ["paying"] });
    const tasks = (await at.runtime.listTasks(local, { instanceId })).items;
    expect(tasks.map(({ status }) => status).sort()).toEqual(["cancelled", "pending"]);
    await everySeqMatches();
  });

  test("I6: a timer that a reset armed again, or a migration renamed, goes with its state", async () => {
    await begin();
    await send("pay");
    await send("back");
    await at.runtime.resetInstance(local, { instanceId, seq: 1, reason, rearmTimers: true });
    expect((await view()).timers).toMatchObject([{ state: "working" }]);
    await send("pay");
    expect((await view()).timers).toEqual([]);
    await send("back");
    const busy = { after: { "10m": "late" }, on: { add: "paid" } };
    await publishSecond({ ...second, states: { busy, paid: {}, late: {} } });
    await at.runtime.migrateInstance(local, { instanceId, version: 2, reason, mapping: { working: "busy" } });
    expect((await view()).timers).toMatchObject([{ state: "busy" }]);
    await send("add");
    expect((await view()).timers).toEqual([]);
    await everySeqMatches();
  });

  test("from an id's earlier life a fork is of that life's chart and repeats its events alone; a reset is refused", async () => {
    await begin();
    for (const type of ["add", "add"]) await send(type);
    await at.runtime.deleteInstance(local, { instanceId });
    await publish(at.runtime, "other", {
      lockstep: 1,
      initial: "x",
      states: { x: { on: { add: "y" } }, y: {} },
    });
    await at.runtime.startInstance(local, { chartId: "other", id: instanceId });
    await send("add");
    const log = (await at.runtime.getLog(local, { instanceId })).items;
    const [started, again] = log.filter(({ kind }) => kind === "start").sort((a, b) => a.seq - b.seq);
    if (!started || !again) throw new Error("both lives began");
    const fork = { instanceId, seq: started.seq, reason, laterEvents: true };
    const forked = await at.runtime.forkInstance(local, { ...fork, id: "f" });
    expect(forked).toMatchObject({ chartId: "job", configuration: ["working"], context: { count: 2 } });
    expect(await at.runtime.getState(local, { instanceId: "f" })).toMatchObject({ hashMatches: true });
    const refused = at.runtime.resetInstance(local, { instanceId, seq: started.seq, reason });
    await expect(refused).rejects.toThrow("deleted and its id used again");
    await at.runtime.resetInstance(local, { instanceId, seq: again.seq, reason });
    expect(await view()).toMatchObject({ chartId: "other", configuration: ["x"] });
  });

  test("reset gives back the locks that the states it leaves hold", async () => {
    await begin();
    await publish(at.runtime, "holder", {
      lockstep: 1,
      initial: "idle",
      states: {
        idle: { on: { go: "holding" } },
        holding: { invoke: { id: "zone", src: "lock", input: { keys: "['zone']" } }, on: { go: "idle" } },
      },
    });
    await at.runtime.startInstance(local, { chartId: "holder", id: "h" });
    at.runtime.startWorkers();
    await send("go", "h");
    const holder = async () => (await at.runtime.getLock(local, { key: "zone" })).holder;
    await vi.waitFor(async () => expect(await holder()).not.toBeNull(), 5_000);
    await at.runtime.resetInstance(local, { instanceId: "h", seq: 1, reason });
    expect(await holder()).toBeNull();
    // The lock's answer may still have been under way: it comes after, and is ignored.
    const { items } = await at.runtime.getLog(local, { instanceId: "h" });
    expect(items.find(({ type }) => type === "reset")).toMatchObject({
      exited: ["holding"],
      entered: ["idle"],
    });
  });

  test("reset mends a failed instance, and nothing goes on from a failed seq", async () => {
    await begin();
    await send("add");
    await expect(send("break")).rejects.toMatchObject({ code: "step-failed" });
    await send("add");
    await expect(at.runtime.resetInstance(local, { instanceId, seq: 3, reason })).rejects.toMatchObject({
      code: "bad-request",
    });
    await expect(at.runtime.forkInstance(local, { instanceId, reason })).rejects.toMatchObject({
      code: "bad-request",
    });
    await at.runtime.resetInstance(local, { instanceId, seq: 2, reason });
    expect(await view()).toMatchObject({ status: "running", error: null, context: { count: 2 }, seq: 5 });
    await everySeqMatches();
  });

  test("a dry run tells each state's verdict, and the migration does what it told", async () => {
    await begin();
    await send("add");
    await publishSecond();
    const call = { instanceId, version: 2, reason };
    const dry = await at.runtime.migrateInstance(local, { ...call, dryRun: true });
    expect(dry).toMatchObject({
      changed: false,
      plan: { verdict: "needs-mapping", states: [{ state: "working", to: null, verdict: "needs-mapping" }] },
    });
    await expect(at.runtime.migrateInstance(local, call)).rejects.toMatchObject({
      code: "migration-refused",
      details: { verdict: "needs-mapping" },
    });
    expect(await view()).toMatchObject({ version: 1, seq: 2 });
    const mapping = { working: "busy" };
    const { plan } = await at.runtime.migrateInstance(local, { ...call, mapping, dryRun: true });
    expect(plan).toMatchObject({ verdict: "ok", timersDropped: ["10m"], contextAdded: ["note"] });
    expect(await at.runtime.migrateInstance(local, { ...call, mapping })).toMatchObject({
      seq: 3,
      version: 2,
      configuration: ["busy"],
      changed: true,
      plan,
    });
    expect(await view()).toMatchObject({
      context: { count: 1, zero: 0, note: "new" },
      timers: [],
      version: 2,
    });
    await send("add");
    expect((await view()).context).toMatchObject({ count: 11 });
    const entry = await at.runtime.getLogEntry(local, { instanceId, seq: 3 });
    expect(entry).toMatchObject({ kind: "migration", version: 2, data: { from: 1, to: 2, reason } });
    await everySeqMatches();
    await expect(at.runtime.resetInstance(local, { instanceId, seq: 1, reason })).rejects.toMatchObject({
      code: "bad-request",
    });
  });

  test("what is under way blocks a version that has nothing like it; a mapping must give a legal configuration", async () => {
    await begin();
    await send("pay");
    await publishSecond();
    const call = { instanceId, version: 2, reason, dryRun: true };
    const paying = await at.runtime.migrateInstance(local, { ...call, mapping: { paying: "paid" } });
    expect(paying.plan.verdict).toBe("blocked");
    await send("back");
    await send("split");
    const both = await at.runtime.migrateInstance(local, { ...call, mapping: { l1: "paid", r1: "late" } });
    expect(both.plan.verdict).toBe("blocked");
    const merged = await at.runtime.migrateInstance(local, { ...call, mapping: { l1: "paid", r1: "paid" } });
    expect(merged.plan.verdict).toBe("ok");
    await expect(
      at.runtime.migrateInstance(local, { ...call, version: 3, dryRun: false }),
    ).rejects.toMatchObject({ code: "version-not-found" });
  });

  test("I1: a failed instance, moved to a version that is mended and redriven, goes on in order", async () => {
    await begin();
    await expect(send("break")).rejects.toMatchObject({ code: "step-failed" });
    await send("add");
    await publishSecond();
    await at.runtime.migrateInstance(local, { instanceId, version: 2, reason, mapping: { working: "busy" } });
    expect(await view()).toMatchObject({ status: "failed", version: 2, pending: 1 });
    await at.runtime.redriveInstance(local, { instanceId, reason });
    at.runtime.startWorkers();
    await vi.waitFor(
      async () =>
        expect(await view()).toMatchObject({ status: "running", context: { count: 110 }, pending: 0 }),
      5_000,
    );
    const { items } = await at.runtime.getLog(local, { instanceId });
    expect(items.map(({ type }) => type).reverse()).toEqual([
      "start",
      "break",
      "migrate",
      "redrive",
      "break",
      "add",
    ]);
    await everySeqMatches();
  });
});
