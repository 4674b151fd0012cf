import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { must } from "@/lib/base/assert";
import type { OptimisticSteps } from "@/lib/store/steps";
import { advance } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

let at: TestRuntime;
let reads: { mock: { calls: unknown[] } };
const add = () => at.runtime.sendEvent(local, { instanceId: "c", type: "add" });
const last = async () => {
  const { items } = await at.runtime.getLog(local, { instanceId: "c" });
  return must(
    items.find(({ seq }) => seq === Math.max(...items.map((entry) => entry.seq))),
    "an entry",
  );
};

/** A machine that stops this process for 100 ms between reckoning and writing makes it read again, as it should. */
const paused = { retry: 3 };

describe.each(["sqlite", "postgresql"] as const)("on %s", (provider) => {
  beforeEach(async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "counter", counter);
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    // SQLite reads within a batch.
    reads =
      provider === "sqlite"
        ? vi.spyOn(at.store, "transaction")
        : vi.spyOn(at.store.optimistic as OptimisticSteps & { find: object }, "find");
  });
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });

  test("a lone sender's steps of an instance that this process wrote last read nothing", paused, async () => {
    // The first may take a busy machine so long, to connect and to prepare, that its time is too old.
    await add();
    const before = reads.mock.calls.length;
    for (const seq of [3, 4, 5]) expect(await add()).toMatchObject({ state: "applied", seq });
    expect(reads.mock.calls).toHaveLength(before);
    expect(await at.runtime.getState(local, { instanceId: "c" })).toMatchObject({
      seq: 5,
      hashMatches: true,
    });
  });

  test("I1: after another process has stepped it, nothing is lost", async () => {
    const other = await at.again();
    await other.runtime.sendEvent(local, { instanceId: "c", type: "add" });
    expect(await add()).toMatchObject({ seq: 3 });
    expect(await add()).toMatchObject({ seq: 4 });
    const { context } = await at.runtime.getInstance(local, { instanceId: "c" });
    expect(context).toEqual({ count: 3 });
  });

  test("one that another process has stepped is read once", paused, async () => {
    const other = await at.again();
    await other.runtime.sendEvent(local, { instanceId: "c", type: "add" });
    for (const seq of [3, 4]) expect(await add()).toMatchObject({ seq });
    expect(reads.mock.calls).toHaveLength(1);
  });

  test("I10: when the database's clock jumps, a step has the new time", async () => {
    await add();
    const before = (await last()).at;
    for (const [ms, seq] of [
      [3_600_000, 3],
      [-1_800_000, 4],
    ] as const) {
      await advance(at.database.url, ms);
      expect(await add()).toMatchObject({ seq });
      expect((await last()).at).toBeGreaterThanOrEqual(before + 3_600_000);
    }
    expect(reads.mock.calls.length).toBeGreaterThanOrEqual(1);
  });

  test("a deleted one that was begun anew is never taken for the old one", async () => {
    await add();
    const other = await at.again();
    await other.runtime.deleteInstance(local, { instanceId: "c" });
    await expect(add()).rejects.toMatchObject({ code: "not-found" });
    await other.runtime.startInstance(local, { chartId: "counter", id: "c" });
    await add();
    expect((await at.runtime.getInstance(local, { instanceId: "c" })).context).toEqual({ count: 1 });
  });

  test("I1: of senders together, those whose instance was overtaken go the long way, and each is applied once", async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `g${n}`);
    for (const id of ids) await at.runtime.startInstance(local, { chartId: "counter", id });
    const other = await at.again();
    for (const instanceId of ids.slice(0, 3))
      await other.runtime.sendEvent(local, { instanceId, type: "add" });
    const writes = vi.spyOn(at.store.optimistic, "write");
    const send = (instanceId: string, more: object = {}) =>
      at.runtime.sendEvent(local, { instanceId, type: "add", ...more });
    const results = await Promise.all([
      ...ids.map((id) => send(id)),
      send("g11"),
      send("c", { idempotencyKey: "once" }),
      send("c", { idempotencyKey: "once" }),
    ]);
    expect(results.slice(0, 12).map(({ seq }) => seq)).toEqual(ids.map((_, n) => (n < 3 ? 3 : 2)));
    // Two for one instance keep their order; of two with one key, one gets the other's answer.
    const [second, ...keyed] = results.slice(12);
    expect(second).toMatchObject({ seq: 3, replayed: false });
    expect(keyed.map(({ seq }) => seq)).toEqual([2, 2]);
    expect(keyed.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    // How many go together is a matter of time.
    expect(Math.max(...writes.mock.calls.map(([steps]) => steps.length))).toBeGreaterThan(1);
    for (const [n, instanceId] of ids.entries()) {
      const { seq, hashMatches } = await at.runtime.getState(local, { instanceId });
      expect({ seq, hashMatches }).toEqual({ seq: n < 3 || n === 11 ? 3 : 2, hashMatches: true });
    }
  });

  test("one that ends goes the short way too, and takes no more", async () => {
    const finish = () => at.runtime.sendEvent(local, { instanceId: "c", type: "finish" });
    await add();
    const before = reads.mock.calls.length;
    expect(await finish()).toMatchObject({ status: "completed", seq: 3 });
    expect(reads.mock.calls).toHaveLength(before);
    const row = must(await at.store.findInstance("c"), "c");
    expect([row.status, row.endedAt]).toEqual(["completed", row.at]);
    await expect(finish()).rejects.toMatchObject({ code: "instance-ended" });
  });
});
