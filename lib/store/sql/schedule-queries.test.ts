/**
 * What every store promises of schedules and batches.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { must } from "@/lib/base/assert";
import { freshDatabase, providers, type TestDatabase } from "@/lib/testing/database";
import { batchItemRow, batchRow, instanceRow, logRow, scheduleRow, tickRow } from "@/lib/testing/rows";
import { noWrites } from "../steps";
import type { Store } from "../store";
import { openSqlStore } from "./open-sql-store";

describe.each(providers)("on %s", (provider) => {
  let database: TestDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await freshDatabase(provider);
    store = await openSqlStore({ url: database.url, connections: 4 });
  });
  afterEach(async () => {
    await store.close();
    await database.drop();
  });

  describe("schedules", () => {
    const insert = (over = {}) => store.transaction((tx) => tx.insertSchedule(scheduleRow(over)));

    test("an id is taken once; what is updated under its lock comes back the same", async () => {
      expect(await insert()).toBe(true);
      expect(await insert({ cron: "other" })).toBe(false);
      const changed = scheduleRow({ revision: 2, paused: 1, nextAt: null, ticks: 7, chartId: "c" });
      await store.transaction(async (tx) => {
        expect(await tx.lockSchedule("s1")).toEqual(scheduleRow());
        await tx.updateSchedule(changed);
      });
      expect(await store.findSchedule("s1")).toEqual(changed);
      expect(await store.findSchedule("nobody")).toBeNull();
      expect(await store.transaction((tx) => tx.lockSchedule("nobody"))).toBeNull();
    });

    test("the list is filtered and paged by id", async () => {
      for (const id of ["a", "b", "c"]) await insert({ id, chartId: id === "b" ? null : "chart" });
      await insert({ id: "d", chartId: "chart", paused: 1 });
      const ids = async (filter: object, after: string | null = null, limit = 9) =>
        (await store.listSchedules(filter, after, limit)).map(({ id }) => id);
      expect(await ids({})).toEqual(["a", "b", "c", "d"]);
      expect(await ids({}, "a", 2)).toEqual(["b", "c"]);
      expect(await ids({ chartId: "chart" })).toEqual(["a", "c", "d"]);
      expect(await ids({ paused: true })).toEqual(["d"]);
      expect(await ids({ paused: false, chartId: "chart" }, "a")).toEqual(["c"]);
    });

    test("those that are due come longest due first; paused ones never", async () => {
      await insert({ id: "late", nextAt: 100 });
      await insert({ id: "later", nextAt: 50 });
      await insert({ id: "soon", nextAt: 301 });
      await insert({ id: "paused", paused: 1, nextAt: null });
      expect(await store.findDueSchedules(300, 9)).toEqual(["later", "late"]);
      expect(await store.findDueSchedules(300, 1)).toEqual(["later"]);
    });

    test("a schedule that another transaction holds is passed over by a claim that skips", async () => {
      await insert();
      let release = () => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      let locked = () => {};
      const isLocked = new Promise<void>((resolve) => (locked = resolve));
      const holder = store.transaction(async (tx) => {
        await tx.lockSchedule("s1");
        locked();
        if (provider === "postgresql") await released;
      });
      await isLocked;
      const claimed = await store.transaction((tx) => tx.lockSchedule("s1", { skipBusy: true }));
      // SQLite has one writer: the claim comes after the holder.
      expect(claimed?.id).toBe(provider === "postgresql" ? undefined : "s1");
      release();
      await holder;
    });

    test("a tick is recorded once; the newest are read, the oldest dropped, and all go with their schedule", async () => {
      await insert({ ticks: 4 });
      await insert({ id: "s2", ticks: 1 });
      const ticks = [0, 1, 2, 3].map((n) => tickRow({ n, tick: `t${n}`, errorCode: n === 2 ? "x" : null }));
      await store.transaction((tx) => tx.insertTicks([...ticks, tickRow({ scheduleId: "s2", tick: "t0" })]));
      await expect(
        store.transaction((tx) => tx.insertTicks([tickRow({ n: 9, tick: "t3" })])),
      ).rejects.toThrow();
      expect(await store.listTicks("s1", null, 2)).toEqual([ticks[3], ticks[2]]);
      expect((await store.listTicks("s1", 2, 9)).map(({ n }) => n)).toEqual([1, 0]);
      const newest = await store.newestTicks(["s1", "s2"], 2);
      expect(newest.map(({ scheduleId, n }) => `${scheduleId} ${n}`)).toEqual(["s1 3", "s1 2", "s2 0"]);
      expect(await store.transaction((tx) => tx.findTick("s1", "t2"))).toEqual(ticks[2]);
      await store.transaction((tx) => tx.dropTicks("s1", 2));
      expect((await store.listTicks("s1", null, 9)).map(({ n }) => n)).toEqual([3, 2]);
      await store.transaction((tx) => tx.deleteSchedule("s1"));
      expect(await store.findSchedule("s1")).toBeNull();
      expect(await store.listTicks("s1", null, 9)).toEqual([]);
      expect(await store.listTicks("s2", null, 9)).toHaveLength(1);
    });
  });

  describe("batches", () => {
    const insert = (over = {}) => store.transaction((tx) => tx.insertBatch(batchRow(over)));

    test("rows come back the same, newest first; those with a portion due longest due first", async () => {
      await insert();
      await insert({ id: "b2", createdAt: 2_000, nextAt: 500, ratePerSecond: 5 });
      await insert({ id: "b3", createdAt: 3_000, nextAt: null, status: "done", endedAt: 4_000 });
      expect(await store.findBatch("b1")).toEqual(batchRow());
      expect(await store.findBatch("none")).toBeNull();
      const page = await store.listBatches(null, 2);
      expect(page.map(({ id }) => id)).toEqual(["b3", "b2"]);
      expect((await store.listBatches(must(page[1], "b2"), 2)).map(({ id }) => id)).toEqual(["b1"]);
      expect(await store.findDueBatches(1_000, 9)).toEqual(["b2", "b1"]);
      const done = batchRow({
        status: "cancelled",
        ok: 3,
        cursor: "{}",
        nextAt: null,
        token: "t",
        endedAt: 9,
      });
      await store.transaction(async (tx) => {
        expect(await tx.lockBatch("b1", { skipBusy: true })).toEqual(batchRow());
        await tx.updateBatch(done);
      });
      expect(await store.findBatch("b1")).toEqual(done);
    });

    test("items are listed by place and status, and updated many at once", async () => {
      await insert();
      const items = [0, 1, 2, 3].map((place) => batchItemRow({ place, instanceId: `i${place}` }));
      await store.transaction((tx) => tx.insertBatchItems(items));
      await expect(store.transaction((tx) => tx.insertBatchItems(items.slice(3)))).rejects.toThrow();
      const refused = batchItemRow({
        place: 1,
        instanceId: "i1",
        status: "refused",
        code: "c",
        message: "m",
        at: 5,
      });
      await store.transaction((tx) =>
        tx.updateBatchItems([
          refused,
          batchItemRow({ place: 2, instanceId: "i2", status: "ok", attempts: 1, at: 5 }),
        ]),
      );
      expect((await store.listBatchItems("b1", "pending", null, 9)).map(({ place }) => place)).toEqual([
        0, 3,
      ]);
      expect((await store.listBatchItems("b1", "pending", 0, 9)).map(({ place }) => place)).toEqual([3]);
      expect(await store.listBatchItems("b1", "refused", null, 9)).toEqual([refused]);
      expect((await store.listBatchItems("b1", null, 1, 1)).map(({ place }) => place)).toEqual([2]);
    });

    test("a selection is counted by status, up to a bound; what is deleted is not in it", async () => {
      const created = [
        instanceRow({ id: "i1" }),
        instanceRow({ id: "i2", status: "failed" }),
        instanceRow({ id: "i3", deletedAt: 5 }),
        instanceRow({ id: "i4", chartId: "other" }),
      ];
      await store.transaction((tx) =>
        tx.writeSteps({ ...noWrites(), created, log: created.map(({ id }) => logRow({ instanceId: id })) }),
      );
      expect(await store.countSelected({ filter: { chartId: "chart" } }, 9)).toEqual([
        { status: "failed", count: 1 },
        { status: "running", count: 1 },
      ]);
      expect(await store.countSelected({ instanceIds: ["i1", "i3", "i4", "none"] }, 9)).toEqual([
        { status: "running", count: 2 },
      ]);
      expect(await store.countSelected({ filter: { status: "running" } }, 1)).toEqual([
        { status: "running", count: 1 },
      ]);
    });
  });
});
