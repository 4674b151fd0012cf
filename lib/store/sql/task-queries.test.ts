/**
 * What every store promises of tasks, on every store.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { must } from "@/lib/base/assert";
import { freshDatabase, providers, type TestDatabase } from "@/lib/testing/database";
import { instanceRow, logRow, taskRow } from "@/lib/testing/rows";
import { noWrites, type StepWrites } from "../steps";
import type { Store } from "../store";
import type { TaskRow } from "../tasks";
import type { SuspectRow, WorkerRow } from "../workers";
import { openSqlStore } from "./open-sql-store";
import type { BeforeStatement } from "./statement";

const writing = (store: Store) => (writes: Partial<StepWrites>) =>
  store.transaction((tx) => tx.writeSteps({ ...noWrites(), ...writes }));

describe.each(providers)("tasks on %s", (provider) => {
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
  const write = (writes: Partial<StepWrites>) => writing(store)(writes);
  const begin = (...tasks: TaskRow[]) => write({ tasksBegun: tasks });
  const find = (taskId: string, instanceId = "i1") => store.findTask({ instanceId, taskId });
  const claimable = (type: string, by: "rank" | "ready", bound: number, now = 9_000, limit = 9) =>
    store.transaction(async (tx) =>
      (await tx.lockClaimable(type, { by, bound }, now, limit)).map((task) => task.taskId),
    );

  test("I2: a task begins with the step that asks for it, or not at all", async () => {
    await begin(taskRow({ timeoutMs: 5_000_000_000, compensate: '{"src":"refund"}' }));
    expect(await find("1:pay")).toEqual(
      taskRow({ timeoutMs: 5_000_000_000, compensate: '{"src":"refund"}' }),
    );
    const failing = store.transaction(async (tx) => {
      await tx.writeSteps({ ...noWrites(), tasksBegun: [taskRow({ taskId: "2:pay" })] });
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await find("2:pay")).toBeNull();
    await expect(begin(taskRow({ taskId: "3:pay" }), taskRow())).rejects.toThrow();
    expect(await find("3:pay")).toBeNull();
  });

  test("a claim finds what waits, by rank or by age, each by its bound, and skips what others hold", async () => {
    await begin(
      taskRow({ taskId: "old", rank: 3_000, readyAt: 3_000 }),
      taskRow({ taskId: "high", rank: -200_000, readyAt: 5_000, priority: 4 }),
      taskRow({ taskId: "later", rank: 9_500, readyAt: 9_500 }),
      taskRow({ taskId: "other", type: "ship", queue: "ship" }),
      taskRow({ taskId: "blocked", queue: null }),
      taskRow({ taskId: "done", status: "succeeded", queue: null }),
    );
    expect(await claimable("charge", "rank", 9_000)).toEqual(["high", "old"]);
    expect(await claimable("charge", "rank", -1)).toEqual(["high"]);
    expect(await claimable("charge", "ready", -1)).toEqual(["old"]);
    expect(await claimable("charge", "ready", Number.MIN_SAFE_INTEGER)).toEqual(["old", "high"]);
    expect(await claimable("charge", "ready", Number.MIN_SAFE_INTEGER, 9_500, 2)).toEqual(["old", "high"]);
    expect(await claimable("charge", "ready", 5_000, 9_500)).toEqual(["later"]);
    expect(await store.countClaimable(["charge", "ship", "none"], 9_000, 9)).toEqual([
      { type: "charge", count: 2 },
      { type: "ship", count: 1 },
    ]);
    expect(await store.countClaimable(["charge"], 9_000, 1)).toEqual([{ type: "charge", count: 1 }]);
  });

  // SQLite has one writer: nothing is ever held by another.
  test.runIf(provider === "postgresql")("a claim leaves out what another one holds", async () => {
    await begin(taskRow({ taskId: "high", rank: 1 }), taskRow({ taskId: "old", rank: 2 }));
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let locked = () => {};
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    const holder = store.transaction(async (tx) => {
      await tx.lockClaimable("charge", { by: "rank", bound: 9_000 }, 9_000, 1);
      locked();
      await held;
    });
    await isLocked;
    expect(await claimable("charge", "rank", 9_000)).toEqual(["old"]);
    release();
    await holder;
  });

  test("I3: of many claimers at once each task goes to one", async () => {
    await begin(...Array.from({ length: 20 }, (_, n) => taskRow({ taskId: `t${n}`, rank: n, readyAt: n })));
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, claimer) =>
        store.transaction(async (tx) => {
          const rows = await tx.lockClaimable("charge", { by: "rank", bound: 9_000 }, 9_000, 4);
          await tx.writeTasks(
            rows.map((row) => ({
              ...row,
              status: "running",
              queue: null,
              token: `${claimer}-${row.taskId}`,
            })),
          );
          return rows.map((row) => row.taskId);
        }),
      ),
    );
    const taken = claims.flat();
    expect(new Set(taken).size).toBe(taken.length);
    const left = await claimable("charge", "rank", 9_000, 9_000, 99);
    expect(taken.length + left.length).toBe(20);
    const first = must(taken[0], "one was taken");
    const token = must((await find(first))?.token, "it has a token");
    const held = await store.transaction((tx) => tx.lockTaskByToken(token));
    expect(held).toMatchObject({ taskId: first, status: "running", queue: null });
    expect(await store.transaction((tx) => tx.lockTaskByToken("nobody's"))).toBeNull();
  });

  test("cancelling ends what is unfinished and keeps the claim, so that its worker can be told", async () => {
    const running = { status: "running", queue: null, token: "t1", leaseUntil: 50, dueAt: 50 };
    await begin(
      taskRow({ taskId: "1:a", ...running }),
      taskRow({ taskId: "1:b" }),
      taskRow({ taskId: "1:c", status: "succeeded", queue: null, endedAt: 3 }),
      taskRow({ instanceId: "i2", taskId: "1:b" }),
    );
    await write({
      tasksCancelled: ["1:a", "1:c"].map((taskId) => ({ instanceId: "i1", taskId, at: 7 })),
    });
    expect(await find("1:a")).toMatchObject({
      status: "cancelled",
      token: "t1",
      leaseUntil: 50,
      dueAt: 50,
      endedAt: 7,
    });
    expect(await find("1:b")).toMatchObject({ status: "pending" });
    expect(await find("1:c")).toMatchObject({ status: "succeeded", endedAt: 3 });
    await write({ ended: [{ instanceId: "i1", at: 9, reason: "instance-ended" }] });
    expect(await find("1:b")).toMatchObject({ status: "cancelled", queue: null, endedAt: 9 });
    expect(await find("1:a")).toMatchObject({ endedAt: 7 });
    expect(await find("1:b", "i2")).toMatchObject({ status: "pending" });
    await write({ emptied: ["i1"] });
    expect(await find("1:a")).toBeNull();
    expect(await find("1:b", "i2")).not.toBeNull();
  });

  test("a worker's id belongs to one session, until that was silent for long enough", async () => {
    const row = {
      id: "w1",
      session: "s1",
      kind: "task",
      types: "[]",
      slots: 4,
      running: 0,
      draining: 0,
      note: null,
      startedAt: 100,
      seenAt: 100,
      stepping: null,
      lostAt: null,
    };
    const put = (over: object) => store.transaction((tx) => tx.putWorker({ ...row, ...over }, 50));
    expect(await put({})).toBe(true);
    expect(await put({ seenAt: 140, startedAt: 140, running: 2 })).toBe(true);
    expect(await put({ session: "s2", seenAt: 189 })).toBe(false);
    expect(await store.listWorkers(9)).toEqual([{ ...row, seenAt: 140, running: 2 }]);
    expect(await put({ session: "s2", seenAt: 190, startedAt: 190 })).toBe(true);
    expect(await store.listWorkers(9)).toMatchObject([{ session: "s2", startedAt: 190 }]);
    await store.transaction((tx) => tx.removeWorker("w1", "s1"));
    expect(await store.listWorkers(9)).toHaveLength(1);
    await store.transaction((tx) => tx.removeSilentWorkers(191));
    expect(await store.listWorkers(9)).toEqual([]);
  });

  test("I9: a lost worker is handed to one caller alone, with what it was stepping; a beat finds it again", async () => {
    const row: WorkerRow = {
      id: "w1",
      session: "s1",
      kind: "runtime",
      types: "[]",
      slots: 4,
      running: 0,
      draining: 0,
      note: null,
      startedAt: 100,
      seenAt: 100,
      stepping: null,
      lostAt: null,
    };
    await store.transaction((tx) => tx.putWorker(row, 50));
    await store.transaction((tx) => tx.putWorker({ ...row, id: "w2", kind: "task", seenAt: 300 }, 50));
    expect(await store.transaction((tx) => tx.noteStepping("w1", "s1", [["i", "m"]]))).toBe(true);
    expect(await store.transaction((tx) => tx.noteStepping("w1", "s2", null))).toBe(false);
    await store.transaction((tx) => tx.putWorker({ ...row, seenAt: 140 }, 50));
    expect(await store.transaction((tx) => tx.watchWorkers(200))).toMatchObject([{ id: "w1", seenAt: 140 }]);
    const lose = () => store.transaction((tx) => tx.loseWorkers(["w1", "none"], 190));
    expect(await lose()).toMatchObject([{ id: "w1", stepping: '[["i","m"]]', lostAt: 190 }]);
    expect(await lose()).toEqual([]);
    await store.transaction((tx) => tx.putWorker({ ...row, seenAt: 195 }, 50));
    expect(await lose()).toHaveLength(1);
  });

  test("suspects are replaced by instance, and forgotten with old workers", async () => {
    const one = { instanceId: "i", item: "", deaths: 1, at: 100 };
    const put = (...rows: SuspectRow[]) => store.transaction((tx) => tx.putSuspects(rows));
    await put(one, { ...one, instanceId: "j" });
    await put({ ...one, item: "m", deaths: 2, at: 200 });
    expect(await store.findSuspects(["i", "k"])).toEqual([
      { instanceId: "i", item: "m", deaths: 2, at: 200 },
    ]);
    expect(await store.transaction((tx) => tx.lockSuspects(["j"]))).toEqual([{ ...one, instanceId: "j" }]);
    await store.transaction((tx) => tx.removeSilentWorkers(150));
    expect(await store.findSuspects(["i", "j"])).toMatchObject([{ instanceId: "i" }]);
    await store.transaction((tx) => tx.removeSuspect("i"));
    expect(await store.findSuspects(["i"])).toEqual([]);
  });

  test("the sweeper finds what is due, an instance's tasks are paged newest first", async () => {
    await write({ created: [instanceRow()], log: [logRow()] });
    await begin(
      ...[5, 1, 3].map((n) =>
        taskRow({ taskId: `1:t${n}`, createdAt: 100 + (n > 2 ? 1 : 0), dueAt: n * 10 }),
      ),
      taskRow({ taskId: "1:never", createdAt: 99 }),
    );
    expect((await store.findDueTasks(30, 9)).map((key) => key.taskId)).toEqual(["1:t1", "1:t3"]);
    expect((await store.findDueTasks(30, 1)).map((key) => key.taskId)).toEqual(["1:t1"]);
    const first = await store.listTasks("i1", null, 2);
    expect(first.map((task) => task.taskId)).toEqual(["1:t5", "1:t3"]);
    const rest = await store.listTasks("i1", must(first[1], "two rows"), 9);
    expect(rest.map((task) => task.taskId)).toEqual(["1:t1", "1:never"]);
    const held = await store.transaction((tx) =>
      tx.lockTasks(["1:t3", "1:t1", "no"].map((taskId) => ({ instanceId: "i1", taskId }))),
    );
    expect(held.map((task) => task.taskId)).toEqual(["1:t1", "1:t3"]);
  });
});

/** Each of its statements waits for `beforeStatement`. */
async function onPostgres(
  beforeStatement: BeforeStatement,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const database = await freshDatabase("postgresql");
  const store = await openSqlStore({ url: database.url, connections: 4, beforeStatement });
  try {
    await work(store);
  } finally {
    await store.close();
    await database.drop();
  }
}
const keyed = (instanceId: string, taskId: string, concurrencyKey: string) =>
  taskRow({ instanceId, taskId, concurrencyKey, token: `${instanceId}${taskId}` });

