import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

/** Notes what it is told, in order. */
const notes: JsonObject = {
  lockstep: 1,
  tasks: { charge: {} },
  context: { said: [] },
  initial: "open",
  states: {
    open: {
      invoke: { id: "pay", src: "charge" },
      after: { "10m": "late" },
      on: {
        say: { actions: { assign: { said: "context.said + [event.data]" } } },
        "done.invoke.pay": "paid",
        finish: "done",
      },
    },
    late: {},
    paid: { on: { say: { actions: { assign: { said: "context.said + [event.data]" } } } } },
    done: { type: "final" },
  },
};
const minute = 60_000;
const reason = "r";

describe.each(providers)("instance sessions on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const instanceId = "n";
  const begin = async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "notes", notes);
    await at.runtime.startInstance(local, { chartId: "notes", id: instanceId });
  };
  const open = (more: object = {}) =>
    at.runtime.openSession(local, { instanceId, ttlMs: 20_000, holder: "desk 3", ...more });
  const say = (data: string, more: object = {}) =>
    at.runtime.sendEvent(local, { instanceId, type: "say", data, ...more });
  const view = () => at.runtime.getInstance(local, { instanceId });
  const said = async () => ((await view()).context as { said: string[] }).said;
  const rest = () => new Promise((resolve) => setTimeout(resolve, 600));

  test("I1: a session's own events run ahead, outsiders' keep their order and follow", async () => {
    await begin();
    const { session, seq } = await open();
    expect(seq).toBe(1);
    at.runtime.startWorkers();
    const waiting = say("outside 1", { waitMs: 15_000 });
    expect(await say("outside 2", { waitMs: 0 })).toMatchObject({ state: "queued" });
    expect(await say("own 1", { session })).toMatchObject({ state: "applied", seq: 2 });
    await rest();
    expect(await say("own 2", { session })).toMatchObject({ state: "applied", seq: 3 });
    expect(await view()).toMatchObject({ session: { holder: "desk 3" }, pending: 2, seq: 3 });
    expect(await at.runtime.endSession(local, { instanceId, session })).toEqual({ result: "ended" });
    expect(await waiting).toMatchObject({ state: "applied", seq: 4 });
    const all = ["own 1", "own 2", "outside 1", "outside 2"];
    await vi.waitFor(async () => expect(await said()).toEqual(all), 5_000);
    const { items } = await at.runtime.getLog(local, { instanceId });
    expect(items.map((entry) => entry.session)).toEqual([null, null, "desk 3", "desk 3", null]);
    expect(await at.runtime.endSession(local, { instanceId, session })).toEqual({ result: "already-over" });
    expect(await at.runtime.getState(local, { instanceId })).toMatchObject({ hashMatches: true });
  });

  test("an outsider that won't wait is refused with holder and expiry, and nothing is kept of it", async () => {
    await begin();
    const { until } = await open();
    await expect(say("outside")).rejects.toMatchObject({
      code: "instance-session",
      retry: "later",
      details: { holder: "desk 3", expiresAt: until },
    });
    await expect(open()).rejects.toMatchObject({ code: "instance-session" });
    const events = [{ type: "say", data: "a" }];
    await expect(at.runtime.sendEvents(local, { instanceId, events })).rejects.toMatchObject({
      code: "instance-session",
    });
    expect(await view()).toMatchObject({ seq: 1, pending: 0 });
  });

  test("those who wait for a session's end, or a halted instance, cost little meanwhile", async () => {
    await begin();
    const { session } = await open();
    let transactions = 0;
    const transaction = at.store.transaction.bind(at.store);
    at.store.transaction = (work) => ((transactions += 1), transaction(work));
    const waiting = say("outside", { waitMs: 15_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    // One look each 100 ms, not one after another.
    expect(transactions).toBeGreaterThan(0);
    expect(transactions).toBeLessThan(40);
    at.store.transaction = transaction;
    await at.runtime.endSession(local, { instanceId, session });
    expect(await waiting).toMatchObject({ state: "applied" });
  });

  test("several events at once go ahead with the session's token, or wait for its end", async () => {
    await begin();
    const { session } = await open();
    const events = [
      { type: "say", data: "a" },
      { type: "say", data: "b" },
    ];
    const outside = at.runtime.sendEvents(local, { instanceId, events, waitMs: 15_000 });
    await say("before", { waitMs: 0 });
    expect(await at.runtime.sendEvents(local, { instanceId, events, session })).toMatchObject({ seq: 3 });
    await at.runtime.endSession(local, { instanceId, session });
    expect(await outside).toMatchObject({ seq: 6 });
    expect(await said()).toEqual(["a", "b", "before", "a", "b"]);
  });

  test("I8: when a session runs out, what waited goes on though nobody ends it", async () => {
    await begin();
    const { session } = await open({ ttlMs: 5_000 });
    at.runtime.startWorkers();
    await say("outside", { waitMs: 0 });
    await rest();
    expect(await said()).toEqual([]);
    await advance(at.database.url, 6_000);
    await vi.waitFor(async () => expect(await said()).toEqual(["outside"]), 5_000);
    await expect(say("own", { session })).rejects.toMatchObject({ code: "lease-lost" });
    await expect(at.runtime.renewSession(local, { instanceId, session })).rejects.toMatchObject({
      code: "lease-lost",
    });
    expect(await say("anyone")).toMatchObject({ state: "applied" });
    expect((await view()).session).toBeNull();
  });

  test("timers and task answers wait for its end too", async () => {
    await begin();
    await advance(at.database.url, 10 * minute - 10_000);
    const [task] = (await at.runtime.claimTasks(local, { types: ["charge"], workerId: "w" })).tasks;
    const { session } = await open();
    at.runtime.startWorkers();
    await advance(at.database.url, 11_000);
    await at.runtime.completeTask(local, { token: task?.token ?? "", output: 1 });
    await rest();
    expect(await say("own", { session })).toMatchObject({ seq: 2, configuration: ["open"] });
    await at.runtime.endSession(local, { instanceId, session });
    await vi.waitFor(
      async () => expect(await view()).toMatchObject({ seq: 4, configuration: ["late"] }),
      5_000,
    );
    const { items } = await at.runtime.getLog(local, { instanceId, limit: 2 });
    expect(items).toMatchObject([
      { kind: "task-answer", outcome: "ignored", reason: "stale-generation" },
      { kind: "timer", type: "10m" },
    ]);
  });

  test("I3: a renewal never goes beyond the hold, and a token is good for its own session alone", async () => {
    await begin();
    const first = await open({ ttlMs: 5_000, holdMaxMs: 30_000 });
    const renewed = await at.runtime.renewSession(local, {
      instanceId,
      session: first.session,
      ttlMs: 60_000,
    });
    expect(renewed).toMatchObject({ until: first.holdUntil, holdUntil: first.holdUntil });
    const shorter = await at.runtime.renewSession(local, {
      instanceId,
      session: first.session,
      ttlMs: 1_000,
    });
    expect(shorter.until).toBe(first.holdUntil);
    await at.runtime.endSession(local, { instanceId, session: first.session });
    const second = await open();
    expect(second.session).not.toBe(first.session);
    await expect(say("x", { session: first.session })).rejects.toMatchObject({ code: "lease-lost" });
    expect(await at.runtime.endSession(local, { instanceId, session: first.session })).toEqual({
      result: "already-over",
    });
    expect(await say("x", { session: second.session })).toMatchObject({ state: "applied" });
  });

  test("a session that never was is not told to be over", async () => {
    await begin();
    await expect(at.runtime.renewSession(local, { instanceId, session: "never" })).rejects.toThrow(
      /no open session with this token; it is over, or never was/,
    );
  });

  test("control verbs pass; suspend, terminate and delete end it", async () => {
    await begin();
    let { session } = await open();
    await say("outside", { waitMs: 0 });
    await at.runtime.suspendInstance(local, { instanceId, reason });
    await expect(say("own", { session })).rejects.toMatchObject({ code: "lease-lost" });
    expect(await view()).toMatchObject({ status: "suspended", session: null, pending: 1 });
    await expect(open()).rejects.toMatchObject({ code: "wrong-status" });
    await at.runtime.resumeInstance(local, { instanceId, reason });
    expect(await said()).toEqual(["outside"]);

    ({ session } = await open());
    await at.runtime.terminateInstance(local, { instanceId, reason });
    await expect(say("own", { session })).rejects.toMatchObject({ code: "lease-lost" });
    expect((await view()).session).toBeNull();

    await at.runtime.startInstance(local, { chartId: "notes", id: "other" });
    const other = await at.runtime.openSession(local, { instanceId: "other" });
    await at.runtime.deleteInstance(local, { instanceId: "other" });
    await at.runtime.startInstance(local, { chartId: "notes", id: "other" });
    const late = { instanceId: "other", type: "say", data: "x", session: other.session };
    await expect(at.runtime.sendEvent(local, late)).rejects.toMatchObject({ code: "lease-lost" });
  });

  test("I4: a lost answer is got again with the same key; the end of the instance ends its session", async () => {
    await begin();
    const first = await open({ idempotencyKey: "k" });
    expect(await open({ idempotencyKey: "k" })).toEqual({ ...first, replayed: true });
    const done = { instanceId, type: "finish", session: first.session };
    expect(await at.runtime.sendEvent(local, done)).toMatchObject({ status: "completed" });
    expect((await view()).session).toBeNull();
  });
});
