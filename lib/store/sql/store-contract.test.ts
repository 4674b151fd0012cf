/**
 * What every store promises, on every store.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { must } from "@/lib/base/assert";
import { freshDatabase, providers, type TestDatabase } from "@/lib/testing/database";
import { chartRow, instanceRow, logRow, messageRow, timerRow } from "@/lib/testing/rows";
import type { TimerRow } from "../instances";
import type { LockLogRow, LockRow } from "../locks";
import { noWrites, type StepWrites } from "../steps";
import type { Store, StoredChange } from "../store";
import { openSqlStore } from "./open-sql-store";

describe.each(providers)("on %s", (provider) => {
  let database: TestDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await freshDatabase(provider);
    store = await openSqlStore({ url: database.url, connections: 8 });
  });
  afterEach(async () => {
    await store.close();
    await database.drop();
  });
  const write = (writes: Partial<StepWrites>) =>
    store.transaction((tx) => tx.writeSteps({ ...noWrites(), ...writes }));
  const start = (id: string, over = {}) =>
    write({ created: [instanceRow({ id, ...over })], log: [logRow({ instanceId: id })] });
  const runnable = async (now: number) => (await store.findRunnable(now, "")).found.map(({ id }) => id);

  describe("transactions", () => {
    test("I9: one that throws leaves nothing behind", async () => {
      const failing = store.transaction(async (tx) => {
        await tx.insertChart(chartRow());
        await tx.writeSteps({ ...noWrites(), created: [instanceRow()], log: [logRow()] });
        throw new Error("changed my mind");
      });
      await expect(failing).rejects.toThrow("changed my mind");
      expect(await store.findChart("chart")).toBeNull();
      expect(await store.findInstance("i1")).toBeNull();
      expect((await store.changesSince("0.0", 10)).changes).toEqual([]);
    });

    test("I9: a statement that fails in the middle takes the ones before it along", async () => {
      await start("i1");
      await expect(
        write({ changed: [instanceRow({ seq: 1, status: "failed" })], log: [logRow({ seq: 1 })] }),
      ).rejects.toThrow();
      expect(await store.findInstance("i1")).toMatchObject({ status: "running" });
    });

    test("using the store inside one is told apart as a defect instead of waiting for itself", async () => {
      await expect(
        store.transaction(() => store.transaction((tx) => tx.insertChart(chartRow()))),
      ).rejects.toThrow(/waits for itself/);
      expect(await store.transaction((tx) => tx.insertChart(chartRow()))).toBe(true);
    });

    test("I1: two that read and write one instance never lose an update", async () => {
      await start("i1");
      const add = () =>
        store.transaction(async (tx) => {
          const [row] = await tx.lockInstances(["i1"]);
          const seq = must(row, "i1").seq + 1;
          await tx.writeSteps({ ...noWrites(), stepped: [instanceRow({ seq })], log: [logRow({ seq })] });
        });
      await Promise.all(Array.from({ length: 30 }, add));
      expect((await store.findInstance("i1"))?.seq).toBe(31);
      const log = await store.listLog("i1", null, 100);
      expect(log.map((entry) => entry.seq)).toEqual(Array.from({ length: 31 }, (_, index) => 31 - index));
    });

    test("an instance that another transaction holds is left out of a claim that skips", async () => {
      await start("i1");
      await start("i2");
      let release = () => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      let locked = () => {};
      const isLocked = new Promise<void>((resolve) => (locked = resolve));
      const holder = store.transaction(async (tx) => {
        await tx.lockInstances(["i1"]);
        locked();
        if (provider === "postgresql") await held;
      });
      await isLocked;
      const claimed = store.transaction(async (tx) => {
        const rows = await tx.lockInstances(["i1", "i2"], { skipBusy: true });
        return rows.map((row) => row.id);
      });
      // SQLite has one writer: nothing is ever busy, the claim comes after the holder.
      expect(await claimed).toEqual(provider === "postgresql" ? ["i2"] : ["i1", "i2"]);
      release();
      await holder;
    });
  });

  describe("time", () => {
    test("I10: the transaction's time is the database's and never goes back", async () => {
      const read = () => store.transaction((tx) => tx.now());
      const times = [await read(), await read(), await read()];
      expect([...times].sort((a, b) => a - b)).toEqual(times);
      expect(Math.abs(must(times[0], "a time") - Date.now())).toBeLessThan(5_000);
      expect(Number.isInteger(times[0])).toBe(true);
      expect(await store.now()).toBeGreaterThanOrEqual(must(times[2], "a time"));
    });
  });

  describe("charts", () => {
    test("an id is taken once, a draft is updated under its lock, versions are kept byte for byte", async () => {
      const text = '{"10":1,"2":2,"z":"ü","a":"\\u0000"}';
      expect(await store.transaction((tx) => tx.insertChart(chartRow({ draftText: text })))).toBe(true);
      expect(await store.transaction((tx) => tx.insertChart(chartRow({ draftText: "other" })))).toBe(false);
      await store.transaction(async (tx) => {
        const row = must(await tx.lockChart("chart"), "the chart");
        expect(row.draftText).toBe(text);
        await tx.updateChart({ ...row, version: 1, revision: 2 });
        await tx.insertVersion({
          chartId: "chart",
          version: 1,
          text,
          hash: "h",
          layout: "{}",
          note: null,
          publishedAt: 5_000_000_000_000,
          publishedBy: "local",
          revision: 1,
        });
      });
      expect(await store.findVersion("chart", 1)).toMatchObject({ text, publishedAt: 5_000_000_000_000 });
      expect(await store.findVersion("chart", 2)).toBeNull();
      expect(await store.listVersions("chart")).toMatchObject([{ version: 1, hash: "h" }]);
      expect(await store.listCharts()).toMatchObject([{ id: "chart", version: 1, revision: 2 }]);
      expect(await store.findChart("nobody")).toBeNull();
    });

    test("instances are counted by status, deleted ones not", async () => {
      await start("i1");
      await start("i2", { status: "failed" });
      await start("i3", { deletedAt: 5, status: "terminated" });
      await start("i4", { chartId: "other" });
      expect(await store.countInstances(["chart", "none"])).toEqual([
        { chartId: "chart", status: "failed", count: 1 },
        { chartId: "chart", status: "running", count: 1 },
      ]);
    });
  });

  describe("steps", () => {
    test("I2: everything a step causes is written and read back", async () => {
      await start("i1");
      await write({
        changed: [instanceRow({ seq: 2, status: "running", businessKey: "B-1" })],
        configurations: [{ instanceId: "i1", left: [], entered: ["a", "b"] }],
        log: [logRow({ seq: 2, messageId: "m7", reason: "because", outcome: "ignored" })],
        snapshots: [{ instanceId: "i1", seq: 2, incarnation: 1, at: 9, version: 1, text: "{}", hash: "h" }],
        enqueued: [messageRow({ messageId: "m8" }), messageRow({ messageId: "m9" })],
        dedupe: [{ scope: "s", key: "k", digest: "d", messageId: "m8", result: null, at: 4 }],
        armed: [timerRow({ timerId: "t1", dueAt: 50 })],
      });
      expect(await store.findLogEntry("i1", 2)).toEqual(
        logRow({ seq: 2, messageId: "m7", reason: "because", outcome: "ignored" }),
      );
      expect(await store.findEntryOfMessage("i1", "m7")).toMatchObject({ seq: 2 });
      expect(await store.snapshotBefore("i1", 1)).toBeNull();
      expect(await store.snapshotBefore("i1", 7)).toMatchObject({ seq: 2, hash: "h" });
      expect(await store.countMailbox("i1")).toBe(2);
      expect(await store.findQueued("i1", "m9")).toMatchObject({ messageId: "m9" });
      expect((await store.listInstances({ state: "b" }, null, 5)).map((row) => row.id)).toEqual(["i1"]);
      expect(await runnable(49)).toEqual(["i1"]);

      const queued = await store.transaction((tx) => tx.readMailboxes(["i1"], 10));
      expect(queued.map((message) => message.messageId)).toEqual(["m8", "m9"]);
      await write({
        consumed: queued,
        configurations: [{ instanceId: "i1", left: ["b"], entered: ["c"] }],
        answered: [{ scope: "s", key: "k", result: "{}", at: 6 }],
      });
      expect(await store.countMailbox("i1")).toBe(0);
      expect(await store.listInstances({ state: "b" }, null, 5)).toEqual([]);
      expect((await store.listInstances({ state: "a" }, null, 5)).map((row) => row.id)).toEqual(["i1"]);
      expect((await store.listInstances({ state: "c" }, null, 5)).map((row) => row.id)).toEqual(["i1"]);
      const answers = await store.transaction((tx) =>
        tx.findAnswers([
          { scope: "s", key: "k" },
          { scope: "s", key: "other" },
        ]),
      );
      expect(answers).toEqual([{ scope: "s", key: "k", digest: "d", messageId: "m8", result: "{}", at: 6 }]);
      expect(await runnable(49)).toEqual([]);
      expect(await runnable(50)).toEqual(["i1"]);
      await write({ cancelled: [{ instanceId: "i1", timerId: "t1" }] });
      expect(await runnable(50)).toEqual([]);
    });

    test("instances in a state are listed page by page, newest first, whether few or many are in it", async () => {
      const ids = Array.from({ length: 1_500 }, (_, n) => `i${String(n).padStart(4, "0")}`);
      const isFew = (n: number) => n % 500 === 0;
      await write({
        created: ids.map((id, n) => instanceRow({ id, createdAt: n })),
        configurations: ids.map((instanceId, n) => ({
          instanceId,
          left: [],
          entered: [isFew(n) ? "few" : "many"],
        })),
      });
      for (const state of ["few", "many"]) {
        const wanted = ids.filter((_, n) => isFew(n) === (state === "few")).reverse();
        const first = await store.listInstances({ state, status: "running" }, null, 2);
        expect(first.map(({ id }) => id)).toEqual(wanted.slice(0, 2));
        const next = await store.listInstances({ state }, must(first[1], "two of them"), 2);
        expect(next.map(({ id }) => id)).toEqual(wanted.slice(2, 4));
      }
    });

    test("I1: an instance that is as it is known is locked unread; one that has changed is read", async () => {
      await start("i1");
      await start("i2");
      const known = new Map(
        (await store.transaction((tx) => tx.lockInstances(["i1", "i2"]))).map((row) => [row.id, row]),
      );
      const i2 = must(known.get("i2"), "i2");
      await write({ changed: [{ ...i2, session: "{}" }] });
      await start("i3");
      const rows = await store.transaction((tx) => tx.lockKnown(["i1", "i2", "i3", "i4"], known));
      expect(rows.map(({ id }) => id).sort()).toEqual(["i1", "i2", "i3"]);
      expect(rows.find(({ id }) => id === "i1")).toBe(known.get("i1"));
      expect(rows.find(({ id }) => id === "i2")).toEqual({ ...i2, session: "{}" });
      expect(rows.find(({ id }) => id === "i3")).toEqual(await store.findInstance("i3"));
    });

    const rowAsRead = async (id: string) => {
      const { find } = store.optimistic;
      if (find) return find(id);
      return store.transaction(async (tx) => {
        const [row] = await tx.lockInstances([id]);
        const waiting = (await tx.readMailboxes([id], 1)).length > 0;
        return row ? { row, now: await tx.now(), waiting } : null;
      });
    };

    test("I1, I2: of steps written optimistically, each is written whole, or not at all when anything came between", async () => {
      const { optimistic } = store;
      for (const id of ["i1", "i2", "i3"]) await start(id);
      await write({
        configurations: ["i1", "i2", "i3"].map((id) => ({ instanceId: id, left: [], entered: ["a"] })),
      });
      expect(await rowAsRead("none")).toBeNull();
      const read = async (id = "i1") => must(await rowAsRead(id), id);
      const before = (await read()).row;
      expect(before).toEqual(await store.findInstance("i1"));
      const step = (seq: number, id = "i1") => ({
        row: { ...before, id, seq, configuration: '["b","c"]', stateHash: `h${seq}`, lastEvent: "go" },
        log: logRow({ instanceId: id, seq, type: "go", messageId: `${id}-m${seq}`, stateHash: `h${seq}` }),
        moved: { left: ["a"], entered: ["b", "c"] },
        restated: false,
      });
      const written = async (...steps: ReturnType<typeof step>[]) =>
        (await optimistic.write(steps, null)).written;
      const states = async (state: string) =>
        (await store.listInstances({ state }, null, 5)).map(({ id }) => id).sort();
      const end = await optimistic.write([step(2), step(2, "i2")], null);
      expect(end).toEqual({ now: expect.any(Number) as number, written: ["i1", "i2"] });
      for (const id of ["i1", "i2"]) {
        expect(await store.findInstance(id)).toEqual({ ...step(2, id).row });
        expect(await store.findLogEntry(id, 2)).toEqual(step(2, id).log);
      }
      expect(await states("c")).toEqual(["i1", "i2"]);
      // Somebody has stepped the first since it was read.
      const onward = { ...step(3, "i2"), moved: { left: ["b", "c"], entered: ["d"] } };
      expect(await written(step(2), onward)).toEqual(["i2"]);
      expect(await states("d")).toEqual(["i2"]);
      expect(await states("b")).toEqual(["i1"]);
      // A message came before.
      await write({ enqueued: [messageRow({ instanceId: "i1" })] });
      expect((await read()).waiting).toBe(true);
      expect(await written(step(3))).toEqual([]);
      await store.transaction(async (tx) => {
        await tx.writeSteps({ ...noWrites(), consumed: await tx.readMailboxes(["i1"], 5) });
      });
      // Somebody else has the row, and is not waited for; SQLite has one writer.
      if (provider === "postgresql") {
        await store.transaction(async (tx) => {
          await tx.lockInstances(["i1"]);
          expect(await written(step(3), step(2, "i3"))).toEqual(["i3"]);
        });
      }
      expect((await store.listLog("i1", null, 9)).map(({ seq }) => seq)).toEqual([2, 1]);
      expect(await written({ ...step(3), moved: { left: ["b"], entered: ["e"] } })).toEqual(["i1"]);
      expect(await states("e")).toEqual(["i1"]);
      const { changes } = await store.changesSince(null, 100);
      expect(new Set(changes.map(({ position }) => position)).size).toBe(changes.length);
    });

    test("I2: of steps written together, whatever their texts hold is stored as it is, or the step is left to others", async () => {
      const { optimistic } = store;
      const texts = [
        "",
        "NULL",
        "\\N",
        "{}",
        "a\tb\nc",
        "\x1e",
        "a\x1fb",
        "\x1d",
        "ü€😀",
        `"'\\,`,
        "x".repeat(9_000),
      ];
      const ids = texts.map((_, n) => `t${n}`);
      for (const id of [...ids, "plain"]) await start(id);
      const { row: before } = must(await rowAsRead("t0"), "t0");
      const step = (id: string, text: string) => {
        const row = { ...before, id, seq: 2, lastEvent: text, errorMessage: text, errorCode: null };
        const log = logRow({
          instanceId: id,
          seq: 2,
          type: text,
          actor: text,
          reason: text,
          messageId: `${id}-m`,
        });
        return { row, log: { ...log, errorMessage: text }, moved: null, restated: true };
      };
      const steps = ids.map((id, n) => step(id, texts[n] ?? ""));
      const { written } = await optimistic.write([...steps, step("plain", "go")], null);
      const separators = provider === "sqlite" ? [] : ["\x1e", "a\x1fb", "\x1d"];
      const left = ids.filter((_, n) => separators.includes(texts[n] ?? ""));
      expect(new Set(written)).toEqual(new Set([...ids, "plain"].filter((id) => !left.includes(id))));
      for (const { row, log } of steps) {
        const isLeft = left.includes(row.id);
        expect((await store.findInstance(row.id))?.seq).toBe(isLeft ? 1 : 2);
        // Alone it comes as parameters.
        if (isLeft)
          expect((await optimistic.write([{ row, log, moved: null, restated: true }], null)).written).toEqual(
            [row.id],
          );
        expect(await store.findInstance(row.id)).toEqual(row);
        expect(await store.findLogEntry(row.id, 2)).toEqual(log);
      }
    });

    test("I10: a step whose time is not the database's is not written, the others are", async () => {
      const { optimistic } = store;
      for (const id of ["i1", "i2", "i3"]) await start(id);
      const { row: before, now } = must(await rowAsRead("i1"), "i1");
      const stepAt = (id: string, at: number) => ({
        row: { ...before, id, seq: 2, at },
        log: logRow({ instanceId: id, seq: 2, at, messageId: `${id}-m2` }),
        moved: null,
        restated: false,
      });
      const steps = [stepAt("i1", now + 60_000), stepAt("i2", now), stepAt("i3", now - 60_000)];
      const end = await optimistic.write(steps, 5_000);
      expect(end.written).toEqual(["i2"]);
      expect(end.now).toBeGreaterThanOrEqual(now);
      expect(await store.findInstance("i2")).toMatchObject({ seq: 2, at: now });
      for (const id of ["i1", "i3"]) expect((await store.findInstance(id))?.seq).toBe(before.seq);
    });

    test("I8: whoever looks for work comes round to every instance, however many messages one of them has", async () => {
      const others = Array.from({ length: 300 }, (_, n) => `other-${String(n).padStart(3, "0")}`);
      await write({ created: ["flood", ...others].map((id) => instanceRow({ id })) });
      const flood = Array.from({ length: 1_000 }, (_, n) =>
        messageRow({ instanceId: "flood", messageId: `f${n}` }),
      );
      const late = others.map((instanceId) =>
        messageRow({ instanceId, messageId: instanceId, enqueuedAt: 99 }),
      );
      await write({ enqueued: [...flood, ...late] });
      const seen = new Set<string>();
      let after = "";
      let calls = 0;
      do {
        const { found, next } = await store.findRunnable(100, after);
        for (const { id } of found) seen.add(id);
        after = next;
        calls += 1;
      } while (after !== "");
      expect(seen).toEqual(new Set(["flood", ...others]));
      expect(calls).toBe(2);
    });

    test("I8: a message waits by the priority of its instance, and what is parked is no work", async () => {
      await start("low", { rank: 300_000 });
      await start("high", { rank: 300_000, priority: 2 });
      await write({
        enqueued: ["low", "high"].map((instanceId) =>
          messageRow({ instanceId, messageId: instanceId, enqueuedAt: 200_000 }),
        ),
        armed: [timerRow({ instanceId: "low", dueAt: 5 })],
      });
      const ranks = async () =>
        Object.fromEntries((await store.findRunnable(200_000, "")).found.map(({ id, rank }) => [id, rank]));
      expect(await ranks()).toEqual({ low: 5, high: 80_000 });
      await write({ parked: ["low"] });
      expect(await ranks()).toEqual({ high: 80_000 });
      await write({ parked: ["high"], unparked: ["low"] });
      expect(await ranks()).toEqual({ low: 5 });
    });

    test("I8: of those that were found a batch claims the first that still wait, and passes over whom another has", async () => {
      const waiting = ["w1", "w2", "w3", "w4"];
      for (const id of [...waiting, "idle", "parked", "timed", "later"]) await start(id);
      await write({
        enqueued: [...waiting, "parked"].map((instanceId) =>
          messageRow({ instanceId, messageId: instanceId }),
        ),
        armed: [
          timerRow({ instanceId: "timed", dueAt: 5 }),
          timerRow({ instanceId: "later", dueAt: 11 }),
          timerRow({ instanceId: "parked", dueAt: 5 }),
        ],
      });
      await write({ parked: ["parked"] });
      const found = ["later", "w3", "idle", "timed", "parked", "nobody", "w4", "w1", "w2"];
      const claim = (limit: number) => store.transaction((tx) => tx.claimInstances(found, 10, limit));
      expect(await claim(2)).toEqual(["w3", "timed"]);
      expect(await claim(9)).toEqual(["w3", "timed", "w4", "w1", "w2"]);
      if (provider === "sqlite") return;
      let end = () => {};
      const ended = new Promise<void>((resolve) => (end = resolve));
      let first: Promise<void> = Promise.resolve();
      const claimed = new Promise<string[]>((resolve, reject) => {
        first = store.transaction(async (tx) => {
          resolve(await tx.claimInstances(found, 10, 3));
          await ended;
        });
        first.catch(reject);
      });
      expect(await claimed).toEqual(["w3", "timed", "w4"]);
      expect(await claim(9)).toEqual(["w1", "w2"]);
      end();
      await first;
    });

    test("I8: a due timer waits by the priority of its instance, and no flood of others hides it", async () => {
      const many = Array.from({ length: 300 }, (_, n) => `many${n}`);
      const due = async (flood: Partial<TimerRow>, one: Partial<TimerRow>) => {
        await write({
          armed: [
            ...many.map((id) => timerRow({ instanceId: id, ...flood })),
            timerRow({ ...one, instanceId: "one" }),
          ],
        });
        const { found } = await store.findRunnable(1_000_000, "");
        const rank = found.find(({ id }) => id === "one")?.rank ?? NaN;
        return { rank, before: found.filter((each) => each.rank < rank).length };
      };
      for (const id of [...many, "one"]) await start(id);
      const late = await due({ dueAt: 800_000 }, { dueAt: 1_000_000, priority: 4 });
      expect(late).toEqual({ rank: 760_000, before: 0 });
      expect(await due({ dueAt: 1_000_000, priority: 4 }, { dueAt: 700_000, priority: 0 })).toEqual({
        rank: 700_000,
        before: 0,
      });
      const aged = await due({ dueAt: 1_000_000, priority: 4 }, { dueAt: 900_000, priority: 0 });
      expect(aged).toEqual({ rank: 900_000, before: 256 });
      expect(await due({ dueAt: 1_000_001, priority: 4 }, { dueAt: 1_000_000 })).toEqual({
        rank: 1_000_000,
        before: 0,
      });
    });

    test("I1: mailboxes keep the order in which messages joined, per instance and over transactions", async () => {
      await start("i1");
      await start("i2");
      for (let turn = 0; turn < 3; turn += 1) {
        await write({
          enqueued: [0, 1].flatMap((place) =>
            ["i1", "i2"].map((instanceId) =>
              messageRow({ instanceId, messageId: `${instanceId}-${turn}-${place}` }),
            ),
          ),
        });
      }
      const queued = await store.transaction((tx) => tx.readMailboxes(["i1", "i2", "i3"], 5));
      expect(queued.map((message) => message.messageId)).toEqual([
        ...["i1-0-0", "i1-0-1", "i1-1-0", "i1-1-1", "i1-2-0"],
        ...["i2-0-0", "i2-0-1", "i2-1-0", "i2-1-1", "i2-2-0"],
      ]);
    });

    test("a live id can't be created again, a tombstone can", async () => {
      await start("i1");
      await expect(start("i1")).rejects.toMatchObject({ code: "instance-exists" });
      await write({
        changed: [instanceRow({ seq: 2, incarnation: 2, deletedAt: 7 })],
        log: [logRow({ seq: 2 })],
      });
      // It was looked for before there was any, and has lived and died since.
      const late = write({ created: [instanceRow({ seq: 1 })], log: [logRow({ seq: 1 })] });
      await expect(late).rejects.toMatchObject({ code: "instance-exists" });
      await write({
        created: [instanceRow({ seq: 3, incarnation: 2 })],
        labels: [{ instanceId: "i1", key: "k", value: "v" }],
        log: [logRow({ seq: 3, incarnation: 2 })],
      });
      expect(await store.findInstance("i1")).toMatchObject({ seq: 3, incarnation: 2, deletedAt: null });
      expect(await store.labelsOf(["i1"])).toEqual([{ instanceId: "i1", key: "k", value: "v" }]);
    });

    test("what no column can hold is asked for in vain: a bad request where the database refuses it", async () => {
      const found = store.listInstances({ businessKey: "\u0000" }, null, 5);
      if (provider === "sqlite") return expect(await found).toEqual([]);
      await expect(found).rejects.toMatchObject({ code: "bad-request", retry: "never" });
    });

    test("what an ended instance leaves in its mailbox becomes dead letters, all of it", async () => {
      await start("i1");
      await start("i2");
      const many = Array.from({ length: 150 }, (_, index) => messageRow({ messageId: `m${index}` }));
      await write({ enqueued: [...many, messageRow({ instanceId: "i2", messageId: "other" })] });
      await write({ ended: [{ instanceId: "i1", at: 8, reason: "instance-ended" }] });
      expect(await store.countMailbox("i1")).toBe(0);
      expect(await store.countMailbox("i2")).toBe(1);
      expect(await store.findDeadLetter("i1", "m149")).toMatchObject({ reason: "instance-ended", at: 8 });
    });

    test("I4: of two calls that claim one key at once, one has it and the other gets its answer", async () => {
      const row = { scope: "start", key: "k", digest: "d", messageId: null, result: "first", at: 1 };
      const claims = await Promise.all(
        ["a", "b", "c"].map((result) => store.transaction((tx) => tx.claimAnswer({ ...row, result }))),
      );
      const winners = claims.filter((found) => found === null);
      expect(winners).toHaveLength(1);
      const seen = new Set(claims.flatMap((found) => (found ? [found.result] : [])));
      expect(seen.size).toBe(1);
    });

    test("lists are filtered, newest first, and paged without loss or repetition", async () => {
      for (let n = 0; n < 7; n += 1) {
        await start(`a%${n}`, { createdAt: 100 + Math.floor(n / 3), businessKey: n % 2 ? "odd" : "even" });
      }
      await start("b_1", { status: "failed" });
      const seen: string[] = [];
      let after = null;
      for (;;) {
        const rows = await store.listInstances({ idPrefix: "a%" }, after, 3);
        if (rows.length === 0) break;
        seen.push(...rows.map((row) => row.id));
        after = must(rows.at(-1), "a row");
      }
      expect(seen).toEqual(["a%6", "a%5", "a%4", "a%3", "a%2", "a%1", "a%0"]);
      const ids = async (filter: object) => (await store.listInstances(filter, null, 9)).map((row) => row.id);
      expect(await ids({ status: "failed" })).toEqual(["b_1"]);
      expect(await ids({ businessKey: "odd" })).toEqual(["a%5", "a%3", "a%1"]);
      expect(await ids({ chartId: "none" })).toEqual([]);
      expect(await ids({ idPrefix: "A" })).toEqual([]);
    });

    test("the log is read by seq, by time and from any place", async () => {
      await write({
        created: [instanceRow({ seq: 5 })],
        log: [1, 2, 3, 4, 5].map((seq) => logRow({ seq, at: 100 * Math.ceil(seq / 2) })),
      });
      expect((await store.listLog("i1", 4, 2)).map((entry) => entry.seq)).toEqual([3, 2]);
      expect((await store.logInputs("i1", 2, 4, 9)).map((entry) => entry.seq)).toEqual([3, 4]);
      expect(await Promise.all([99, 100, 250, 999].map((at) => store.seqAt("i1", at)))).toEqual([0, 2, 4, 5]);
    });
  });

  describe("locks", () => {
    const entry = (row: LockRow, type: string): LockLogRow => ({
      key: row.key,
      seq: row.logSeq,
      type,
      at: 1,
      fence: row.fence,
      holder: row.holder,
      session: row.session,
      actor: "local",
      reason: null,
      details: "{}",
    });
    const hold = (key: string, over: Partial<LockRow> = {}) =>
      store.transaction(async (tx) => {
        const before = await tx.lockLock(key);
        const row = {
          ...before,
          fence: before.fence + 1,
          session: "s",
          holder: "h",
          expiresAt: 100,
          logSeq: before.logSeq + 1,
          ...over,
        };
        await tx.writeLock({ row, log: [entry(row, "ACQUIRED")], joined: [], left: [], answer: null });
        return row;
      });

    test("I7: row, log, queue and answer are one write; a key's row is made once", async () => {
      await Promise.all(Array.from({ length: 10 }, () => hold("k")));
      expect(await store.findLock("k")).toMatchObject({ fence: 10, logSeq: 10, waiters: 0 });
      expect((await store.listLockLog("k", null, 50)).map((each) => each.seq)).toEqual([
        10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
      ]);
      const waiter = {
        key: "k",
        ticket: 1,
        session: "w",
        holder: "w",
        actor: "local",
        ttlMs: 1_000,
        since: 5,
        givesUpAt: 40,
        heartbeatAt: 5,
        keys: '["k","l"]',
        holdMaxMs: 5_000,
        coolMs: null,
      };
      const answer = { key: "k", scope: "acquire:a", idem: "1", digest: "d", result: "{}", at: 5 };
      await store.transaction(async (tx) => {
        const row = await tx.lockLock("k");
        await tx.writeLock({ row, log: [], joined: [waiter], left: [], answer });
        await tx.beatWaiters([{ key: "k", session: "w", heartbeatAt: 30 }]);
      });
      expect(await store.listWaiters("k")).toEqual([{ ...waiter, heartbeatAt: 30 }]);
      expect(await store.findHeads(["k", "l"])).toEqual([{ key: "k", session: "w", heartbeatAt: 30 }]);
      expect(await store.findLock("k")).toMatchObject({ waiters: 1, oldestWaiterSince: 5 });
      expect(await store.transaction((tx) => tx.findLockCommand("k", "acquire:a", "1"))).toEqual(answer);
      expect(await store.transaction((tx) => tx.findLockCommand("k", "acquire:b", "1"))).toBeNull();
    });

    test("lists tell held, expired and free apart by the time given, most waited for first", async () => {
      await hold("a");
      await hold("b", { expiresAt: 10, holder: "Vehicle_7" });
      await hold("c", { session: null, holder: null, expiresAt: null });
      await start("h");
      const keys = async (filter: object) =>
        (await store.listLocks(filter, null, 9, 50)).map((row) => row.key);
      expect(await keys({})).toEqual(["a", "b"]);
      expect(await keys({ status: "held" })).toEqual(["a"]);
      expect(await keys({ status: "expired" })).toEqual(["b"]);
      expect(await keys({ status: "free" })).toEqual(["c"]);
      expect(await keys({ status: "all", search: "vehicle_" })).toEqual(["b"]);
      expect(await keys({ search: "vehicle%" })).toEqual([]);
      expect(await store.countLocks(50)).toEqual({ held: 1, waiting: 0 });
      expect((await store.listLocks({}, { waiters: 0, key: "a" }, 9, 50)).map((row) => row.key)).toEqual([
        "b",
      ]);
      expect(await store.findLock("a")).toMatchObject({ instanceId: "h", instanceStatus: "running" });
      expect(await store.findUnsettled(50, 9)).toEqual(["b"]);
    });

    test("I3: who takes a lock's fence away waits for the step that has read it", async () => {
      if (provider === "sqlite") return; // One writer: there is no step in flight to wait for.
      await hold("k");
      const order: string[] = [];
      let shared = () => {};
      const isShared = new Promise<void>((resolve) => (shared = resolve));
      const step = store.transaction(async (tx) => {
        await tx.shareLocks(["k"]);
        shared();
        await new Promise((resolve) => setTimeout(resolve, 150));
        order.push("step");
      });
      await isShared;
      await store.transaction(async (tx) => {
        await tx.lockLock("k");
        order.push("force");
      });
      await step;
      expect(order).toEqual(["step", "force"]);
    });
  });

  describe("the feed of changes", () => {
    /**
     * At least `count` of them. PostgreSQL shows a commit when every transaction of the server that began before it is over,
     * those of other tests too.
     */
    async function changesAfter(position: string, count: number): Promise<StoredChange[]> {
      return vi.waitFor(async () => {
        const { changes } = await store.changesSince(position, 10);
        expect(changes.length).toBeGreaterThanOrEqual(count);
        return changes;
      }, 10_000);
    }

    test("shows what is committed, in one order, from any position", async () => {
      await store.transaction((tx) => tx.insertChart(chartRow()));
      await start("i1");
      const all = await changesAfter("0.0", 2);
      expect(all).toMatchObject([
        { kind: "chart", id: "chart", revision: 1 },
        { kind: "instance", id: "i1", seq: 1, status: "running" },
      ]);
      const first = must(all[0], "a change");
      expect((await store.changesSince(first.position, 10)).changes).toEqual(all.slice(1));
      expect((await store.changesSince(first.position, 0)).changes).toEqual([]);
      const head = await store.changesSince(null, 10);
      expect(head).toMatchObject({ changes: [], resync: false });
      await start("i2");
      expect((await changesAfter(head.position, 1)).at(-1)).toMatchObject({ id: "i2" });
    });

    test("says resync to a position that is none of its own", async () => {
      for (const position of ["999999999999.1", "nonsense", "", "1.1; drop"]) {
        expect(await store.changesSince(position, 10)).toMatchObject({ resync: true, changes: [] });
      }
    });

    test("a reader that follows loses and doubles nothing while many write, some of them slowly", async () => {
      const seen: StoredChange[] = [];
      let position = (await store.changesSince(null, 1)).position;
      let writing = true;
      const writers = Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          store.transaction(async (tx) => {
            await tx.writeSteps({
              ...noWrites(),
              created: [instanceRow({ id: `i${n}` })],
              log: [logRow({ instanceId: `i${n}` })],
            });
            if (provider === "postgresql" && n % 3 === 0)
              await new Promise((resolve) => setTimeout(resolve, n));
          }),
        ),
      ).finally(() => (writing = false));
      const follow = async () => {
        const page = await store.changesSince(position, 7);
        seen.push(...page.changes);
        position = page.position;
      };
      while (writing) {
        await follow();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await writers;
      await vi.waitFor(async () => {
        await follow();
        expect(seen.length).toBeGreaterThanOrEqual(40);
      }, 10_000);
      // Nothing comes twice, however long one goes on.
      for (let more = 0; more < 5; more += 1) await follow();
      const ids = seen.map((change) => (change.kind === "instance" ? change.id : ""));
      expect(new Set(ids).size).toBe(ids.length);
      expect([...ids].sort()).toEqual(Array.from({ length: 40 }, (_, n) => `i${n}`).sort());
    });

    test("tells this process's listeners after a commit, and never of one that failed", async () => {
      let told = 0;
      const stop = store.onCommit(() => (told += 1));
      await start("i1");
      expect(told).toBe(1);
      await expect(start("i1")).rejects.toThrow();
      expect(told).toBe(1);
      stop();
      await start("i2");
      expect(told).toBe(1);
    });
  });
});
