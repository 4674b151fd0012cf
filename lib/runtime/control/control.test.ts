import { afterEach, describe, expect, test, vi } from "vitest";
import { anonymousActor } from "@/lib/access/actor";
import { must } from "@/lib/base/assert";
import type { JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

/** Counts `add`; cleans up when it is cancelled while `working`; `break` fails the instance. */
const job: JsonObject = {
  lockstep: 1,
  settings: { errors: "stop" },
  tasks: { charge: {} },
  context: { count: 0, zero: 0 },
  initial: "working",
  states: {
    working: {
      invoke: { id: "pay", src: "charge" },
      after: { "10m": "late" },
      on: {
        add: { actions: { assign: { count: "context.count + 1" } } },
        break: { actions: { assign: { count: "context.count / context.zero" } } },
        "done.invoke.pay": "paid",
        cancel: "undoing",
        aside: "aside",
      },
    },
    late: {},
    paid: {},
    aside: { on: { add: { actions: { assign: { count: "context.count + 1" } } } } },
    undoing: { on: { undone: "over" } },
    over: { type: "final" },
  },
};
const minutes = (n: number) => n * 60_000;
const reason = "the lift is being mended";

describe.each(providers)("control on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const begin = async (...ids: string[]) => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "job", job);
    for (const id of ids.length > 0 ? ids : ["j"]) {
      await at.runtime.startInstance(local, { chartId: "job", id });
    }
  };
  const instanceId = "j";
  const send = (type: string, more: object = {}) =>
    at.runtime.sendEvent(local, { instanceId, type, ...more });
  const view = () => at.runtime.getInstance(local, { instanceId });
  const entries = async () => (await at.runtime.getLog(local, { instanceId })).items.reverse();
  const everySeqMatches = async () => {
    for (const { seq } of await entries()) {
      expect(await at.runtime.getState(local, { instanceId, seq })).toMatchObject({ hashMatches: true });
    }
  };

  test("I1: suspended, an instance keeps what is sent to it; resumed, it applies it in order", async () => {
    await begin();
    expect(await at.runtime.suspendInstance(local, { instanceId, reason })).toMatchObject({
      seq: 2,
      status: "suspended",
      changed: true,
    });
    at.runtime.startWorkers();
    const sent = await send("add");
    expect(sent).toMatchObject({ state: "queued", status: "suspended", pending: 1 });
    await send("aside");
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await view()).toMatchObject({ status: "suspended", seq: 2, pending: 2 });
    expect(await at.runtime.resumeInstance(local, { instanceId, reason })).toMatchObject({
      seq: 3,
      status: "running",
    });
    await vi.waitFor(
      async () => expect(await view()).toMatchObject({ seq: 5, configuration: ["aside"], pending: 0 }),
      5_000,
    );
    expect((await view()).context).toEqual({ count: 1, zero: 0 });
    expect(await at.runtime.getMessage(local, { instanceId, messageId: sent.messageId })).toMatchObject({
      state: "applied",
      seq: 4,
    });
    expect(await entries()).toMatchObject([
      { kind: "start" },
      { kind: "control", type: "suspend", actor: "local", outcome: "handled" },
      { kind: "control", type: "resume" },
      { kind: "event", type: "add" },
      { kind: "event", type: "aside", outcome: "moved" },
    ]);
    expect((await at.runtime.getLogEntry(local, { instanceId, seq: 2 })).data).toEqual({ reason });
    await everySeqMatches();
  });

  test("a suspended instance's timer fires when it is resumed, and the log says how late", async () => {
    await begin();
    await at.runtime.suspendInstance(local, { instanceId, reason });
    at.runtime.startWorkers();
    await advance(at.database.url, minutes(15));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await view()).toMatchObject({ seq: 2, configuration: ["working"] });
    await at.runtime.resumeInstance(local, { instanceId, reason });
    expect(await view()).toMatchObject({ seq: 4, configuration: ["late"], timers: [] });
    const { data } = await at.runtime.getLogEntry(local, { instanceId, seq: 4 });
    expect((data as { lateMs: number }).lateMs).toBeGreaterThanOrEqual(minutes(5));
    await everySeqMatches();
  });

  test("a task under way answers a suspended instance into its mailbox", async () => {
    await begin();
    const claim = { types: ["charge"], workerId: "w" };
    const [task] = (await at.runtime.claimTasks(local, claim)).tasks;
    await at.runtime.suspendInstance(local, { instanceId, reason });
    await at.runtime.completeTask(local, { token: task?.token ?? "", output: 1 });
    expect(await view()).toMatchObject({ seq: 2, pending: 1 });
    await at.runtime.resumeInstance(local, { instanceId, reason });
    expect(await view()).toMatchObject({ configuration: ["paid"], pending: 0 });
  });

  test("I4: a control verb repeated with its key gets the first answer; one that finds its work done says so", async () => {
    await begin();
    const call = { instanceId, reason, idempotencyKey: "k" };
    const first = await at.runtime.suspendInstance(local, call);
    expect(await at.runtime.suspendInstance(local, call)).toEqual({ ...first, replayed: true });
    expect(await at.runtime.suspendInstance(local, { instanceId, reason })).toMatchObject({
      seq: 2,
      changed: false,
    });
    await expect(at.runtime.suspendInstance(local, { ...call, reason: "another" })).rejects.toMatchObject({
      code: "idempotency-key-reuse",
    });
    await at.runtime.resumeInstance(local, { instanceId, reason });
    // The key belongs to the call that was made, not to what the instance has become since.
    expect(await at.runtime.suspendInstance(local, call)).toMatchObject({ seq: 2, replayed: true });
    expect(await view()).toMatchObject({ status: "running", seq: 3 });
  });

  test("I3: a control verb under a stale fence or an old seq changes nothing and says so", async () => {
    await begin();
    const held = await at.runtime.acquireLock(local, { key: "k", session: "s", holder: "h", ttlMs: 30_000 });
    const fence = held.result === "acquired" ? held.fence : 0;
    const fences = [{ key: "k", session: "s", fence: fence + 1 }];
    await expect(at.runtime.suspendInstance(local, { instanceId, reason, fences })).rejects.toMatchObject({
      code: "stale-fence",
    });
    await expect(
      at.runtime.suspendInstance(local, { instanceId, reason, expectedSeq: 7 }),
    ).rejects.toMatchObject({ code: "sequence-conflict", details: { expected: 7, actual: 1 } });
    expect(await view()).toMatchObject({ status: "running", seq: 1 });
    const log = await at.runtime.getLockLog(local, { key: "k" });
    expect(log.items[0]).toMatchObject({ type: "WRITE_REJECTED" });
    const good = [{ key: "k", session: "s", fence }];
    await at.runtime.suspendInstance(local, { instanceId, reason, fences: good, expectedSeq: 1 });
    expect(await view()).toMatchObject({ status: "suspended", seq: 2 });
  });

  test("I2: terminate ends it at once: dead letters, timers and tasks go in the same step", async () => {
    await begin();
    await at.runtime.suspendInstance(local, { instanceId, reason });
    const { messageId } = await send("add", { data: { by: 2 } });
    expect(await at.runtime.terminateInstance(local, { instanceId, reason })).toMatchObject({
      status: "terminated",
      seq: 3,
      pending: 0,
    });
    expect(await view()).toMatchObject({ status: "terminated", timers: [], pending: 0 });
    expect((await at.runtime.listTasks(local, { instanceId })).items).toMatchObject([
      { status: "cancelled" },
    ]);
    expect((await at.runtime.listDeadLetters(local, { instanceId })).items).toMatchObject([
      { messageId, type: "add", data: { by: 2 }, reason: "instance-ended", retriedAs: null },
    ]);
    await expect(send("add")).rejects.toMatchObject({ code: "instance-ended" });
    await expect(at.runtime.resumeInstance(local, { instanceId, reason })).rejects.toMatchObject({
      code: "instance-ended",
    });
    await expect(
      at.runtime.terminateInstance(local, { instanceId: "j", reason, expectedSeq: 3 }),
    ).resolves.toMatchObject({ changed: false });
    await expect(at.runtime.cancelInstance(local, { instanceId, reason })).rejects.toThrow(
      "Instance j has ended (terminated): there is nothing left to cancel.",
    );
    await expect(at.runtime.retryDeadLetter(local, { instanceId, messageId })).rejects.toMatchObject({
      code: "instance-ended",
    });
    expect(await at.runtime.terminateInstance(local, { instanceId, reason })).toMatchObject({
      changed: false,
    });
    await everySeqMatches();
  });

  test("cancel lets a chart that handles it clean up, and ends one that doesn't at once", async () => {
    await begin();
    expect(await at.runtime.cancelInstance(local, { instanceId, reason })).toMatchObject({
      status: "cancelling",
      configuration: ["undoing"],
      seq: 2,
    });
    expect(await at.runtime.cancelInstance(local, { instanceId, reason })).toMatchObject({ changed: false });
    expect(await send("undone")).toMatchObject({ state: "applied", status: "cancelled", seq: 3 });
    await everySeqMatches();

    await at.runtime.startInstance(local, { chartId: "job", id: "other" });
    await at.runtime.sendEvent(local, { instanceId: "other", type: "aside" });
    expect(await at.runtime.cancelInstance(local, { instanceId: "other", reason })).toMatchObject({
      status: "cancelled",
      configuration: ["aside"],
      seq: 3,
    });
  });

  test("cancel reaches a suspended instance before what waits for it", async () => {
    await begin();
    await at.runtime.suspendInstance(local, { instanceId, reason });
    await send("undone");
    await at.runtime.cancelInstance(local, { instanceId, reason });
    expect(await view()).toMatchObject({ status: "cancelled", configuration: ["over"], seq: 4 });
  });

  test("I1: redrive puts the failing message first again, before what waited behind it", async () => {
    await begin();
    await expect(send("break")).rejects.toMatchObject({ code: "step-failed" });
    await send("aside");
    expect(await view()).toMatchObject({ status: "failed", seq: 2, pending: 1 });
    await expect(at.runtime.suspendInstance(local, { instanceId, reason })).rejects.toMatchObject({
      code: "wrong-status",
    });
    // It is as broken as before: it fails again, and what waits goes on waiting.
    const call = { instanceId, reason, idempotencyKey: "again" };
    expect(await at.runtime.redriveInstance(local, call)).toMatchObject({
      seq: 3,
      status: "failed",
      pending: 1,
    });
    // I4: failed again, it stands elsewhere; the call with its key is the same all the same.
    expect(await at.runtime.redriveInstance(local, call)).toMatchObject({ seq: 3, replayed: true });
    expect(await entries()).toMatchObject([
      { kind: "start" },
      { kind: "step-failed", type: "break" },
      { kind: "control", type: "redrive" },
      { kind: "step-failed", type: "break" },
    ]);
    await everySeqMatches();
    expect(await at.runtime.cancelInstance(local, { instanceId, reason })).toMatchObject({
      status: "cancelled",
    });
    await expect(at.runtime.redriveInstance(local, { instanceId, reason })).rejects.toMatchObject({
      code: "instance-ended",
    });
  });

  test("I1: one that fails while it is being redriven is not redriven without what failed it", async () => {
    await begin();
    const ran = must(await at.store.findInstance(instanceId), "it has begun");
    await send("break").catch(() => undefined);
    const look = vi.spyOn(at.store, "findInstance").mockResolvedValueOnce(ran);
    await expect(at.runtime.redriveInstance(local, { instanceId, reason })).rejects.toMatchObject({
      code: "sequence-conflict",
      details: { expected: 1, actual: 2 },
    });
    look.mockRestore();
    expect(await view()).toMatchObject({ status: "failed", seq: 2 });
  });

  test("I4: a dead letter is sent again once, as a message of its own", async () => {
    at = await freshRuntime(provider);
    const guard = "context.n == 0";
    const loop = { a: { always: [{ guard, target: "b" }] }, b: { always: [{ guard, target: "a" }] } };
    const calm = { on: { spin: "a", add: { actions: { assign: { n: "1" } } } } };
    const settings = { errors: "continue", microstepsMax: 20 };
    const states = { calm, ...loop };
    await publish(at.runtime, "job", { lockstep: 1, context: { n: 0 }, initial: "calm", settings, states });
    await at.runtime.startInstance(local, { chartId: "job", id: "j" });
    await expect(send("spin")).rejects.toMatchObject({ code: "step-failed" });
    await send("add");
    const [dead] = (await at.runtime.listDeadLetters(local, {})).items;
    const messageId = dead?.messageId ?? "";
    const again = await at.runtime.retryDeadLetter(local, { instanceId, messageId });
    expect(again).toMatchObject({ state: "applied", seq: 4, outcome: "moved", replayed: false });
    expect(await at.runtime.retryDeadLetter(local, { instanceId, messageId })).toMatchObject({
      messageId: again.messageId,
      replayed: true,
    });
    expect(await view()).toMatchObject({ configuration: ["a"], seq: 4 });
    expect((await at.runtime.listDeadLetters(local, { instanceId })).items).toMatchObject([
      { retriedAs: again.messageId },
    ]);
    await expect(
      at.runtime.retryDeadLetter(local, { instanceId, messageId: "nothing" }),
    ).rejects.toMatchObject({ code: "not-found" });
  });

  test("I4: who asks for an answer at once has a dead letter put into the mailbox, once and before any step", async () => {
    at = await freshRuntime(provider);
    const guard = "context.n == 0";
    const loop = { a: { always: [{ guard, target: "b" }] }, b: { always: [{ guard, target: "a" }] } };
    const calm = { on: { spin: "a", add: { actions: { assign: { n: "1" } } } } };
    const states = { calm, ...loop };
    const settings = { errors: "continue", microstepsMax: 20 };
    await publish(at.runtime, "job", { lockstep: 1, context: { n: 0 }, initial: "calm", settings, states });
    await at.runtime.startInstance(local, { chartId: "job", id: "j" });
    for (let n = 0; n < 2; n += 1) await expect(send("spin")).rejects.toMatchObject({ code: "step-failed" });
    await send("add");
    const [first, second] = (await at.runtime.listDeadLetters(local, {})).items.map((each) => each.messageId);
    const retry = (messageId = "", more: object = {}) =>
      at.runtime.retryDeadLetter(local, { instanceId, messageId, respondAsync: true, ...more });
    const twins = await Promise.all([retry(first), retry(first)]);
    expect(new Set(twins.map((twin) => twin.messageId)).size).toBe(1);
    expect(twins.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    expect(twins).toMatchObject([
      { state: "queued", seq: null },
      { state: "queued", seq: null },
    ]);
    expect((await view()).seq).toBe(4);
    // Its fence is looked at when its turn comes.
    const stale = await retry(second, { fences: [{ key: "k", session: "s", fence: 1 }] });
    while (await at.runtime.workOnce());
    expect(await view()).toMatchObject({ configuration: ["a"], seq: 5 });
    expect(await retry(first)).toMatchObject({ state: "applied", seq: 5, replayed: true });
    await expect(retry(second)).rejects.toThrow(stale.messageId);
    expect((await at.runtime.listDeadLetters(local, {})).items).toContainEqual(
      expect.objectContaining({ messageId: stale.messageId, cause: second, reason: "stale-fence" }),
    );
    await expect(retry("nothing")).rejects.toMatchObject({ code: "not-found" });
  });

  test("I3: a dead letter that its sender's check refused, or of an earlier life, is not sent past that", async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "job", job);
    await at.runtime.startInstance(local, { chartId: "job", id: "j" });
    const held = await at.runtime.acquireLock(local, { key: "k", session: "s", holder: "h", ttlMs: 30_000 });
    const fences = [{ key: "k", session: "s", fence: held.result === "acquired" ? held.fence : 0 }];
    await at.runtime.suspendInstance(local, { instanceId, reason });
    const stale = await send("add", { fences });
    const early = await send("add", { expectedSeq: 9 }).catch((error: unknown) => error);
    expect(early).toMatchObject({ code: "sequence-conflict" });
    await at.runtime.releaseLock(local, { key: "k", session: "s", fence: fences[0]?.fence ?? 0 });
    await at.runtime.resumeInstance(local, { instanceId, reason });
    const { items } = await at.runtime.listDeadLetters(local, {});
    expect(items).toMatchObject([{ instanceId, messageId: stale.messageId, reason: "stale-fence" }]);
    const retry = (messageId: string) => at.runtime.retryDeadLetter(local, { instanceId, messageId });
    await expect(retry(stale.messageId)).rejects.toMatchObject({ code: "stale-fence" });
    expect(await view()).toMatchObject({ context: { count: 0 }, seq: 3 });

    await at.runtime.suspendInstance(local, { instanceId, reason });
    const late = await send("add");
    await at.runtime.terminateInstance(local, { instanceId, reason });
    await at.runtime.deleteInstance(local, { instanceId });
    await at.runtime.startInstance(local, { chartId: "job", id: "j" });
    await expect(retry(late.messageId)).rejects.toThrow("an earlier life");
    expect(await view()).toMatchObject({ context: { count: 0 } });
    const left = (await at.runtime.listDeadLetters(local, { instanceId })).items;
    expect(left.map(({ retriedAs }) => retriedAs)).toEqual([null, null]);
  });

  test("I4: a dead letter that fails again is told as a send's failure is, and to a repeat too", async () => {
    at = await freshRuntime(provider);
    const guard = "context.n == 0";
    const loop = { a: { always: [{ guard, target: "b" }] }, b: { always: [{ guard, target: "a" }] } };
    const states = { calm: { on: { spin: "a" } }, ...loop };
    const settings = { errors: "continue", microstepsMax: 20 };
    await publish(at.runtime, "job", { lockstep: 1, context: { n: 0 }, initial: "calm", settings, states });
    await at.runtime.startInstance(local, { chartId: "job", id: "j" });
    await expect(send("spin")).rejects.toMatchObject({ code: "step-failed" });
    const [dead] = (await at.runtime.listDeadLetters(local, {})).items;
    const letter = { instanceId, messageId: dead?.messageId ?? "" };
    const told = await at.runtime.retryDeadLetter(local, letter).catch((error: unknown) => error);
    expect(told).toMatchObject({ code: "step-failed", details: { seq: 3, replayed: false } });
    expect((told as Error).message).toContain("20");
    const { details } = told as { details: { messageId: string } };
    expect((await at.runtime.listDeadLetters(local, {})).items).toMatchObject([
      { messageId: details.messageId, cause: letter.messageId, reason: "step-failed", retriedAs: null },
      { messageId: letter.messageId, retriedAs: details.messageId },
    ]);
    await expect(at.runtime.retryDeadLetter(local, letter)).rejects.toMatchObject({
      code: "step-failed",
      details: { messageId: details.messageId, replayed: true },
    });
    expect((await view()).seq).toBe(3);
  });

  test("suspend and resume reach the children; what ends the parent ends them", async () => {
    await begin();
    await publish(at.runtime, "family", {
      lockstep: 1,
      initial: "waiting",
      states: {
        waiting: {
          invoke: { id: "kid", src: "chart", input: { chart: "'job'", input: "input" } },
          on: { "done.invoke.kid": "over", leave: "over" },
        },
        over: {},
      },
    });
    await at.runtime.startInstance(local, { chartId: "family", id: "p" });
    at.runtime.startWorkers();
    const child = async () => (await at.runtime.listInstances(local, { parent: "p" })).items[0];
    await vi.waitFor(async () => expect(await child()).toMatchObject({ status: "running" }), 5_000);
    await at.runtime.suspendInstance(local, { instanceId: "p", reason });
    expect(await child()).toMatchObject({ status: "suspended", seq: 2 });
    // One that an interrupted call has left behind is reached by its repetition.
    const { id = "" } = (await child()) ?? {};
    await at.runtime.resumeInstance(local, { instanceId: id, reason });
    await at.runtime.suspendInstance(local, { instanceId: "p", reason });
    expect(await child()).toMatchObject({ status: "suspended", seq: 4 });
    await at.runtime.resumeInstance(local, { instanceId: "p", reason });
    expect(await child()).toMatchObject({ status: "running", seq: 5 });
    await at.runtime.cancelInstance(local, { instanceId: "p", reason });
    await vi.waitFor(async () => expect(await child()).toMatchObject({ status: "cancelling" }), 5_000);
  });

  test("who may not control is refused before anything is read", async () => {
    await begin();
    const { runtime } = at;
    const calls = [
      runtime.suspendInstance,
      runtime.resumeInstance,
      runtime.cancelInstance,
      runtime.terminateInstance,
      runtime.redriveInstance,
    ];
    for (const call of calls) {
      await expect(call(anonymousActor, { instanceId: "nobody", reason })).rejects.toMatchObject({
        code: "forbidden",
      });
      await expect(call(local, { instanceId: "nobody", reason })).rejects.toMatchObject({
        code: "not-found",
      });
    }
    await vi.waitFor(async () => expect(await view()).toMatchObject({ seq: 1 }));
  });
});
