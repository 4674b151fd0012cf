import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { must } from "@/lib/base/assert";
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

beforeEach(async () => {
  at = await freshRuntime("postgresql");
  await publish(at.runtime, "counter", counter);
  await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
  reads = vi.spyOn(must(at.store.alone, "PostgreSQL has the short way"), "find");
});
afterEach(async () => {
  await at.end();
  expect(at.reported).toEqual([]);
});

test("a lone sender's steps of an instance that this process wrote last read nothing", async () => {
  for (const seq of [2, 3, 4]) expect(await add()).toMatchObject({ state: "applied", seq });
  expect(reads.mock.calls).toHaveLength(0);
  expect(await at.runtime.getState(local, { instanceId: "c" })).toMatchObject({ seq: 4, hashMatches: true });
});

test("I1: after another process has stepped it, it is read once, and nothing is lost", async () => {
  const other = await at.again();
  await other.runtime.sendEvent(local, { instanceId: "c", type: "add" });
  expect(await add()).toMatchObject({ seq: 3 });
  expect(await add()).toMatchObject({ seq: 4 });
  expect(reads.mock.calls).toHaveLength(1);
  const { context } = await at.runtime.getInstance(local, { instanceId: "c" });
  expect(context).toEqual({ count: 3 });
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
