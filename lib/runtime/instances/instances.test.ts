import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { providers, tamper } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

describe.each(providers)("instances on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "counter", counter);
  });
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const start = (args: object = {}) => at.runtime.startInstance(local, { chartId: "counter", ...args });
  const send = (instanceId: string, type: string, data?: number) =>
    at.runtime.sendEvent(local, { instanceId, type, data });

  test("start takes the newest version, or the one named; without one it says what to do", async () => {
    const { revision } = await at.runtime.saveDraft(local, {
      chartId: "counter",
      baseRevision: 1,
      text: JSON.stringify({ ...counter, context: { count: 100 } }),
      layout: { direction: "right", states: {}, routes: {} },
    });
    await at.runtime.publishVersion(local, { chartId: "counter", revision });
    expect(await start({ id: "new" })).toMatchObject({ version: 2, context: { count: 100 } });
    expect(await start({ id: "old", version: 1 })).toMatchObject({ version: 1, context: { count: 0 } });
    await expect(start({ version: 3 })).rejects.toMatchObject({ code: "version-not-found" });
    await expect(start({ chartId: "none" })).rejects.toMatchObject({ code: "not-found" });
    await at.runtime.createChart(local, { id: "draft", text: "{}" });
    await expect(start({ chartId: "draft" })).rejects.toMatchObject({ code: "version-not-found" });
  });

  test("I4: starts with one key start one instance, also at the same moment", async () => {
    const started = await Promise.all(Array.from({ length: 6 }, () => start({ idempotencyKey: "k" })));
    expect(new Set(started.map((view) => view.id)).size).toBe(1);
    expect((await at.runtime.listInstances(local, {})).items).toHaveLength(1);
    await expect(start({ idempotencyKey: "k", priority: 2 })).rejects.toMatchObject({
      code: "idempotency-key-reuse",
    });
  });

  test("an id is used once at a time, also by starts at the same moment", async () => {
    const tries = await Promise.allSettled(Array.from({ length: 5 }, () => start({ id: "one" })));
    expect(tries.filter((each) => each.status === "fulfilled")).toHaveLength(1);
    for (const each of tries) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "instance-exists" });
    }
  });

  test("labels, business key and filters find it", async () => {
    await start({ id: "x1", businessKey: "B-7", labels: { site: "north" }, priority: 3 });
    await start({ id: "x2" });
    await send("x2", "finish");
    const find = async (filter: object) =>
      (await at.runtime.listInstances(local, filter)).items.map((item) => item.id);
    expect(await find({})).toEqual(["x2", "x1"]);
    expect(await find({ businessKey: "B-7" })).toEqual(["x1"]);
    expect(await find({ status: "completed" })).toEqual(["x2"]);
    expect(await find({ state: "counting" })).toEqual(["x1"]);
    expect(await find({ label: ["site:north"] })).toEqual(["x1"]);
    expect(await find({ label: ["site:north", "site:south"] })).toEqual([]);
    await start({ id: "x3", labels: { site: "north", dock: "3:b", note: "" } });
    expect(await find({ label: ["site:north"] })).toEqual(["x3", "x1"]);
    expect(await find({ label: ["dock:3:b", "site:north", "note:"] })).toEqual(["x3"]);
    await start({ id: "x4", labels: { "team:a": "x:y" } });
    expect(await find({ label: [String.raw`team\:a:x:y`] })).toEqual(["x4"]);
    expect(await find({ label: ["team:a:x:y"] })).toEqual([]);
    await at.runtime.deleteInstance(local, { instanceId: "x4" });
    await at.runtime.deleteInstance(local, { instanceId: "x3" });
    const page = await at.runtime.listInstances(local, { limit: 1 });
    expect(page.items).toHaveLength(1);
    expect(await find({ limit: 1, cursor: page.nextCursor })).toEqual(["x1"]);
    await expect(find({ cursor: "zzz" })).rejects.toMatchObject({ code: "bad-request" });
    expect(await at.runtime.getInstance(local, { instanceId: "x1" })).toMatchObject({
      labels: { site: "north" },
      priority: 3,
    });
    const charts = await at.runtime.listCharts(local, {});
    expect(charts.items[0]?.instances).toEqual({ completed: 1, running: 1 });
  });

  test("a filter that no row can have is refused, on both databases alike; it never finds everything", async () => {
    await start({ id: "o1", labels: { site: "hall-2" } });
    await at.runtime.acquireLock(local, { key: "zone:1", session: "s", holder: "h" });
    for (const text of ["\0", "o\0", "o\ud800"]) {
      for (const filter of [
        { idPrefix: text },
        { state: text },
        { businessKey: text },
        { chartId: text },
        { label: [`site:hall-2${text}`] },
        { label: ["site:hall-2", "site"] },
        { label: [":hall-2"] },
      ]) {
        await expect(at.runtime.listInstances(local, filter)).rejects.toMatchObject({ code: "bad-request" });
        const selection = { filter };
        await expect(at.runtime.countBatch(local, { selection })).rejects.toMatchObject({
          code: "bad-request",
        });
      }
      await expect(at.runtime.listLocks(local, { search: text })).rejects.toMatchObject({
        code: "bad-request",
      });
    }
  });

  test("labels are few and short: each is a row that lists show", async () => {
    const many = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, "v"]));
    const most = { ...many(30), ["k".repeat(63)]: "v", long: "v".repeat(255) };
    expect((await start({ id: "most", labels: most })).labels).toEqual(most);
    for (const labels of [many(33), { ["k".repeat(64)]: "v" }, { "": "v" }, { k: "v".repeat(256) }]) {
      await expect(start({ labels })).rejects.toMatchObject({ code: "bad-request" });
    }
    const rule = { id: "s", cron: "* * * * *" };
    const action = { kind: "start", chartId: "counter", labels: many(33) } as const;
    await expect(at.runtime.createSchedule(local, { ...rule, action })).rejects.toThrow(
      "action.labels: at most 32",
    );
  });

  test("I8: a priority that no claim looks for is refused", async () => {
    for (const priority of [-1, 5, 0.5]) {
      await expect(start({ priority })).rejects.toMatchObject({
        code: "bad-request",
        message: `priority is a whole number from 0 to 4, not ${priority}.`,
      });
    }
    expect(await start({ priority: 4 })).toMatchObject({ priority: 4 });
  });

  test("a seq before the first is none that was forgotten", async () => {
    await start({ id: "o1" });
    await expect(at.runtime.getState(local, { instanceId: "o1", seq: 0 })).rejects.toThrow(
      "Instance o1 has no log entry with seq 0: the first one has seq 1.",
    );
    await expect(at.runtime.getState(local, { instanceId: "o1", at: 1 })).rejects.toThrow(
      "did not exist then",
    );
  });

  test("I5: state at every seq is what was stored, across snapshots, and by time", async () => {
    await start({ id: "long" });
    for (let n = 0; n < 10; n += 1)
      await Promise.all(Array.from({ length: 25 }, () => send("long", "add", n)));
    const seqs = [1, 2, 99, 100, 101, 150, 200, 201, 251];
    for (const seq of seqs) {
      const state = await at.runtime.getState(local, { instanceId: "long", seq });
      expect(state).toMatchObject({ seq, context: { count: seq - 1 }, hashMatches: true });
      expect(state.fromSnapshot).toBe(Math.floor(seq / 100) * 100);
    }
    const middle = await at.runtime.getState(local, { instanceId: "long", seq: 120 });
    const byTime = await at.runtime.getState(local, { instanceId: "long", at: middle.at });
    expect(byTime.at).toBe(middle.at);
    expect(byTime.seq).toBeGreaterThanOrEqual(120);
    await expect(at.runtime.getState(local, { instanceId: "long", seq: 252 })).rejects.toMatchObject({
      code: "not-found",
    });
    await expect(at.runtime.getState(local, { instanceId: "long", at: 5 })).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("I5: a state that no longer comes out as stored is shown as such, never hidden", async () => {
    await start({ id: "t" });
    await send("t", "add");
    await tamper(at.database.url, "UPDATE event_log SET state_hash = 'ff' WHERE seq = 2");
    expect(await at.runtime.getState(local, { instanceId: "t" })).toMatchObject({
      storedHash: "ff",
      hashMatches: false,
      context: { count: 1 },
    });
  });

  test("delete leaves the log and a tombstone; a re-created id continues seq, and old expectations never match", async () => {
    await start({ id: "d" });
    await at.runtime.sendEvent(local, { instanceId: "d", type: "add", idempotencyKey: "k" });
    expect(await at.runtime.deleteInstance(local, { instanceId: "d" })).toEqual({
      id: "d",
      seq: 3,
      replayed: false,
    });
    await expect(at.runtime.getInstance(local, { instanceId: "d" })).rejects.toMatchObject({
      code: "not-found",
    });
    await expect(send("d", "add")).rejects.toMatchObject({ code: "not-found" });
    await expect(at.runtime.deleteInstance(local, { instanceId: "d" })).rejects.toMatchObject({
      code: "not-found",
    });
    expect((await at.runtime.listInstances(local, {})).items).toEqual([]);
    expect((await at.runtime.getLog(local, { instanceId: "d" })).items[0]).toMatchObject({
      kind: "deleted",
      seq: 3,
    });
    expect(await at.runtime.getState(local, { instanceId: "d", seq: 3 })).toMatchObject({
      status: "terminated",
    });

    expect(await start({ id: "d" })).toMatchObject({ seq: 4, incarnation: 2, context: { count: 0 } });
    await expect(
      at.runtime.sendEvent(local, { instanceId: "d", type: "add", expectedSeq: 2 }),
    ).rejects.toMatchObject({ code: "sequence-conflict", details: { expected: 2, actual: 4 } });
    // A key of the earlier life names a new call now.
    const fresh = await at.runtime.sendEvent(local, { instanceId: "d", type: "add", idempotencyKey: "k" });
    expect(fresh).toMatchObject({ seq: 5, replayed: false });
    for (const seq of [1, 2, 3, 4, 5]) {
      expect(await at.runtime.getState(local, { instanceId: "d", seq })).toMatchObject({ hashMatches: true });
    }
  });

  test("I3: a send that races a delete lands before it or is refused, never after", async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = `r${round}`;
      await start({ id });
      const sends = Array.from({ length: 6 }, () =>
        send(id, "add").then(
          ({ seq }) => seq,
          () => null,
        ),
      );
      const deleted = await at.runtime.deleteInstance(local, { instanceId: id });
      for (const seq of await Promise.all(sends)) if (seq !== null) expect(seq).toBeLessThan(deleted.seq);
      expect((await at.runtime.getLog(local, { instanceId: id })).total).toBe(deleted.seq);
    }
  });

  test("instances send to each other through mailboxes; what can't be reached comes back as an error", async () => {
    const ping: JsonObject = {
      lockstep: 1,
      context: { heard: 0, errors: 0 },
      initial: "on",
      states: {
        on: {
          on: {
            call: { actions: { send: { to: { cel: "'instance:' + event.to" }, type: "hello" } } },
            hello: { actions: { assign: { heard: "context.heard + 1" } } },
            self: { actions: { send: { type: "hello" } } },
            "error.communication": { actions: { assign: { errors: "context.errors + 1" } } },
          },
        },
      },
    };
    await publish(at.runtime, "ping", ping);
    for (const id of ["p1", "p2"]) await at.runtime.startInstance(local, { chartId: "ping", id });
    at.runtime.startWorkers();
    const call = (to: string) =>
      at.runtime.sendEvent(local, { instanceId: "p1", type: "call", data: { to } });
    await call("p2");
    await call("nobody");
    expect(await at.runtime.sendEvent(local, { instanceId: "p1", type: "self" })).toMatchObject({
      pending: 0,
    });
    const context = async (instanceId: string) =>
      (await at.runtime.getInstance(local, { instanceId })).context;
    await vi.waitFor(async () => expect(await context("p2")).toEqual({ heard: 1, errors: 0 }), 5_000);
    await vi.waitFor(async () => expect(await context("p1")).toEqual({ heard: 1, errors: 1 }), 5_000);
    const { items } = await at.runtime.getLog(local, { instanceId: "p2", limit: 1 });
    expect(items[0]).toMatchObject({ type: "hello", actor: "instance:p1" });
  });

  test("followers hear of every commit, also of another process's", async () => {
    const seen: string[] = [];
    const stop = at.runtime.subscribe((changes) => {
      for (const { change } of changes)
        if (change.kind === "instance") seen.push(`${change.id}#${change.seq}`);
    });
    // The first listener's feed begins when it has found the newest position.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const other = await at.again();
    await start({ id: "f" });
    await other.runtime.sendEvent(local, { instanceId: "f", type: "add" });
    await send("f", "add");
    await vi.waitFor(() => expect(seen).toEqual(["f#1", "f#2", "f#3"]), 10_000);
    stop();
  });
});
