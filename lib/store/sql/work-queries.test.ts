/**
 * One look tells of every kind of work what its own search would find, on every store.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshDatabase, providers, type TestDatabase } from "@/lib/testing/database";
import { batchRow, instanceRow, messageRow, scheduleRow, taskRow, timerRow } from "@/lib/testing/rows";
import { noWrites, type StepWrites } from "../steps";
import type { Store } from "../store";
import type { Work } from "../work";
import { openSqlStore } from "./open-sql-store";

describe.each(providers)("I8: work on %s", (provider) => {
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
  const write = (writes: Partial<StepWrites>) =>
    store.transaction((tx) => tx.writeSteps({ ...noWrites(), ...writes }));
  const kinds = async () =>
    Object.entries(await store.findWork()).flatMap(([kind, there]) => (there ? [kind] : []));
  const far = Date.now() + 3_600_000;

  test("there is none where nothing is due", async () => {
    expect(await kinds()).toEqual([]);
    await write({
      created: [instanceRow()],
      armed: [timerRow({ dueAt: far })],
      tasksBegun: [taskRow({ dueAt: far }), taskRow({ taskId: "2:each", kind: "each", dueAt: far })],
    });
    await write({ parked: ["i1"], enqueued: [] });
    expect(await kinds()).toEqual([]);
  });

  const cases: [keyof Work, (add: typeof write) => Promise<unknown>][] = [
    ["steps", (add) => add({ created: [instanceRow()], enqueued: [messageRow({ instanceId: "i1" })] })],
    ["steps", (add) => add({ created: [instanceRow()], armed: [timerRow({ dueAt: 1 })] })],
    ["tasks", (add) => add({ tasksBegun: [taskRow({ dueAt: 1 })] })],
    ["children", (add) => add({ tasksBegun: [taskRow({ kind: "each", dueAt: 1 })] })],
    ["sagas", (add) => add({ created: [instanceRow({ status: "compensating" })] })],
    ["schedules", () => store.transaction((tx) => tx.insertSchedule(scheduleRow()))],
    ["batches", () => store.transaction((tx) => tx.insertBatch(batchRow()))],
  ];
  test.each(cases)("%s are told alone when they alone are due", async (kind, add) => {
    await add(write);
    expect(await kinds()).toEqual([kind]);
  });

  test("a lease and a wait whose time ran out are told", async () => {
    const key = "printer";
    await store.transaction(async (tx) => {
      const row = await tx.lockLock(key);
      const held = { ...row, session: "s", holder: "h", fence: 1, expiresAt: 1 };
      await tx.writeLock({ row: held, log: [], joined: [], left: [], answer: null });
    });
    expect(await kinds()).toEqual(["locks"]);
  });
});
