import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

const asks = {
  lockstep: 1,
  initial: "asking",
  states: { asking: { invoke: { id: "ask", src: "human", input: { title: "'?'" } } } },
};

describe.each(providers)("fences of calls that have no turn, on %s", (provider) => {
  let at: TestRuntime;
  const key = "k";
  const lost = [{ key, session: "late", fence: 1 }];
  const good = [{ key, session: "now", fence: 2 }];
  beforeEach(async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "counter", counter);
    await publish(at.runtime, "asks", asks);
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    await at.runtime.acquireLock(local, { key, session: "late", holder: "late" });
    await at.runtime.releaseLock(local, { key, session: "late", fence: 1 });
    await at.runtime.acquireLock(local, { key, session: "now", holder: "now" });
  });
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const rejected = async () => {
    const { items } = await at.runtime.getLockLog(local, { key, limit: 50 });
    return items.filter(({ type }) => type === "WRITE_REJECTED");
  };
  const stale = { code: "stale-fence", details: { key, fence: 1, current: 2 } };

  test("I3: a start under a stale fence makes nothing, and the lock tells of it; with a good one it starts", async () => {
    const start = (fences: typeof lost) =>
      at.runtime.startInstance(local, { chartId: "counter", id: "n", fences, idempotencyKey: "once" });
    await expect(start(lost)).rejects.toMatchObject(stale);
    await expect(at.runtime.getInstance(local, { instanceId: "n" })).rejects.toMatchObject({
      code: "not-found",
    });
    expect(await rejected()).toMatchObject([{ session: "late" }]);
    expect(await start(good)).toMatchObject({ id: "n", seq: 1 });
  });

  test("I3: a fork under a stale fence makes nothing", async () => {
    const fork = (fences: typeof lost) =>
      at.runtime.forkInstance(local, { instanceId: "c", id: "f", reason: "r", fences });
    await expect(fork(lost)).rejects.toMatchObject(stale);
    await expect(at.runtime.getInstance(local, { instanceId: "f" })).rejects.toMatchObject({
      code: "not-found",
    });
    expect(await fork(good)).toMatchObject({ id: "f" });
  });

  test("I3: a delete under a stale fence, or of one that has moved on, deletes nothing", async () => {
    const remove = (guard: object) => at.runtime.deleteInstance(local, { instanceId: "c", ...guard });
    await expect(remove({ fences: lost })).rejects.toMatchObject(stale);
    await at.runtime.sendEvent(local, { instanceId: "c", type: "add" });
    await expect(remove({ expectedSeq: 1, fences: good })).rejects.toMatchObject({
      code: "sequence-conflict",
      details: { expected: 1, actual: 2 },
    });
    expect(await remove({ expectedSeq: 2, fences: good })).toMatchObject({ id: "c", seq: 3 });
  });

  test("I4: a delete repeated with its key gets its answer, also when the id has been used again: that one stays", async () => {
    const remove = (more: object = {}) =>
      at.runtime.deleteInstance(local, { instanceId: "c", idempotencyKey: "once", ...more });
    expect(await remove()).toEqual({ id: "c", seq: 2, replayed: false });
    expect(await remove()).toEqual({ id: "c", seq: 2, replayed: true });
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    expect(await remove()).toEqual({ id: "c", seq: 2, replayed: true });
    await expect(remove({ expectedSeq: 3 })).rejects.toMatchObject({ code: "idempotency-key-reuse" });
    expect(await at.runtime.getInstance(local, { instanceId: "c" })).toMatchObject({ seq: 3 });
  });

  test("I3: a person's answer under a stale fence moves nothing", async () => {
    await at.runtime.startInstance(local, { chartId: "asks", id: "a" });
    const answer = (fences: typeof lost) =>
      at.runtime.answerTask(local, { instanceId: "a", taskId: "1:ask", output: {}, fences });
    await expect(answer(lost)).rejects.toMatchObject(stale);
    expect(await rejected()).toHaveLength(1);
    expect(await answer(good)).toMatchObject({ status: "succeeded", replayed: false });
  });

  test("I3: a dead letter is not sent again under a stale fence", async () => {
    await at.runtime.suspendInstance(local, { instanceId: "c", reason: "r" });
    const { messageId } = await at.runtime.sendEvent(local, { instanceId: "c", type: "add", fences: good });
    await at.runtime.forceReleaseLock(local, { key, expectedFence: 2, reason: "for the test" });
    await at.runtime.resumeInstance(local, { instanceId: "c", reason: "r" });
    await expect(
      at.runtime.retryDeadLetter(local, { instanceId: "c", messageId, fences: good }),
    ).rejects.toMatchObject({ code: "stale-fence" });
    expect(await at.runtime.getInstance(local, { instanceId: "c" })).toMatchObject({
      context: { count: 0 },
    });
  });
});
