/**
 * What the store promises of retention, the fleet, workers' orders and partitions, on both databases. (What is forgotten by
 * which rule: runtime/retention.test.ts; counting: runtime/fleet.test.ts.)
 */
import Database from "better-sqlite3";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { partitionOf } from "@/lib/runtime/new-id";
import { freshDatabase, providers, tamper, type TestDatabase } from "@/lib/testing/database";
import {
  batchItemRow,
  batchRow,
  instanceRow,
  logRow,
  messageRow,
  taskRow,
  timerRow,
} from "@/lib/testing/rows";
import { noWrites, type StepWrites } from "../steps";
import type { Store } from "../store";
import type { WorkerRow } from "../workers";
import { changesBetween } from "./change-queries";
import { dialects } from "./dialect";
import { runnable } from "./instance-queries";
import { unsettled } from "./lock-queries";
import { openSqlStore } from "./open-sql-store";
import { planByKey } from "./postgres-pool";
import { claimable } from "./step-queries";

const workerRow = (over: Partial<WorkerRow> = {}): WorkerRow => ({
  id: "w",
  session: "s",
  kind: "runtime",
  types: "[]",
  slots: 4,
  running: 0,
  draining: 0,
  note: null,
  startedAt: 1,
  seenAt: 1,
  stepping: null,
  lostAt: null,
  ...over,
});

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
  const write = (writes: Partial<StepWrites>) =>
    store.transaction((tx) => tx.writeSteps({ ...noWrites(), ...writes }));

  test("a rule is held by one; who doesn't wait gets none of it", async () => {
    if (provider === "sqlite") return; // One writer: there is never a second one.
    let held = () => {};
    let letGo = () => {};
    const isHeld = new Promise<void>((resolve) => (held = resolve));
    const isFree = new Promise<void>((resolve) => (letGo = resolve));
    const first = store.transaction(async (tx) => {
      expect(await tx.holdRule("audit")).toMatchObject({ rule: "audit", keepMs: null });
      held();
      await isFree;
    });
    await isHeld;
    expect(await store.transaction((tx) => tx.holdRule("audit"))).toBeNull();
    const waits = store.transaction((tx) => tx.holdRule("audit", { wait: true }));
    letGo();
    expect(await waits).not.toBeNull();
    await first;
  });

  test("a sweep takes what is over, in key order, and goes on behind; a dry one leaves all", async () => {
    const rows = Array.from({ length: 7 }, (_, n) => ({
      scope: `send:i1:1:${n < 4 ? "a" : "b"}`,
      key: String(n),
      digest: "d",
      messageId: `m${n}`,
      result: n === 2 || n === 3 ? null : "{}",
      at: n === 5 ? 99 : 1,
    }));
    // The answer of 3 is to a message that nobody will apply.
    await write({ dedupe: rows, enqueued: [messageRow({ messageId: "m2" })] });
    const sweep = (after: string | null, dry: boolean) =>
      store.transaction((tx) => tx.sweep("answers", after, { bound: 50, limit: 3, dry }));
    const trail = [];
    for (const dry of [true, false]) {
      for (let after: string | null = null, more = true; more; more = after !== null) {
        const { removed, next } = await sweep(after, dry);
        trail.push(removed);
        after = next;
      }
    }
    expect(trail).toEqual([2, 2, 1, 2, 2, 1]);
    const left = await store.transaction((tx) => tx.findAnswers(rows));
    expect(left.map(({ key }) => key).sort()).toEqual(["2", "5"]);
  });

  test("a sweep of batches takes at most so many items, then those that have none; what goes on stays whole", async () => {
    const ends: Record<string, number | null> = { a: 1, b: 1, c: 99, d: null };
    await store.transaction(async (tx) => {
      for (const [id, endedAt] of Object.entries(ends)) {
        await tx.insertBatch(
          batchRow({ id, endedAt, total: 3, status: endedAt === null ? "running" : "done" }),
        );
        await tx.insertBatchItems([0, 1, 2].map((place) => batchItemRow({ batchId: id, place })));
      }
    });
    const sweep = (after: string, dry = false) =>
      store.transaction((tx) => tx.sweepBatches(after, { bound: 50, limit: 4, dry }));
    expect(await sweep("", true)).toEqual({ removed: 8, next: null });
    expect(await sweep("")).toEqual({ removed: 4, next: "" });
    expect(await sweep("")).toEqual({ removed: 4, next: null });
    expect(await sweep("")).toEqual({ removed: 0, next: null });
    expect((await store.listBatches(null, 9)).map(({ id }) => id).sort()).toEqual(["c", "d"]);
    for (const [id, left] of [
      ["a", 0],
      ["b", 0],
      ["c", 3],
      ["d", 3],
    ] as const) {
      expect(await store.listBatchItems(id, null, null, 9)).toHaveLength(left);
    }
  });

  test("a batch that goes on again while it is swept keeps its items", async () => {
    if (provider === "sqlite") return; // One writer: nothing comes between.
    await store.transaction(async (tx) => {
      await tx.insertBatch(batchRow({ id: "a", endedAt: 1, total: 1, status: "cancelled" }));
      await tx.insertBatchItems([batchItemRow({ batchId: "a", place: 0 })]);
    });
    let held = () => {};
    const isHeld = new Promise<void>((resolve) => (held = resolve));
    const resuming = store.transaction(async (tx) => {
      const row = await tx.lockBatch("a");
      held();
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (row) await tx.updateBatch({ ...row, status: "running", endedAt: null });
    });
    await isHeld;
    const swept = store.transaction((tx) => tx.sweepBatches("", { bound: 50, limit: 4, dry: false }));
    expect(await swept).toEqual({ removed: 0, next: null });
    await resuming;
    expect(await store.listBatchItems("a", null, null, 9)).toHaveLength(1);
  });

  test("a write that is only begun leaves nothing", async () => {
    await write({ created: [instanceRow()], log: [logRow()] });
    const { position } = await store.changesSince(null, 1);
    await store.transaction((tx) => tx.beginWriting());
    expect((await store.changesSince(position, 9)).changes).toEqual([]);
    expect(await store.trouble()).toBeNull();
  });

  test("orders reach the session they are for, once; a beat leaves them alone", async () => {
    const put = (row: WorkerRow) => store.transaction((tx) => tx.putWorker(row, 1_000));
    expect(await store.transaction((tx) => tx.askDrain("w", true))).toBe(false);
    await put(workerRow());
    await store.transaction(async (tx) => {
      expect(await tx.askDrain("w", true)).toBe(true);
      expect(await tx.askReset("w", "a.example")).toBe(true);
      expect(await tx.askReset("w", "a.example")).toBe(true);
      await tx.noteWorker("w", "other", { breakers: "[1]", partitions: "0-1" });
      await tx.noteWorker("w", "s", { breakers: "[2]", partitions: "0-31" });
    });
    await put(workerRow({ seenAt: 2 }));
    expect(await store.findOrders("w", "other")).toBeNull();
    expect(await store.findOrders("w", "s")).toEqual({ drainAsked: 1, resets: '["a.example"]' });
    expect(await store.transaction((tx) => tx.takeResets("w", "other"))).toEqual([]);
    expect(await store.transaction((tx) => tx.takeResets("w", "s"))).toEqual(["a.example"]);
    expect(await store.transaction((tx) => tx.takeResets("w", "s"))).toEqual([]);
    expect(await store.listWorkerNotes(9)).toEqual([
      { id: "w", breakers: "[2]", partitions: "0-31", drainAsked: 1, resets: "[]" },
    ]);
  });

  test("what is due next is the earliest of all that comes by itself", async () => {
    expect(await store.nextDue(0)).toBeNull();
    await write({
      created: [instanceRow()],
      log: [logRow()],
      armed: [timerRow({ dueAt: 500 })],
      tasksBegun: [taskRow({ readyAt: 300, dueAt: 700 })],
    });
    const seen = [];
    for (let at: number | null = 0; at !== null;) {
      at = await store.nextDue(at);
      seen.push(at);
    }
    expect(seen).toEqual([300, 500, 700, null]);
  });

  test("I8: however many waiters of one key give up, the other keys are found too", async () => {
    const row = (key: string, n: number) => `('${key}', ${n}, 's${n}', 'h', 'a', 1000, 1, 10, 1)`;
    const rows = [...Array.from({ length: 150 }, (_, n) => row("a", n)), row("b", 150), row("c", 151)];
    await tamper(
      database.url,
      `INSERT INTO lock_waiters (key, ticket, session, holder, actor, ttl_ms, since, gives_up_at, heartbeat_at) VALUES ${rows.join(", ")}`,
    );
    expect((await store.findUnsettled(100, 100)).sort()).toEqual(["a", "b", "c"]);
    expect(await store.findUnsettled(100, 2)).toHaveLength(2);
  });

  test("I8: of partitions, mailboxes, timers and tasks are found, however much waits for the others", async () => {
    const ids = Array.from({ length: 600 }, (_, n) => `i${String(n).padStart(3, "0")}`);
    const mine = (id: string) => partitionOf(id) < 2;
    await write({
      created: ids.map((id) => instanceRow({ id, partition: partitionOf(id) })),
      enqueued: ids.map((instanceId) => messageRow({ instanceId, messageId: `m-${instanceId}` })),
      tasksBegun: ids.map((instanceId) => taskRow({ instanceId })),
    });
    const share = { from: 0, to: 1 };
    const found = new Set<string>();
    let after = "";
    let looks = 0;
    do {
      const look = await store.findRunnable(2_000, after, share);
      for (const { id } of look.found) found.add(id);
      after = look.next;
      looks += 1;
    } while (after !== "" && looks < 10);
    expect([...found].sort()).toEqual(ids.filter(mine));
    expect(looks).toBe(3);
    const claim = { by: "ready", bound: Number.MIN_SAFE_INTEGER } as const;
    const tasks = await store.transaction((tx) => tx.lockClaimable("charge", claim, 2_000, 100, share));
    expect(tasks.map(({ instanceId }) => instanceId).sort()).toEqual(ids.filter(mine));
    await tamper(database.url, "DELETE FROM mailbox");
    await write({ armed: ids.map((instanceId) => timerRow({ instanceId })) });
    const due = await store.findRunnable(2_000, "", share);
    expect(due.found.map(({ id }) => id).sort()).toEqual(ids.filter(mine));
  });
});

