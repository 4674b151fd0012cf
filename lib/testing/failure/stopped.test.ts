/** Processes that are stopped (SIGSTOP) in the middle of what they do, and go on when others have long taken over. */
import { afterEach, expect, test, vi } from "vitest";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { adder } from "./charts";
import { killChildren, startChild, type Child } from "./child";

let at: TestRuntime;
afterEach(async () => {
  await killChildren();
  await at.end();
});
const name = "stopped";
const ids = ["a", "b", "c"];
const begin = async (provider: "sqlite" | "postgresql") => {
  at = await freshRuntime(provider);
  await publish(at.runtime, "adder", adder);
  for (const id of ids) await at.runtime.startInstance(local, { chartId: "adder", id });
};
const state = (instanceId: string) => at.runtime.getState(local, { instanceId });
const add = (instanceId: string, n: number, more: object = {}) =>
  at.runtime.sendEvent(local, { instanceId, type: "add", data: { n }, waitMs: 20_000, ...more });
/** A process that stops itself between a step's read and its writes, holding `a` and `b`. */
async function stopMidBatch(): Promise<{ child: Child; answers: Promise<unknown[]> }> {
  const child = await startChild(name, { url: at.database.url, stopAt: "halt", workers: false });
  const halt = (instanceId: string) => child.call("sendEvent", { instanceId, type: "halt", waitMs: 500 });
  const answers = Promise.all([halt("a"), halt("b")]);
  await child.stopping;
  return { child, answers };
}

test("I9: on postgresql, a process stopped in the middle of a batch is cut off after 5 s; the others go on, what it writes later changes nothing; I3: a deleted instance is not stepped, and its old seq never fits", async () => {
  await begin("postgresql");
  const { child, answers } = await stopMidBatch();
  const began = performance.now();
  // Nobody else's instance waits for it.
  expect(await add("c", 1)).toMatchObject({ state: "applied", seq: 2 });
  expect(performance.now() - began).toBeLessThan(3_000);
  const [deleted, added] = await Promise.all([
    at.runtime.deleteInstance(local, { instanceId: "a" }),
    add("b", 5),
  ]);
  expect(deleted).toBeTruthy();
  expect(added).toMatchObject({ state: "applied", seq: 2 });
  expect(performance.now() - began).toBeLessThan(12_000);
  await at.runtime.startInstance(local, { chartId: "adder", id: "a" });
  const { seq } = await state("a");
  expect(seq).toBeGreaterThan(2);
  child.kill("SIGCONT");
  // Which of both depends on how far it had come: neither says that it was done.
  for (const answer of await answers)
    expect(answer).toMatchObject({
      code: expect.stringMatching("database-unavailable|outcome-unknown") as string,
      retry: "later",
    });
  await expect(add("a", 1, { expectedSeq: 1 })).rejects.toMatchObject({
    code: "sequence-conflict",
    details: { expected: 1, actual: seq },
  });
  expect(await state("a")).toMatchObject({ context: { sum: 0 }, seq });
  expect(await state("b")).toMatchObject({ context: { sum: 5 }, seq: 2, hashMatches: true });
  expect(at.reported).toEqual([]);
}, 40_000);

test("I9: on sqlite, while a process is stopped in the middle of a batch others wait, and health names it; then its step lands, and a delete after it", async () => {
  await begin("sqlite");
  const { child, answers } = await stopMidBatch();
  const added = add("c", 1);
  const deleted = at.runtime.deleteInstance(local, { instanceId: "a" });
  if (process.platform === "linux")
    await vi.waitFor(
      async () =>
        expect(await at.runtime.getHealth(local, {})).toMatchObject({
          status: "degraded",
          trouble: expect.stringContaining(`Process ${child.pid} holds`) as string,
        }),
      5_000,
    );
  expect((await at.store.findInstance("c"))?.seq).toBe(1);
  child.kill("SIGCONT");
  expect(await answers).toMatchObject([{ result: { seq: 2 } }, { result: { seq: 2 } }]);
  expect(await added).toMatchObject({ state: "applied", seq: 2 });
  await deleted;
  await at.runtime.startInstance(local, { chartId: "adder", id: "a" });
  expect((await state("a")).seq).toBeGreaterThan(3);
  await expect(add("a", 1, { expectedSeq: 2 })).rejects.toMatchObject({ code: "sequence-conflict" });
  expect(await at.runtime.getHealth(local, {})).toMatchObject({ status: "ok", trouble: null });
}, 40_000);

test("I9: on sqlite, a process killed while it is stopped leaves nothing of its batch", async () => {
  await begin("sqlite");
  const { child } = await stopMidBatch();
  const added = add("a", 1);
  child.kill("SIGKILL");
  expect(await added).toMatchObject({ seq: 2 });
  expect(await state("b")).toMatchObject({ seq: 1 });
});

test.each(["sqlite", "postgresql"] as const)(
  "I3: on %s, a process that sleeps past its lease is refused what it does with the lock, with a taker and without; I7 holds",
  async (provider) => {
    await begin(provider);
    const child = await startChild(name, { url: at.database.url, workers: false });
    at.runtime.startWorkers();
    const take = (key: string, ttlMs: number) =>
      child.do("acquireLock", { key, session: "s", holder: "sleeper", ttlMs });
    const [taken, free] = [await take("taken", 1_000), await take("free", 1_000)];
    if (taken.result !== "acquired" || free.result !== "acquired") throw new Error("a new key is free");
    child.kill("SIGSTOP");
    const other = await at.runtime.acquireLock(local, {
      key: "taken",
      session: "t",
      holder: "taker",
      waitMs: 5_000,
    });
    expect(other).toMatchObject({ result: "acquired", fence: taken.fence + 1 });
    await vi.waitFor(async () => {
      const { items } = await at.runtime.getLockLog(local, { key: "free" });
      const lock = await at.store.findLocks(["free"]);
      expect((lock[0]?.expiresAt ?? 0) <= (await at.store.now()) || items[0]?.type === "EXPIRED").toBe(true);
    }, 5_000);
    child.kill("SIGCONT");
    const write = (key: string, fence: number) =>
      child.call("sendEvent", {
        instanceId: "a",
        type: "add",
        data: { n: 1 },
        fences: [{ key, session: "s", fence }],
      });
    expect(await write("taken", taken.fence)).toMatchObject({ code: "stale-fence" });
    expect(await write("free", free.fence)).toMatchObject({ code: "stale-fence" });
    const renew = (key: string, fence: number) => child.call("renewLock", { key, session: "s", fence });
    expect(await renew("taken", taken.fence)).toMatchObject({
      code: "lock-lost",
      details: { reason: "superseded" },
    });
    expect(await renew("free", free.fence)).toMatchObject({
      code: "lock-lost",
      details: { reason: "expired" },
    });
    expect(await state("a")).toMatchObject({ context: { sum: 0 }, seq: 1 });
    expect(await take("free", 1_000)).toMatchObject({ result: "acquired", fence: free.fence + 1 });
  },
  30_000,
);
