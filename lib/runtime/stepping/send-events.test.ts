import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "@/lib/base/json";
import { providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

describe.each(providers)("several events at once on %s", (provider) => {
  let at: TestRuntime;
  const instanceId = "c";
  const sendAll = (types: string[], more: object = {}) =>
    at.runtime.sendEvents(local, { instanceId, events: types.map((type) => ({ type })), ...more });
  const view = () => at.runtime.getInstance(local, { instanceId });
  const count = async () => ((await view()).context as { count: Json }).count;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "counter", {
      ...counter,
      states: {
        ...(counter["states"] as object),
        counting: {
          on: {
            add: { actions: { assign: { count: "context.count + 1" } } },
            spin: "loop",
            finish: "done",
          },
        },
        loop: { always: { target: "pool", guard: "context.count >= 0" } },
        pool: { always: { target: "loop", guard: "context.count >= 0" } },
      },
    });
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
  });
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });

  test("however many wait for an instance that another process holds, the others find a connection", async () => {
    if (provider === "sqlite") return; // One writer: nobody holds an instance while another writes.
    await at.runtime.startInstance(local, { chartId: "counter", id: "other" });
    const { store } = await at.again();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const holder = store.transaction(async (tx) => {
      await tx.lockInstances([instanceId]);
      await held;
    });
    const waiting = Array.from({ length: 30 }, (_, n) =>
      n % 2 === 0
        ? sendAll(["add"])
        : at.runtime
            .suspendInstance(local, { instanceId: "c", reason: "r", expectedSeq: 0 })
            .catch(() => null),
    );
    await at.runtime.sendEvent(local, { instanceId: "other", type: "add" });
    await at.runtime.suspendInstance(local, { instanceId: "other", reason: "r" });
    expect((await at.runtime.getInstance(local, { instanceId: "other" })).seq).toBe(3);
    release();
    await Promise.all([holder, ...waiting]);
    expect(await count()).toBe(15);
  });

  test("I2: all are applied one after another, each with its own entry and outcome", async () => {
    const sent = await sendAll(["add", "unheard", "add"]);
    expect(sent).toMatchObject({
      seq: 4,
      results: [
        { seq: 2, outcome: "handled" },
        { seq: 3, outcome: "ignored", reason: "no-handler" },
        { seq: 4, outcome: "handled" },
      ],
      pending: 0,
      replayed: false,
    });
    expect(await count()).toBe(2);
    const messageId = sent.results[2]?.messageId ?? "";
    expect(await at.runtime.getMessage(local, { instanceId, messageId })).toMatchObject({ seq: 4 });
    expect(await at.runtime.getState(local, { instanceId })).toMatchObject({ hashMatches: true });
    expect(await sendAll(["add", "finish"])).toMatchObject({ status: "completed", seq: 6 });
  });

  test("I2: one after the end, or one whose step fails, refuses the whole and leaves no trace", async () => {
    await expect(sendAll(["add", "finish", "add"])).rejects.toMatchObject({
      code: "instance-ended",
      details: { index: 2 },
    });
    await expect(sendAll(["add", "spin", "add"])).rejects.toMatchObject({
      code: "step-failed",
      details: { index: 1, code: "microsteps-exceeded" },
    });
    expect(await view()).toMatchObject({ seq: 1, status: "running", pending: 0 });
    expect((await at.runtime.listDeadLetters(local, { instanceId })).items).toEqual([]);
    expect(await count()).toBe(0);
  });

  test("expectedSeq holds for the first of them; many batches at once do not mix", async () => {
    await expect(sendAll(["add"], { expectedSeq: 5 })).rejects.toMatchObject({ code: "sequence-conflict" });
    const batches = await Promise.all(
      Array.from({ length: 12 }, () => sendAll(["add", "add", "add"], { waitMs: 20_000 })),
    );
    for (const { results } of batches) {
      const first = results[0]?.seq ?? 0;
      expect(results.map(({ seq }) => seq)).toEqual([first, first + 1, first + 2]);
    }
    expect(await count()).toBe(36);
  });

  test("I4: a repeat gets the first answer; refusals are not kept", async () => {
    const idempotencyKey = "k";
    await expect(sendAll(["finish", "add"], { idempotencyKey })).rejects.toMatchObject({
      code: "instance-ended",
    });
    const first = await sendAll(["add", "add"], { idempotencyKey });
    expect(await sendAll(["add", "add"], { idempotencyKey })).toEqual({ ...first, replayed: true });
    await expect(sendAll(["add"], { idempotencyKey })).rejects.toMatchObject({
      code: "idempotency-key-reuse",
    });
    expect(await count()).toBe(2);
  });

  test("I1: what waits in the mailbox comes before them, however much it is", async () => {
    await at.runtime.suspendInstance(local, { instanceId, reason: "r" });
    for (let n = 0; n < 130; n += 1)
      await at.runtime.sendEvent(local, { instanceId, type: "add", waitMs: 0 });
    await expect(sendAll(["add"])).rejects.toMatchObject({ code: "wrong-status" });
    await at.runtime.resumeInstance(local, { instanceId, reason: "r" });
    const { results } = await sendAll(["add", "finish"], { waitMs: 20_000 });
    expect(results[1]?.seq).toBe(1 + 2 + 130 + 2);
  });

  test("too many, none, or a bad one is refused before anything is stored", async () => {
    await expect(sendAll(Array.from({ length: 101 }, () => "add"))).rejects.toMatchObject({
      code: "bad-request",
    });
    await expect(sendAll([])).rejects.toMatchObject({ code: "bad-request" });
    await expect(sendAll(["add", "error.execution"])).rejects.toMatchObject({ code: "bad-request" });
    await expect(
      at.runtime.sendEvents(local, { instanceId: "nobody", events: [{ type: "add" }] }),
    ).rejects.toMatchObject({ code: "not-found" });
  });
});