test("on postgresql: looking for work of partitions goes along indexes alone", async () => {
  const database = await freshDatabase("postgresql");
  const store = await openSqlStore({ url: database.url, connections: 2 });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const ids = Array.from({ length: 3_000 }, (_, n) => `i${n}`);
    await store.transaction((tx) =>
      tx.writeSteps({
        ...noWrites(),
        created: ids.map((id) => instanceRow({ id, partition: partitionOf(id) })),
        enqueued: ids.map((instanceId) => messageRow({ instanceId, messageId: instanceId })),
      }),
    );
    await client.query(
      "ANALYZE; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off",
    );
    const { text, values } = runnable(2_000, "", { from: 0, to: 31 });
    const { rows } = await client.query<Record<string, string>>(`EXPLAIN ${text}`, values);
    const plan = rows.map((row) => row["QUERY PLAN"] ?? "").join("\n");
    expect(plan).not.toContain("Seq Scan");
    for (const index of [
      "mailbox_parked_rank_idx",
      "mailbox_parked_instance_id_idx",
      "timers_parked_priority_due_at_idx",
    ]) {
      expect(plan).toContain(index);
    }
    expect(plan).toContain("instances_pkey");
  } finally {
    await client.end();
    await store.close();
    await database.drop();
  }
});

test("on postgresql: planned while there are none, looking for work still looks instances up by their ids", async () => {
  const database = await freshDatabase("postgresql");
  await (await openSqlStore({ url: database.url, connections: 1 })).close();
  const client = new pg.Client({ connectionString: database.url, options: planByKey });
  await client.connect();
  try {
    const shares = [undefined, { from: 0, to: 31 }];
    for (const { text } of [
      ...shares.map((share) => runnable(2_000, "", share)),
      claimable(dialects.postgresql, ["i1"], 2_000, 10),
    ]) {
      const { rows } = await client.query<Record<string, string>>(`EXPLAIN (GENERIC_PLAN) ${text}`);
      const plan = rows.map((row) => row["QUERY PLAN"] ?? "");
      const looked = plan.flatMap((line, at) => (/ on instances /.test(line) ? [plan[at + 1] ?? ""] : []));
      expect(looked.length).toBeGreaterThan(0);
      for (const line of looked) expect(line).toMatch(/Index Cond: \(id = /);
      expect(plan.join("\n")).not.toMatch(/Join|Seq Scan|hashed/);
    }
  } finally {
    await client.end();
    await database.drop();
  }
});

test("on sqlite: looking for work goes along indexes alone, however many instances and locks there are", async () => {
  const database = await freshDatabase("sqlite");
  const store = await openSqlStore({ url: database.url, connections: 1 });
  const file = new Database(database.url.slice("file:".length), { readonly: true });
  try {
    const share = { from: 0, to: 31 };
    for (const { sql, values } of [
      runnable(2_000, "", undefined),
      runnable(2_000, "", share),
      claimable(dialects.sqlite, ["i1"], 2_000, 10),
      unsettled(2_000, 10),
    ]) {
      const rows = file.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
      const plan = rows.map(({ detail }) => detail);
      expect(
        plan.filter((line) =>
          /AUTOMATIC|SCAN (i|s|instances|locks|lock_waiters|mailbox|timers)\b/.test(line),
        ),
      ).toEqual([]);
      expect(plan.join("\n")).toMatch(/SEARCH (i|instances|locks) USING (COVERING )?INDEX/);
      const timers = plan.filter((line) => line.includes("timers_parked_priority_due_at_idx"));
      for (const line of timers) expect(line).toMatch(/\(parked=\? AND priority=\? AND due_at<\?\)/);
      expect(timers).toHaveLength(sql.includes("walk") ? 5 : 0);
    }
  } finally {
    file.close();
    await store.close();
    await database.drop();
  }
});

test("on sqlite: the feed of changes is merged from the logs' indexes, and nothing is sorted", async () => {
  const database = await freshDatabase("sqlite");
  const file = new Database(database.url.slice("file:".length), { readonly: true });
  try {
    const { sql, values } = changesBetween("sqlite", { tx: 1, n: 0 }, 9, 100);
    const rows = file.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    const plan = rows.map(({ detail }) => detail);
    expect(plan.filter((line) => line.includes("TEMP B-TREE"))).toEqual([]);
    expect(plan.filter((line) => /SEARCH .* USING INDEX .*_change_tx_change_n_idx/.test(line))).toHaveLength(
      3,
    );
  } finally {
    file.close();
    await database.drop();
  }
});
