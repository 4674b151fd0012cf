/**
 * Batches on both databases: one verb over many instances, each once.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { anonymousActor } from "@/lib/access/actor";
import { must } from "@/lib/base/assert";
import { advance, providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";
import { batchItemRow } from "@/lib/testing/rows";
import type { CreateBatchArgs } from "./create-batch";

const order = { reason: "tidying up" };

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "counter", counter);
  });
  afterEach(async () => {
    expect(at.reported).toEqual([]);
    await at.end();
  });
  async function start(count: number, over = {}): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, n) => `c${String(n).padStart(3, "0")}`);
    for (const id of ids) await at.runtime.startInstance(local, { chartId: "counter", id, ...over });
    return ids;
  }
  async function finished(batchId: string) {
    await vi.waitFor(
      async () => expect((await at.runtime.getBatch(local, { batchId })).status).toBe("done"),
      { timeout: 25_000, interval: 30 },
    );
    return at.runtime.getBatch(local, { batchId });
  }
  const make = (args: CreateBatchArgs) => at.runtime.createBatch(local, args);
  const itemsOf = async (batchId: string) =>
    (await at.runtime.listBatchItems(local, { batchId, limit: 200 })).items;
  const controlsOf = async (instanceId: string) =>
    (await at.runtime.getLog(local, { instanceId })).items.filter(({ kind }) => kind === "control");

  test("a verb is done to each one of a filter, once, with reason and caller in its log; what is created later is not in it", async () => {
    const ids = await start(70);
    await publish(at.runtime, "other", counter);
    await at.runtime.startInstance(local, { chartId: "other", id: "other" });
    const selection = { filter: { chartId: "counter" } };
    expect(await at.runtime.countBatch(local, { selection })).toEqual({
      count: 70,
      capped: false,
      byStatus: [{ status: "running", count: 70 }],
    });
    const batch = await make({ verb: "suspend", selection, ...order });
    expect(batch).toMatchObject({ status: "listing", total: 0, name: "suspend: chartId counter" });
    await advance(at.database.url, 5);
    await at.runtime.startInstance(local, { chartId: "counter", id: "later" });
    at.runtime.startWorkers();
    expect(await finished(batch.id)).toMatchObject({ total: 70, ok: 70, refused: 0, skipped: 0 });
    for (const instanceId of [ids[0] ?? "", ids[69] ?? ""]) {
      expect(await at.runtime.getInstance(local, { instanceId })).toMatchObject({ status: "suspended" });
      const entry = await at.runtime.getLogEntry(local, { instanceId, seq: 2 });
      expect(entry).toMatchObject({ type: "suspend", actor: "local", data: order });
    }
    const running = await at.runtime.listInstances(local, { status: "running" });
    expect(running.items.map(({ id }) => id).sort()).toEqual(["later", "other"]);
  });

  test("counted for a verb it is refused as it would be when made; what goes with a verb needs one", async () => {
    await start(1);
    const selection = { filter: { chartId: "counter" } };
    for (const wrong of [
      { verb: "migrate" },
      { verb: "migrate", version: 9 },
      { verb: "suspend", mapping: { counting: "counting" } },
      { verb: "suspend", name: "a\0" },
    ] as const) {
      const args = { selection, ...order, ...wrong };
      const refused: unknown = await make(args).catch((error: unknown) => error);
      await expect(at.runtime.countBatch(local, args)).rejects.toEqual(refused);
    }
    await expect(at.runtime.countBatch(local, { selection, version: 1 })).rejects.toMatchObject({
      code: "bad-request",
      details: { field: "verb" },
    });
    const asked = { selection, verb: "migrate", version: 1, ...order } as const;
    expect(await at.runtime.countBatch(local, asked)).toMatchObject({ count: 1 });
    expect((await at.runtime.listBatches(local, {})).items).toEqual([]);
  });

  test("each item tells its outcome: ok, refused with the code, skipped where there was nothing to do", async () => {
    const [first = "", second = "", third = ""] = await start(3);
    await at.runtime.suspendInstance(local, { instanceId: first, ...order });
    await at.runtime.terminateInstance(local, { instanceId: second, ...order });
    const batch = await make({
      verb: "suspend",
      name: "before the fair",
      selection: { instanceIds: [first, second, third, "nobody", third] },
      ...order,
    });
    at.runtime.startWorkers();
    expect(await finished(batch.id)).toMatchObject({
      name: "before the fair",
      total: 4,
      ok: 1,
      refused: 2,
      skipped: 1,
    });
    const told = (await itemsOf(batch.id)).map(({ instanceId, status, error }) => [
      instanceId,
      status,
      error?.code ?? null,
    ]);
    expect(told).toEqual([
      [first, "skipped", null],
      [second, "refused", "instance-ended"],
      [third, "ok", null],
      ["nobody", "refused", "not-found"],
    ]);
    const refused = await at.runtime.listBatchItems(local, { batchId: batch.id, status: "refused" });
    expect(refused.items.map(({ instanceId }) => instanceId)).toEqual([second, "nobody"]);
  });

  test("I4, I9: a worker that died after the deed and before its record: another one repeats the portion, and nothing is done twice", async () => {
    const [one = "", two = ""] = await start(2);
    const batch = await make({ verb: "suspend", selection: { instanceIds: [one, two] }, ...order });
    // As run-batches does it, up to where it was killed: claimed for 30 s, one item done, nothing recorded.
    await at.store.transaction(async (tx) => {
      const row = must(await tx.lockBatch(batch.id), "the batch");
      await tx.insertBatchItems(
        [one, two].map((instanceId, place) => ({
          batchId: batch.id,
          place,
          instanceId,
          status: "pending" as const,
          attempts: 0,
          code: null,
          message: null,
          at: null,
        })),
      );
      const nextAt = (await tx.now()) + 30_000;
      await tx.updateBatch({ ...row, status: "running", cursor: null, total: 2, token: "dead", nextAt });
    });
    const key = `${batch.id}:0`;
    await at.runtime.suspendInstance(local, { instanceId: one, idempotencyKey: key, ...order });
    at.runtime.startWorkers();
    await new Promise((done) => setTimeout(done, 400));
    expect((await at.runtime.getBatch(local, { batchId: batch.id })).ok).toBe(0);
    await advance(at.database.url, 31_000);
    expect(await finished(batch.id)).toMatchObject({ ok: 2, skipped: 0 });
    for (const id of [one, two]) expect(await controlsOf(id)).toHaveLength(1);
  });

  test("it is stopped where it is and goes on with what was left", async () => {
    await start(6);
    const batch = await make({ verb: "cancel", selection: { filter: {} }, ratePerSecond: 1, ...order });
    at.runtime.startWorkers();
    await vi.waitFor(
      async () => expect((await at.runtime.getBatch(local, { batchId: batch.id })).ok).toBeGreaterThan(0),
      { timeout: 10_000, interval: 10 },
    );
    const cancelled = await at.runtime.cancelBatch(local, { batchId: batch.id });
    expect(cancelled).toMatchObject({ status: "cancelled", total: 6 });
    expect(cancelled.ok).toBeLessThan(6);
    await advance(at.database.url, 60_000);
    await new Promise((done) => setTimeout(done, 400));
    const stopped = await at.runtime.getBatch(local, { batchId: batch.id });
    expect(stopped.ok).toBeLessThanOrEqual(cancelled.ok + 1);
    expect((await at.runtime.listInstances(local, { status: "running" })).items).toHaveLength(6 - stopped.ok);
    expect(await at.runtime.resumeBatch(local, { batchId: batch.id })).toMatchObject({ status: "running" });
    for (let seconds = 0; seconds < 8; seconds += 1) {
      await advance(at.database.url, 1_000);
      await new Promise((done) => setTimeout(done, 150));
    }
    expect(await finished(batch.id)).toMatchObject({ ok: 6 });
    expect(await at.runtime.cancelBatch(local, { batchId: batch.id })).toMatchObject({ status: "done" });
  });

  test("no more than its rate a second begin", async () => {
    await start(5);
    const batch = await make({ verb: "suspend", selection: { filter: {} }, ratePerSecond: 2, ...order });
    const began = await at.store.now();
    at.runtime.startWorkers();
    await finished(batch.id);
    // The first goes at once, the fifth two seconds later.
    expect((await at.store.now()) - began).toBeGreaterThanOrEqual(1_950);
  });

  test("dead letters of each are sent again, and each is moved to another version, once", async () => {
    const chart = {
      lockstep: 1,
      context: { n: 0 },
      initial: "a",
      states: { a: { on: { boom: { actions: [{ assign: { n: "context.n / 0" } }] }, go: "b" } }, b: {} },
    };
    await publish(at.runtime, "two", chart);
    await at.runtime.startInstance(local, { chartId: "two", version: 1, id: "t1" });
    await publishNext(at.runtime, "two", { ...chart, states: { ...chart.states, c: {} } });
    await at.runtime.startInstance(local, { chartId: "two", id: "t2" });
    at.runtime.startWorkers();
    const selection = { filter: { chartId: "two" } };
    await expect(make({ verb: "migrate", selection, ...order })).rejects.toMatchObject({
      code: "bad-request",
    });
    const move = await make({ verb: "migrate", version: 2, selection, ...order });
    expect(await finished(move.id)).toMatchObject({ total: 2, ok: 1, skipped: 1 });
    expect(await at.runtime.getInstance(local, { instanceId: "t1" })).toMatchObject({ version: 2 });

    const input = { instanceId: "t1", messageId: "m-dead", incarnation: 1, type: "go", actor: "local" };
    const letter = { ...input, input: '{"kind":"event","type":"go"}', cause: null, enqueuedAt: 1, at: 1 };
    const { noWrites } = await import("@/lib/store/steps");
    await at.store.transaction((tx) =>
      tx.writeSteps({ ...noWrites(), deadLetters: [{ ...letter, reason: "step-failed", retriedAs: null }] }),
    );
    const retry = await make({ verb: "retry-dead-letters", selection, ...order });
    expect(await finished(retry.id)).toMatchObject({ total: 2, ok: 1, skipped: 1 });
    const after = await at.runtime.getInstance(local, { instanceId: "t1" });
    expect(after).toMatchObject({ configuration: ["b"] });
    // As if the outcomes had not been recorded: the portion is done again, and changes nothing.
    const { items } = await at.runtime.listBatchItems(local, { batchId: retry.id });
    await at.store.transaction(async (tx) => {
      const row = must(await tx.lockBatch(retry.id), "the batch");
      await tx.updateBatchItems(
        items.map(({ place, instanceId }) => batchItemRow({ batchId: retry.id, place, instanceId })),
      );
      const nextAt = await tx.now();
      await tx.updateBatch({ ...row, status: "running", ok: 0, skipped: 0, nextAt, endedAt: null });
    });
    expect(await finished(retry.id)).toMatchObject({ ok: 1, skipped: 1 });
    expect((await at.runtime.getInstance(local, { instanceId: "t1" })).seq).toBe(after.seq);
  });

  test("I4: of dead letters sent again each is tried, and the item tells how many were not applied, repeated too", async () => {
    const states = {
      a: { on: { spin: "b", go: "c" } },
      b: { always: [{ guard: "context.n == 0", target: "d" }] },
      d: { always: [{ guard: "context.n == 0", target: "b" }] },
    };
    await publish(at.runtime, "spin", {
      lockstep: 1,
      context: { n: 0 },
      initial: "a",
      settings: { errors: "continue", microstepsMax: 20 },
      states: { ...states, c: {} },
    });
    await at.runtime.startInstance(local, { chartId: "spin", id: "t1" });
    const letters = ["spin", "spin", "go"].map((type, n) => ({
      ...{ instanceId: "t1", messageId: `m-${n}`, incarnation: 1, type, actor: "local", cause: null },
      ...{ input: JSON.stringify({ kind: "event", type }), enqueuedAt: 1, at: 3 - n, retriedAs: null },
      reason: "step-failed",
    }));
    const { noWrites } = await import("@/lib/store/steps");
    await at.store.transaction((tx) => tx.writeSteps({ ...noWrites(), deadLetters: letters }));
    at.runtime.startWorkers();
    const selection = { instanceIds: ["t1"] };
    const retry = await make({ verb: "retry-dead-letters", selection, ...order });
    expect(await finished(retry.id)).toMatchObject({ total: 1, ok: 0, refused: 1 });
    const items = async () => (await at.runtime.listBatchItems(local, { batchId: retry.id })).items;
    const told = /^2 of 3 dead letters were not applied, the others were/;
    expect(await items()).toMatchObject([
      { error: { code: "step-failed", message: expect.stringMatching(told) as string } },
    ]);
    const after = await at.runtime.getInstance(local, { instanceId: "t1" });
    expect(after).toMatchObject({ configuration: ["c"], seq: 4 });
    await at.store.transaction(async (tx) => {
      const row = must(await tx.lockBatch(retry.id), "the batch");
      await tx.updateBatchItems([batchItemRow({ batchId: retry.id, place: 0, instanceId: "t1" })]);
      const nextAt = await tx.now();
      await tx.updateBatch({ ...row, status: "running", refused: 0, nextAt, endedAt: null });
    });
    expect(await finished(retry.id)).toMatchObject({ refused: 1 });
    expect(await items()).toMatchObject([
      { error: { code: "step-failed", message: expect.stringMatching(told) as string } },
    ]);
    expect((await at.runtime.getInstance(local, { instanceId: "t1" })).seq).toBe(after.seq);
  });

  /** As if the outcomes had not been recorded: the portion is done again. */
  async function again(batchId: string) {
    const items = await itemsOf(batchId);
    await at.store.transaction(async (tx) => {
      const row = must(await tx.lockBatch(batchId), "the batch");
      await tx.updateBatchItems(
        items.map(({ place, instanceId }) => batchItemRow({ batchId, place, instanceId })),
      );
      const nextAt = await tx.now();
      await tx.updateBatch({ ...row, status: "running", ok: 0, refused: 0, nextAt, endedAt: null });
    });
    return finished(batchId);
  }
  const add = (instanceId: string) => at.runtime.sendEvent(local, { instanceId, type: "add" });
  const countOf = async (instanceId: string) =>
    (await at.runtime.getInstance(local, { instanceId })).context as { count: number };

  test("I4: each is put back to its entry, once, however often its outcome was lost; what can't be is refused", async () => {
    const ids = await start(3);
    for (const id of ids) await add(id);
    await at.runtime.terminateInstance(local, { instanceId: ids[2] ?? "", ...order });
    at.runtime.startWorkers();
    const batch = await make({ verb: "reset", seq: 1, selection: { instanceIds: ids }, ...order });
    expect(batch).toMatchObject({ seq: 1, rearmTimers: false });
    expect(await finished(batch.id)).toMatchObject({ ok: 2, refused: 1 });
    expect(await countOf("c000")).toEqual({ count: 0 });
    await add("c000");
    expect(await again(batch.id)).toMatchObject({ ok: 2, refused: 1 });
    expect(await countOf("c000")).toEqual({ count: 1 });
    expect((await controlsOf("c000")).map(({ type }) => type)).toEqual(["reset"]);
  });

  test("I4: each is forked once, also when it has ended before its outcome was recorded", async () => {
    const ids = await start(3);
    for (const id of ids) await add(id);
    at.runtime.startWorkers();
    const batch = await make({ verb: "fork", selection: { instanceIds: ids }, ...order });
    expect(await finished(batch.id)).toMatchObject({ ok: 3 });
    const all = async () => (await at.runtime.listInstances(local, { chartId: "counter" })).items;
    const copies = (await all()).filter(({ id }) => !ids.includes(id));
    expect(copies).toHaveLength(3);
    expect(await countOf(copies[0]?.id ?? "")).toEqual({ count: 1 });
    await at.runtime.sendEvent(local, { instanceId: "c001", type: "finish" });
    expect(await again(batch.id)).toMatchObject({ ok: 3, refused: 0 });
    expect(await all()).toHaveLength(6);
  });

  test("I4: each is forked once, also when it was deleted since, and its id is another's by then", async () => {
    const ids = await start(3);
    at.runtime.startWorkers();
    const batch = await make({ verb: "fork", selection: { instanceIds: ids }, ...order });
    expect(await finished(batch.id)).toMatchObject({ ok: 3 });
    for (const instanceId of ["c001", "c002"]) await at.runtime.deleteInstance(local, { instanceId });
    await at.runtime.startInstance(local, { chartId: "counter", id: "c002" });
    expect(await again(batch.id)).toMatchObject({ ok: 3, refused: 0 });
    expect((await at.runtime.listInstances(local, { chartId: "counter" })).items).toHaveLength(5);
    const gone = await make({ verb: "fork", selection: { instanceIds: ["c001"] }, ...order });
    expect(await finished(gone.id)).toMatchObject({ ok: 0, refused: 1 });
  });

  test("I4: each is deleted once; a repeat leaves alone who has its id by then", async () => {
    await start(3);
    await at.runtime.startInstance(local, { chartId: "counter", id: "stays", labels: { site: "north" } });
    at.runtime.startWorkers();
    const batch = await make({ verb: "delete", selection: { filter: { idPrefix: "c0" } }, ...order });
    expect(await finished(batch.id)).toMatchObject({ total: 3, ok: 3 });
    const left = async () => (await at.runtime.listInstances(local, {})).items.map(({ id }) => id);
    expect(await left()).toEqual(["stays"]);
    const audit = await at.runtime.listAudit(local, { target: "instance:c001" });
    expect(audit.items).toMatchObject([{ action: "delete-instance", details: order }]);
    await at.runtime.startInstance(local, { chartId: "counter", id: "c001" });
    expect(await again(batch.id)).toMatchObject({ ok: 3, refused: 0 });
    expect(await left()).toEqual(["c001", "stays"]);
    const gone = await make({ verb: "delete", selection: { instanceIds: ["c000", "stays"] }, ...order });
    expect(await finished(gone.id)).toMatchObject({ ok: 1, refused: 1 });
    expect(await itemsOf(gone.id)).toMatchObject([{ error: { code: "not-found" } }, { status: "ok" }]);
  });

  test("what a verb has no use for is refused before a batch is made; forks need the right to start", async () => {
    const selection = { filter: {} };
    const refused = (args: Omit<CreateBatchArgs, "selection" | "reason">, words: string) =>
      expect(make({ selection, ...order, ...args })).rejects.toThrow(words);
    await refused({ verb: "reset" }, "seq: reset needs");
    await refused({ verb: "delete", seq: 1 }, "seq: reset needs");
    await refused({ verb: "suspend", rearmTimers: true }, "rearmTimers:");
    await refused({ verb: "reset", seq: 1, laterEvents: true }, "laterEvents:");
    const operator = { ...local, permissions: new Set(["instances:control"] as const) };
    const fork = { verb: "fork", selection, ...order } as const;
    await expect(at.runtime.createBatch(operator, fork)).rejects.toMatchObject({ code: "forbidden" });
  });

  test("a chart or a version that is not there is refused before a batch is made", async () => {
    const refusal = (over: object) =>
      make({ verb: "migrate", version: 9, selection: { filter: {} }, ...order, ...over }).then(
        () => "none",
        ({ code }: { code: string }) => code,
      );
    expect(await refusal({ selection: { filter: { chartId: "none" } } })).toBe("not-found");
    expect(await refusal({ selection: { filter: { chartId: "counter" } } })).toBe("version-not-found");
    expect(await refusal({ selection: { instanceIds: ["c1"] } })).toBe("version-not-found");
    expect(await refusal({})).toBe("version-not-found");
    const selection = { filter: { chartId: "none" } };
    expect(await refusal({ verb: "suspend", version: undefined, selection })).toBe("not-found");
    expect((await at.runtime.listBatches(local, {})).items).toEqual([]);
    // Counted, it is refused alike.
    await expect(at.runtime.countBatch(local, { selection })).rejects.toMatchObject({ code: "not-found" });
  });

  test("an instance named twice is one: in the count, the name and the total", async () => {
    const [id = ""] = await start(1);
    const selection = { instanceIds: [id, id] };
    expect(await at.runtime.countBatch(local, { selection })).toMatchObject({ count: 1 });
    const batch = await make({ verb: "suspend", selection, ...order });
    expect(batch).toMatchObject({ name: "suspend 1 instance", selection: { instanceIds: [id] } });
    at.runtime.startWorkers();
    expect(await finished(batch.id)).toMatchObject({ total: 1, ok: 1 });
  });

  test("a mapping that names no state is refused before a batch is made; an item takes of it what names states of its own version", async () => {
    const states = (...names: string[]) => ({
      lockstep: 1,
      initial: names[0] ?? "",
      states: Object.fromEntries(names.map((name) => [name, {}])),
    });
    await publish(at.runtime, "three", states("Paid"));
    await at.runtime.startInstance(local, { chartId: "three", id: "m1" });
    for (const chart of [states("Charged"), states("Settled")]) await publishNext(at.runtime, "three", chart);
    await at.runtime.startInstance(local, { chartId: "three", version: 2, id: "m2" });
    const move = { verb: "migrate", version: 3, ...order } as const;
    const filter = { chartId: "three" };
    for (const selection of [{ filter }, { filter: {} }, { instanceIds: ["m1", "m2"] }])
      await expect(make({ ...move, selection, mapping: { Piad: "Nowhere" } })).rejects.toMatchObject({
        code: "bad-request",
        message: expect.stringMatching(
          /^mapping: .* has a state Piad \(did you mean Paid\?\); version 3 of .* has no state Nowhere\.$/,
        ) as string,
      });
    expect((await at.runtime.listBatches(local, {})).items).toEqual([]);
    const mapping = { Paid: "Settled", Charged: "Settled" };
    const batch = await make({ ...move, selection: { filter }, mapping });
    at.runtime.startWorkers();
    expect(await finished(batch.id)).toMatchObject({ total: 2, ok: 2 });
    for (const instanceId of ["m1", "m2"])
      expect(await at.runtime.getInstance(local, { instanceId })).toMatchObject({
        version: 3,
        configuration: ["Settled"],
      });
  });

  test("I4: with an idempotency key it is one batch; nothing selected is done at once; who may not control may not ask", async () => {
    const args = { verb: "suspend", selection: { filter: { chartId: "counter" } }, ...order } as const;
    const first = await make({ ...args, idempotencyKey: "k" });
    expect(await make({ ...args, idempotencyKey: "k" })).toEqual(first);
    await expect(make({ ...args, reason: "another", idempotencyKey: "k" })).rejects.toMatchObject({
      code: "idempotency-key-reuse",
    });
    await expect(at.runtime.createBatch(anonymousActor, args)).rejects.toMatchObject({ code: "forbidden" });
    at.runtime.startWorkers();
    expect(await finished(first.id)).toMatchObject({ total: 0 });
    const second = await make(args);
    const page = await at.runtime.listBatches(local, { limit: 1 });
    expect(page.items.map(({ id }) => id)).toEqual([second.id]);
    const older = await at.runtime.listBatches(local, { limit: 1, cursor: must(page.nextCursor, "more") });
    expect(older.items.map(({ id }) => id)).toEqual([first.id]);
    await expect(at.runtime.getBatch(local, { batchId: "none" })).rejects.toMatchObject({
      code: "not-found",
    });
  });
});
