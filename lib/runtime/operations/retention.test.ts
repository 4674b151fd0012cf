/**
 * What is forgotten, and what never is.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { must } from "@/lib/base/assert";
import { linesDigest } from "@/lib/base/archive-lines";
import type { JsonObject } from "@/lib/base/json";
import type { RuleName } from "@/lib/store/retention";
import type { Store } from "@/lib/store/store";
import { advance, providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { taskRow } from "@/lib/testing/rows";
import { noWrites } from "@/lib/store/steps";
import type { CreateBatchArgs } from "../batches/create-batch";
import { redriveInstance } from "../control/redrive-instance";
import { foldLockLog } from "../locks/lock-rules";
import { Machines } from "../charts/machines";
import type { RuntimeContext } from "../runtime-context";
import { countAll } from "@/lib/testing/count-all";
import { Purger, purgePortion, type PurgeOptions } from "../workers/purge-old";
import type { WalkCursor } from "./retention-rules";

const hour = 3_600_000;

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  let context: RuntimeContext;
  let options: PurgeOptions;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    context = { store: at.store, machines: new Machines(at.store) } as RuntimeContext;
    options = { workerId: "w", archiveFolder: await mkdtemp(join(tmpdir(), "lockstep-archive-")) };
    await publish(at.runtime, "counter", counter);
  });
  afterEach(async () => {
    await rm(options.archiveFolder, { recursive: true, force: true });
    await at.end();
  });
  const keep = (rule: RuleName, keepMs: number | null, then?: "purge" | "archive") =>
    at.runtime.setRetention(local, { rule, keepMs, then, reason: "room is short" });
  const purge = async (rule: RuleName) => {
    await countAll(at.store, context.machines);
    while (await purgePortion(context, options, rule));
  };
  const preview = async (rule: RuleName) => (await at.runtime.previewRetention(local, { rule })).count;
  const start = (id: string) => at.runtime.startInstance(local, { chartId: "counter", id });
  const send = (instanceId: string, type: string, more = {}) =>
    at.runtime.sendEvent(local, { instanceId, type, ...more });
  const age = (ms: number) => advance(at.database.url, ms);

  test("nothing but answers is forgotten unless it is asked for, and every change is audited", async () => {
    const { items } = await at.runtime.listRetention(local, {});
    expect(items.filter(({ keepMs }) => keepMs !== null).map(({ rule }) => rule)).toEqual([
      "answers",
      "lock-answers",
    ]);
    await expect(keep("answers", 1_000)).rejects.toMatchObject({ code: "bad-request" });
    await expect(keep("tasks", 1_000, "archive")).rejects.toMatchObject({ code: "bad-request" });
    expect(await keep("audit", hour)).toMatchObject({ keepMs: hour, updatedBy: "local" });
    await age(2 * hour);
    // Its chart's creation and publication, and the change itself.
    expect(await preview("audit")).toBe(3);
    await purge("audit");
    expect(await preview("audit")).toBe(0);
  });

  test("ended batches go with their items; the answers to their calls, and what they did, stay", async () => {
    await start("a");
    const call: CreateBatchArgs = {
      verb: "suspend",
      selection: { instanceIds: ["a"] },
      reason: "r",
      idempotencyKey: "k",
    };
    const made = await at.runtime.createBatch(local, call);
    const stopped = await at.runtime.createBatch(local, { ...call, verb: "resume", idempotencyKey: "l" });
    await at.runtime.cancelBatch(local, { batchId: stopped.id });
    while ((await at.runtime.getBatch(local, { batchId: made.id })).status !== "done") {
      await at.runtime.workOnce();
    }
    expect(await at.runtime.getBatch(local, { batchId: made.id })).toMatchObject({ status: "done", ok: 1 });
    await at.runtime.createBatch(local, { ...call, verb: "redrive", idempotencyKey: "m" });
    await keep("batches", hour);
    await purge("batches");
    expect((await at.runtime.listBatches(local, {})).items).toHaveLength(3);
    await age(2 * hour);
    expect(await preview("batches")).toBe(3);
    await purge("batches");
    expect(await preview("batches")).toBe(0);
    expect((await at.runtime.listBatches(local, {})).items).toMatchObject([{ verb: "redrive" }]);
    await expect(at.runtime.getBatch(local, { batchId: made.id })).rejects.toMatchObject({
      code: "not-found",
    });
    expect(await at.runtime.createBatch(local, call)).toMatchObject({ id: made.id });
    expect((await at.runtime.getInstance(local, { instanceId: "a" })).status).toBe("suspended");
    const rule = (await at.runtime.listRetention(local, {})).items.find((each) => each.rule === "batches");
    expect(rule).toMatchObject({ keepMs: hour, removed: 3 });
  });

  test("I4: an answer is kept for its time, and for as long as its message waits", async () => {
    await start("a");
    await start("b");
    await send("a", "add", { idempotencyKey: "done" });
    await at.runtime.suspendInstance(local, { instanceId: "b", reason: "mending" });
    expect((await send("b", "add", { idempotencyKey: "waits", waitMs: 0 })).state).toBe("queued");
    await age(hour);
    await purge("answers");
    expect(await send("a", "add", { idempotencyKey: "done" })).toMatchObject({ replayed: true, seq: 2 });
    await age(7 * 24 * hour);
    expect(await preview("answers")).toBe(1);
    await purge("answers");
    expect(await send("a", "add", { idempotencyKey: "done" })).toMatchObject({ replayed: false, seq: 3 });
    expect(await send("b", "add", { idempotencyKey: "waits", waitMs: 0 })).toMatchObject({
      state: "queued",
      replayed: true,
    });
    await at.runtime.resumeInstance(local, { instanceId: "b", reason: "mended" });
    const answer = await send("b", "add", { idempotencyKey: "waits" });
    expect(answer).toMatchObject({ state: "applied", replayed: true });
  });

  test("what was to answer a message that its instance's end or deletion took along is removed in its time", async () => {
    for (const id of ["a", "b", "c"]) {
      await start(id);
      await at.runtime.suspendInstance(local, { instanceId: id, reason: "mending" });
      await send(id, "add", { idempotencyKey: "waits", waitMs: 0 });
    }
    await at.runtime.deleteInstance(local, { instanceId: "a" });
    await at.runtime.terminateInstance(local, { instanceId: "b", reason: "over" });
    expect(await preview("answers")).toBe(0);
    await age(8 * 24 * hour);
    expect(await preview("answers")).toBe(2);
    await purge("answers");
    expect(await preview("answers")).toBe(0);
    expect(await send("c", "add", { idempotencyKey: "waits", waitMs: 0 })).toMatchObject({ replayed: true });
  });

  test("I5: a live instance's log is cut before a kept snapshot; from there on state is rebuilt as stored", async () => {
    await start("a");
    for (let n = 0; n < 210; n += 1) await send("a", "add");
    await age(2 * hour);
    for (let n = 0; n < 100; n += 1) await send("a", "add");
    const feed = await at.store.changesSince(null, 1);
    await keep("event-log", hour);
    expect(await preview("event-log")).toBe(1);
    await purge("event-log");
    expect(await preview("event-log")).toBe(0);
    const oldest = await at.store.oldestEntry("a");
    expect(oldest).toBe(200);
    for (const seq of [200, 201, 299, 300, 311]) {
      const state = await at.runtime.getState(local, { instanceId: "a", seq });
      expect(state).toMatchObject({ seq, hashMatches: true, context: { count: seq - 1 } });
    }
    await expect(at.runtime.getState(local, { instanceId: "a", seq: 199 })).rejects.toThrow(
      /kept from seq 200 on/,
    );
    const log = await at.runtime.getLog(local, { instanceId: "a", before: 203, limit: 10 });
    expect(log.items.map(({ seq }) => seq)).toEqual([202, 201, 200]);
    expect(await send("a", "add")).toMatchObject({ seq: 312 });
    expect(await at.store.changesSince("1.0", 10)).toMatchObject({ resync: true });
    expect(await at.store.changesSince(feed.position, 10)).toMatchObject({ resync: false });
  });

  test("entries that the fleet has not counted yet stay", async () => {
    await start("a");
    for (let n = 0; n < 110; n += 1) await send("a", "add");
    await age(2 * hour);
    await keep("event-log", hour);
    while (await purgePortion(context, options, "event-log"));
    expect(await at.store.oldestEntry("a")).toBe(1);
    await purge("event-log");
    await keep("event-log", hour);
    await purge("event-log");
    expect(await at.store.oldestEntry("a")).toBe(100);
  });

  test("I7: a lock's old log becomes one entry; the row is still the fold of its log, and fences go on", async () => {
    const take = async (session: string) => {
      const got = await at.runtime.acquireLock(local, { key: "k", session, holder: session });
      if (got.result !== "acquired") throw new Error("busy");
      return got.fence;
    };
    for (let n = 0; n < 5; n += 1) {
      const fence = await take(`s${n}`);
      await at.runtime.renewLock(local, { key: "k", session: `s${n}`, fence });
      if (n < 4) await at.runtime.releaseLock(local, { key: "k", session: `s${n}`, fence });
    }
    await age(2 * hour);
    await keep("lock-log", hour);
    expect(await preview("lock-log")).toBe(1);
    await purge("lock-log");
    const log = await at.store.listLockLog("k", null, 50);
    expect(log.map(({ type }) => type)).toEqual(["CHECKPOINT"]);
    expect(await at.runtime.getLockLog(local, { key: "k" })).toMatchObject({
      items: [{ type: "CHECKPOINT", fence: 5 }],
    });
    expect(await take("next")).toBe(6);
    await start("fenced");
    const write = (session: string, fence: number) =>
      at.runtime.sendEvent(local, {
        instanceId: "fenced",
        type: "add",
        fences: [{ key: "k", session, fence }],
      });
    expect(await write("next", 6)).toMatchObject({ state: "applied" });
    await expect(write("s4", 5)).rejects.toMatchObject({ code: "stale-fence" });
    await age(2 * hour);
    await keep("lock-log", hour);
    await purge("lock-log");
    const whole = (await at.store.listLockLog("k", null, 50)).reverse();
    const [row] = await at.store.findLocks(["k"]);
    expect(whole).toHaveLength(1);
    expect(foldLockLog("k", whole)).toEqual(row);
  });

  test("ended instances are archived whole, then purged; a tombstone keeps their seq, the fleet forgets them", async () => {
    for (const id of ["a", "b", "c"]) await start(id);
    for (let n = 0; n < 120; n += 1) await send("a", "add");
    await send("a", "finish");
    await send("b", "finish");
    await age(2 * hour);
    await start("d");
    await send("d", "finish");
    await keep("completed", hour, "archive");
    expect(await preview("completed")).toBe(2);
    await purge("completed");
    await purge("deleted");
    await expect(at.runtime.getInstance(local, { instanceId: "a" })).rejects.toMatchObject({
      code: "not-found",
    });
    expect(await at.store.readLog("a", 1, 9)).toEqual([]);
    expect(await at.store.readSnapshots("a")).toEqual([]);
    const fleet = await at.runtime.getFleet(local, {});
    expect(fleet.items.map(({ state, count }) => [state, count])).toEqual([
      ["counting", 1],
      ["done", 1],
    ]);

    const files = await readdir(options.archiveFolder);
    expect(files).toHaveLength(1);
    const text = await readFile(join(options.archiveFolder, files[0] ?? ""), "utf8");
    const lines = text.trimEnd().split("\n");
    const read = lines.map(
      (line) => JSON.parse(line) as { kind: string; instanceId?: string; sha256?: string },
    );
    expect(read.filter(({ kind }) => kind === "entry")).toHaveLength(124);
    expect(read.filter(({ kind }) => kind === "snapshot").length).toBeGreaterThan(0);
    expect(read.at(-1)).toEqual({ kind: "eof", instances: 2 });
    const ends = read.flatMap(({ kind }, place) => (kind === "end" ? [place] : []));
    const begins = read.flatMap(({ kind }, place) => (kind === "instance" ? [place] : []));
    for (const [n, end] of ends.entries()) {
      expect(read[end]?.sha256).toBe(linesDigest(lines.slice(begins[n], end)));
    }

    expect(await start("a")).toMatchObject({ seq: 123, incarnation: 2 });
    await send("a", "add");
    await purge("deleted");
    expect(await at.runtime.getState(local, { instanceId: "a", seq: 124 })).toMatchObject({
      hashMatches: true,
    });
  });

  test("one that was mended between the archive and the purge stays", async () => {
    await start("a");
    await send("a", "finish");
    await age(2 * hour);
    await keep("completed", hour, "archive");
    const patient = { ...at.store, listEnded: at.store.listEnded.bind(at.store) };
    const meddled: typeof at.store = Object.assign(Object.create(at.store) as typeof at.store, {
      async listEnded(...args: Parameters<typeof at.store.listEnded>) {
        const found = await patient.listEnded(...args);
        await at.runtime.deleteInstance(local, { instanceId: "a" });
        return found;
      },
    });
    await purgePortion({ ...context, store: meddled }, options, "completed");
    expect(await at.store.findInstance("a")).toMatchObject({ lastEvent: "deleted", seq: 3 });
    expect(await at.store.readLog("a", 1, 9)).toHaveLength(3);
  });

  test("a deleted instance's log goes after its time, its tombstone after another", async () => {
    await start("a");
    await at.runtime.deleteInstance(local, { instanceId: "a" });
    await age(2 * hour);
    await purge("deleted");
    expect(await at.store.readLog("a", 1, 9)).toHaveLength(2);
    await keep("tombstones", 1_000);
    await purge("tombstones");
    expect(await at.store.findInstance("a")).not.toBeNull();
    await keep("deleted", hour);
    expect(await preview("deleted")).toBe(1);
    await purge("deleted");
    expect(await at.store.readLog("a", 1, 9)).toEqual([]);
    await keep("tombstones", hour);
    await purge("tombstones");
    expect(await at.store.findInstance("a")).toBeNull();
  });

  test("finished tasks go; one that runs, or that a saga may have to undo, stays", async () => {
    await start("a");
    await start("b");
    await send("b", "finish");
    const ended = { status: "succeeded", queue: null, endedAt: 5 };
    const compensate = '{"src":"undo"}';
    await at.store.transaction((tx) =>
      tx.writeSteps({
        ...noWrites(),
        tasksBegun: [
          taskRow({ instanceId: "a", taskId: "1:over", ...ended }),
          taskRow({ instanceId: "a", taskId: "1:deed", ...ended, compensate }),
          taskRow({ instanceId: "a", taskId: "1:late", ...ended, leaseUntil: 9 }),
          taskRow({ instanceId: "a", taskId: "1:open" }),
          taskRow({ instanceId: "b", taskId: "1:deed", ...ended, compensate }),
        ],
      }),
    );
    await keep("tasks", hour);
    expect(await preview("tasks")).toBe(2);
    await purge("tasks");
    const left = await at.store.listTasks("a", null, 9);
    expect(left.map(({ taskId }) => taskId).sort()).toEqual(["1:deed", "1:late", "1:open"]);
    expect(await at.store.listTasks("b", null, 9)).toEqual([]);
  });

  test("a walk goes on where it was cut off, and two workers never do one portion twice", async () => {
    const answers = Array.from({ length: 1_200 }, (_, n) => ({
      scope: "s",
      key: String(n).padStart(5, "0"),
      digest: "d",
      messageId: null,
      result: "{}",
      at: 1,
    }));
    await at.store.transaction((tx) => tx.writeSteps({ ...noWrites(), dedupe: answers }));
    expect(await purgePortion(context, options, "answers")).toBe(true);
    const [row] = (await at.store.listRetention()).filter(({ rule }) => rule === "answers");
    expect(row).toMatchObject({ removed: 500, walkEnded: null });
    expect(row?.cursor).toContain("00499");
    const other = { ...context, store: (await at.again()).store };
    await Promise.all([purgePortion(context, options, "answers"), purgePortion(other, options, "answers")]);
    await purge("answers");
    const [done] = (await at.store.listRetention()).filter(({ rule }) => rule === "answers");
    expect(done).toMatchObject({ removed: 1_200, cursor: null });
  });

  test("where another worker is at each walk that is due, a worker looks at each once and then waits", async () => {
    for (const rule of ["answers", "lock-answers", "deleted"] as const) await purge(rule);
    for (const rule of ["completed", "failed"] as const) {
      await keep(rule, hour);
      await at.store.transaction(async (tx) => {
        const row = must(await tx.holdRule(rule), "the rule is there");
        const walk: WalkCursor = { place: null, by: "another", until: (await tx.now()) + hour };
        await tx.writeRule({ ...row, cursor: JSON.stringify(walk) });
      });
    }
    const purger = new Purger({ ...context, closing: new AbortController().signal }, options);
    expect([await purger.round(), await purger.round()]).toEqual([true, false]);
  });

  const broken: JsonObject = {
    lockstep: 1,
    settings: { errors: "stop" },
    context: { zero: 0 },
    initial: "here",
    states: { here: { on: { break: { actions: { assign: { zero: "1 / context.zero" } } } } } },
  };
  const breakOne = async (id: string) => {
    await publish(at.runtime, "broken", broken);
    await at.runtime.startInstance(local, { chartId: "broken", id });
    await expect(send(id, "break")).rejects.toMatchObject({ code: "step-failed" });
  };

  test("the log of an instance that may be redriven is not cut: its redrive begins before what failed it", async () => {
    await breakOne("a");
    const entry = must(await at.store.findLogEntry("a", 2), "what failed it");
    const { stateHash: hash } = entry;
    const snapshot = { instanceId: "a", seq: 2, incarnation: 1, at: entry.at, version: 1, text: "{}", hash };
    await at.store.transaction((tx) => tx.writeSteps({ ...noWrites(), snapshots: [snapshot] }));
    await keep("event-log", hour);
    await age(2 * hour);
    expect(await preview("event-log")).toBe(0);
    await purge("event-log");
    expect(await at.store.oldestEntry("a")).toBe(1);
  });

  test("a redrive before which its instance is forgotten is told that there is none", async () => {
    await breakOne("a");
    await keep("failed", hour, "purge");
    await age(2 * hour);
    const store: Store = {
      ...at.store,
      async listLog(...given) {
        await purge("failed");
        await purge("deleted");
        return at.store.listLog(...given);
      },
    };
    const redrive = redriveInstance({ ...context, store }, local, { instanceId: "a", reason: "mended" });
    await expect(redrive).rejects.toMatchObject({ code: "not-found" });
  });

  test("I5: a re-created instance's state is rebuilt while the log of its earlier life is half removed", async () => {
    await start("a");
    await send("a", "add");
    await at.runtime.deleteInstance(local, { instanceId: "a" });
    await start("a");
    await send("a", "add");
    await countAll(at.store, context.machines);
    expect(await at.store.transaction((tx) => tx.removeLog("a", 4, 1))).toMatchObject({
      removed: 1,
      more: true,
    });
    const state = await at.runtime.getState(local, { instanceId: "a", seq: 5 });
    expect(state).toMatchObject({ seq: 5, hashMatches: true, context: { count: 1 } });
  });
});
