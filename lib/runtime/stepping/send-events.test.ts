import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
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

  describe("answered at once", () => {
    const later = (types: string[], more: object = {}) => sendAll(types, { respondAsync: true, ...more });
    const outcomeOf = (messageId = "") => at.runtime.getMessage(local, { instanceId, messageId });
    const work = async () => {
      while (await at.runtime.workOnce());
    };

    test("I2: they wait as one message, and are applied one right after another", async () => {
      const queued = await later(["add", "unheard", "add"]);
      expect(queued).toMatchObject({ state: "queued", seq: null, results: [], pending: 1, replayed: false });
      expect(new Set(queued.messageIds).size).toBe(3);
      for (const id of queued.messageIds) expect(await outcomeOf(id)).toMatchObject({ state: "queued" });
      expect(await count()).toBe(0);
      await at.runtime.sendEvent(local, { instanceId, type: "add" });
      expect(await count()).toBe(3);
      const [first, second, last] = queued.messageIds;
      expect(await outcomeOf(first)).toMatchObject({ state: "applied", seq: 2, outcome: "handled" });
      expect(await outcomeOf(second)).toMatchObject({ seq: 3, outcome: "ignored", reason: "no-handler" });
      expect(await outcomeOf(last)).toMatchObject({ messageId: last, seq: 4, outcome: "handled" });
      for (const seq of [2, 3, 4, 5])
        expect(await at.runtime.getState(local, { instanceId, seq })).toMatchObject({ hashMatches: true });
    });

    test("I2: one after the end, one whose step fails or a check refuses all, which then are one dead letter", async () => {
      const spun = await later(["add", "spin", "add"]);
      const early = await later(["add", "add"], { expectedSeq: 7 });
      const over = await later(["add", "finish", "add"]);
      await work();
      expect(await view()).toMatchObject({ seq: 1, status: "running", pending: 0 });
      for (const [{ messageIds }, reason] of [
        [spun, "step-failed"],
        [early, "sequence-conflict"],
        [over, "instance-ended"],
      ] as const)
        for (const id of messageIds) expect(await outcomeOf(id)).toMatchObject({ state: "refused", reason });
      const letters = (await at.runtime.listDeadLetters(local, { instanceId })).items;
      expect(letters).toHaveLength(3);
      expect(letters).toContainEqual(
        expect.objectContaining({
          messageId: spun.messageIds.at(-1),
          data: [{ type: "add" }, { type: "spin" }, { type: "add" }],
        }),
      );
      // Sent again, it is still one.
      const messageId = over.messageIds.at(-1) ?? "";
      await expect(at.runtime.retryDeadLetter(local, { instanceId, messageId })).rejects.toMatchObject({
        code: "instance-ended",
        details: { index: 2 },
      });
      expect(await view()).toMatchObject({ seq: 1, context: { count: 0 } });
    });

    test("I4: a repeat gets the same message, then its outcome, and so does one that waits", async () => {
      const idempotencyKey = "k";
      const twins = await Promise.all([1, 2].map(() => later(["add", "add"], { idempotencyKey })));
      expect(twins.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
      expect(twins[0]?.messageIds).toEqual(twins[1]?.messageIds);
      await expect(later(["add"], { idempotencyKey })).rejects.toMatchObject({
        code: "idempotency-key-reuse",
      });
      const waited = await sendAll(["add", "add"], { idempotencyKey });
      expect(waited).toMatchObject({
        ...{ state: "applied", seq: 3, messageIds: twins[0]?.messageIds, replayed: true },
        results: [{ seq: 2 }, { seq: 3, messageId: twins[0]?.messageIds.at(-1) }],
      });
      expect(await later(["add", "add"], { idempotencyKey })).toEqual(waited);
      expect(await count()).toBe(2);
      const first = await sendAll(["add"], { idempotencyKey: "other" });
      expect(await later(["add"], { idempotencyKey: "other" })).toEqual({ ...first, replayed: true });
      await later(["add", "spin"], { idempotencyKey: "spun" });
      await expect(sendAll(["add", "spin"], { idempotencyKey: "spun" })).rejects.toMatchObject({
        code: "step-failed",
      });
      expect(await count()).toBe(3);
    });

    test("I4: one answered at once beside others with its key: they are applied once, and nobody gets a defect", async () => {
      for (let round = 1; round <= 10; round += 1) {
        const idempotencyKey = `beside-${round}`;
        await Promise.all([
          sendAll(["add", "add"], { idempotencyKey }),
          later(["add", "add"], { idempotencyKey }),
          sendAll(["add", "add"], { idempotencyKey }),
        ]);
        await work();
        expect(await count()).toBe(2 * round);
      }
    });

    test("there is no event beyond the last that waits, nor of a message that is one event", async () => {
      await at.runtime.suspendInstance(local, { instanceId, reason: "r" });
      const { messageIds } = await later(["add", "add"]);
      const one = await at.runtime.sendEvent(local, { instanceId, type: "add" });
      for (const id of [`${messageIds.at(-1)}.2`, `${one.messageId}.1`])
        await expect(outcomeOf(id)).rejects.toMatchObject({ code: "not-found" });
    });

    test("I4: a key whose message waits is not forgotten", async () => {
      await at.runtime.suspendInstance(local, { instanceId, reason: "r" });
      const idempotencyKey = "k";
      const queued = await later(["add", "add"], { idempotencyKey });
      await advance(at.database.url, 400 * 86_400_000);
      await at.runtime.tidyOnce();
      expect(await later(["add", "add"], { idempotencyKey })).toMatchObject({
        messageIds: queued.messageIds,
        replayed: true,
      });
    });

    test("a suspended instance takes them when it runs again; one that has ended refuses them at once", async () => {
      await at.runtime.suspendInstance(local, { instanceId, reason: "r" });
      expect(await later(["add", "add"])).toMatchObject({ state: "queued", status: "suspended" });
      await at.runtime.resumeInstance(local, { instanceId, reason: "r" });
      await work();
      expect(await count()).toBe(2);
      await sendAll(["finish"]);
      await expect(later(["add"])).rejects.toMatchObject({ code: "instance-ended" });
    });
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