test("on postgresql: of two steps, each of which begins a task with the key that the other gives back, one waits for the other", async () => {
  const waiting: (() => void)[] = [];
  // Who is about to give a key back lets the other come as far, if it can.
  const beforeStatement = async (_pid: number, text: string) => {
    if (!text.includes(`SET "free" = 1`)) return text;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      setTimeout(resolve, 500);
      if (waiting.length === 2) for (const go of waiting) go();
    });
    return text;
  };
  await onPostgres(beforeStatement, async (store) => {
    const write = writing(store);
    await write({ tasksBegun: [keyed("i1", "1:x", "a"), keyed("i2", "1:x", "b")] });
    await Promise.all([
      write({
        tasksBegun: [keyed("i1", "2:x", "b")],
        tasksCancelled: [{ instanceId: "i1", taskId: "1:x", at: 5 }],
      }),
      write({
        tasksBegun: [keyed("i2", "2:x", "a")],
        tasksCancelled: [{ instanceId: "i2", taskId: "1:x", at: 5 }],
      }),
    ]);
    expect(store.repeatedTransactions()).toBe(0);
    const free = await store.findFreeKeys("task", 9);
    expect(free.map(({ key }) => key).sort()).toEqual(["a", "b"]);
  });
});

test("on postgresql: a key that comes free while a step takes others is nobody's, and the next task has it", async () => {
  let isArmed = false;
  let reach = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  let go = () => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  const beforeStatement = async (_pid: number, text: string) => {
    // The step has looked which keys its tasks have, and holds none of them yet.
    if (isArmed && text.includes(`SELECT t."task_id" FROM`)) {
      isArmed = false;
      reach();
      await gone;
    }
    return text;
  };
  await onPostgres(beforeStatement, async (store) => {
    const write = writing(store);
    const serve = async () => {
      for (const key of await store.findFreeKeys("task", 9))
        await store.transaction((tx) => tx.serveKey(key, 5));
    };
    await write({ tasksBegun: [keyed("i1", "1:x", "a")] });
    isArmed = true;
    const step = write({
      tasksBegun: [keyed("i1", "2:x", "b")],
      tasksCancelled: [{ instanceId: "i1", taskId: "1:x", at: 5 }],
    });
    await reached;
    await store.transaction(async (tx) => {
      const [row] = await tx.lockTasks([{ instanceId: "i1", taskId: "1:x" }]);
      const over = { status: "succeeded", queue: null, condition: null, leaseUntil: null, endedAt: 4 };
      await tx.writeTasks([{ ...must(row, "it was begun"), ...over }]);
    });
    await serve();
    go();
    await step;
    await serve();
    await write({ tasksBegun: [keyed("i2", "1:x", "a")] });
    await serve();
    expect(await store.findTask({ instanceId: "i2", taskId: "1:x" })).toMatchObject({ queue: "charge" });
  });
});
