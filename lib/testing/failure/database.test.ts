/** A database that goes away, is full, takes no writes, or whose clock is set; processes whose clocks are wrong. */
import Database from "better-sqlite3";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { must } from "@/lib/base/assert";
import { LockstepError } from "@/lib/base/errors";
import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { advance, providers, tamper } from "@/lib/testing/database";
import { startPostgres, type PostgresServer } from "@/lib/testing/postgres-server";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { makePostgres } from "@/lib/testing/throwaway-database";
import { adder } from "./charts";
import { killChildren, startChild } from "./child";

const name = "database";
const ids = ["a", "b", "c", "d"];

describe("with a database of its own", () => {
  let at: TestRuntime;
  afterEach(async () => {
    await killChildren();
    await at.end();
  });
  const begin = async (provider: (typeof providers)[number]) => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "adder", adder);
    for (const id of ids) await at.runtime.startInstance(local, { chartId: "adder", id });
  };
  const state = (instanceId: string) => at.runtime.getState(local, { instanceId });
  const add = (instanceId: string, more: object = {}) =>
    at.runtime.sendEvent(local, { instanceId, type: "add", data: { n: 1 }, ...more });

  test("I9: a full SQLite file is a clear error and no half step; with room again everything works", async () => {
    await begin("sqlite");
    await tamper(at.database.url, "VACUUM");
    const pages = pageCount(at) + 4;
    const child = await startChild(name, { url: at.database.url, pagesMax: pages });
    const big = "x".repeat(60_000);
    const answers = [];
    for (let n = 0; n < 6; n += 1) {
      const data = { n: 1, big };
      answers.push(
        await child.call("sendEvent", { instanceId: "a", type: "add", data, idempotencyKey: `k${n}` }),
      );
    }
    const applied = answers.filter((answer) => answer?.result).length;
    const refused = answers.filter((answer) => answer?.code !== undefined);
    expect(refused.length).toBeGreaterThan(0);
    expect(await child.do("getHealth", {})).toMatchObject({
      status: "degraded",
      trouble: expect.stringContaining("has no room left") as string,
    });
    for (const answer of refused) {
      const message = expect.stringContaining("make room") as string;
      expect(answer).toMatchObject({ code: "database-full", retry: "later", message });
    }
    // It reads on, and is ended and started with more room.
    expect(await child.do("getState", { instanceId: "a" })).toMatchObject({ context: { sum: applied } });
    child.kill("SIGTERM");
    await child.ended;
    const again = await startChild(name, { url: at.database.url });
    for (let n = 0; n < 6; n += 1) {
      const data = { n: 1, big };
      await again.do("sendEvent", { instanceId: "a", type: "add", data, idempotencyKey: `k${n}` });
    }
    expect(await state("a")).toMatchObject({ context: { sum: 6 }, seq: 7, hashMatches: true });
  }, 30_000);

  test.each([
    ["at a statement", ""],
    ["at COMMIT", "DEFERRABLE INITIALLY DEFERRED"],
  ])(
    "I9: PostgreSQL's disk full (53100) %s is a clear error and no half step; with room again everything works",
    async (_where, deferred) => {
      await begin("postgresql");
      at.runtime.startWorkers();
      await tamper(
        at.database.url,
        `CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$;
         CREATE ${deferred === "" ? "" : "CONSTRAINT"} TRIGGER full_disk AFTER INSERT ON event_log ${deferred} FOR EACH ROW EXECUTE FUNCTION disk_full()`,
      );
      const refused = await Promise.allSettled([
        add("a", { idempotencyKey: "k" }),
        ...ids.map((id) => add(id)),
        at.runtime.startInstance(local, { chartId: "adder", id: "new" }),
      ]);
      for (const one of refused) {
        expect(one).toMatchObject({ status: "rejected", reason: { code: "database-full", retry: "later" } });
      }
      const trouble = expect.stringContaining("has no room left") as string;
      expect(await at.runtime.getHealth(local, {})).toMatchObject({ status: "degraded", trouble });
      expect(await at.runtime.getReadiness(local, {})).toMatchObject({ ready: false, reason: trouble });
      for (const id of ids) {
        expect(await state(id)).toMatchObject({ seq: 1, hashMatches: true });
        expect(await at.store.countMailbox(id)).toBe(0);
      }
      expect(await at.store.findInstance("new")).toBeNull();
      await tamper(at.database.url, "DROP TRIGGER full_disk ON event_log");
      for (const id of ids) expect(await add(id)).toMatchObject({ state: "applied", seq: 2 });
      expect(await add("a", { idempotencyKey: "k" })).toMatchObject({ seq: 3, replayed: false });
      expect(await at.runtime.startInstance(local, { chartId: "adder", id: "new" })).toMatchObject({
        seq: 1,
      });
    },
  );

  test("I9: a PostgreSQL that takes no writes says so, and takes them again", async () => {
    await begin("postgresql");
    at.runtime.startWorkers();
    const database = new URL(at.database.url).pathname.slice(1);
    const server = at.database.url.replace(/\/[^/]*$/, "/postgres");
    // Apart: whoever connects after the cut must see the setting.
    const set = async (setting: string) => {
      await tamper(server, `ALTER DATABASE ${database} ${setting}`);
      await tamper(
        server,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
      );
    };
    await set("SET default_transaction_read_only = on");
    await vi.waitFor(
      () =>
        expect(add("a")).rejects.toMatchObject({
          code: "database-unavailable",
          message: expect.stringContaining("takes no writes") as string,
          retry: "later",
        }),
      5_000,
    );
    expect(await state("a")).toMatchObject({ seq: 1 });
    const trouble = expect.stringContaining("takes no writes") as string;
    expect(await at.runtime.getHealth(local, {})).toMatchObject({ status: "degraded", trouble });
    await set("RESET default_transaction_read_only");
    await vi.waitFor(
      async () => expect(await add("a", { idempotencyKey: "k" })).toMatchObject({ seq: 2 }),
      5_000,
    );
    expect(await at.runtime.getHealth(local, {})).toMatchObject({ status: "ok", trouble: null });
  });

  test("I10: processes whose clocks are an hour wrong disturb nobody: PostgreSQL's time decides", async () => {
    await begin("postgresql");
    const [early, late] = [
      await startChild(name, { url: at.database.url, clockMs: -3_600_000 }),
      await startChild(name, { url: at.database.url, clockMs: 3_600_000 }),
    ];
    const lock = await early.do("acquireLock", { key: "k", session: "e", holder: "early", ttlMs: 30_000 });
    expect(lock).toMatchObject({ result: "acquired" });
    expect(await late.do("acquireLock", { key: "k", session: "l", holder: "late" })).toMatchObject({
      result: "busy",
    });
    await late.do("sendEvent", { instanceId: "a", type: "wait" });
    const before = await at.store.now();
    for (let n = 0; n < 4; n += 1) {
      for (const child of [early, late]) {
        await child.do("sendEvent", { instanceId: "b", type: "add", data: { n: 1 } });
      }
    }
    // The timer of 300 ms fires once, in its time, whoever fires it.
    await vi.waitFor(
      async () => expect(await state("a")).toMatchObject({ seq: 3, configuration: ["on"] }),
      5_000,
    );
    const now = await at.store.now();
    const entries = (await at.runtime.getLog(local, { instanceId: "b" })).items.reverse();
    expect(entries).toHaveLength(9);
    expect(entries.map((entry) => entry.at)).toEqual(entries.map((entry) => entry.at).sort((x, y) => x - y));
    for (const entry of entries.slice(1)) expect(entry.at >= before - 1_000 && entry.at <= now).toBe(true);
    const [row] = await at.store.findLocks(["k"]);
    expect(must(row, "the lock").session).toBe("e");
    // Nobody takes the other for lost.
    expect((await at.store.listWorkers(9)).map(({ lostAt }) => lostAt)).toEqual([null, null]);
  }, 30_000);

  test.each(providers)(
    "I10: on %s, a database clock that is set back an hour turns no entry's time back, ends no lease early, fires no timer twice",
    async (provider) => {
      await begin(provider);
      at.runtime.startWorkers();
      const lock = await at.runtime.acquireLock(local, { key: "k", session: "s", holder: "h", ttlMs: 5_000 });
      await add("a");
      await at.runtime.sendEvent(local, { instanceId: "b", type: "wait" });
      await vi.waitFor(async () => expect(await state("b")).toMatchObject({ seq: 3 }), 5_000);
      await advance(at.database.url, -3_600_000);
      await add("a");
      await at.runtime.sendEvent(local, { instanceId: "b", type: "wait" });
      const other = { key: "k", session: "t", holder: "other" };
      expect(await at.runtime.acquireLock(local, other)).toMatchObject({ result: "busy" });
      if (lock.result !== "acquired") throw new Error("a new key is free");
      expect(await at.runtime.renewLock(local, { key: "k", session: "s", fence: lock.fence })).toMatchObject({
        fence: lock.fence,
      });
      await advance(at.database.url, 3_600_000);
      await vi.waitFor(
        async () => expect(await state("b")).toMatchObject({ seq: 5, configuration: ["on"] }),
        5_000,
      );
      await add("a");
      for (const instanceId of ["a", "b"]) {
        const entries = (await at.runtime.getLog(local, { instanceId })).items.reverse();
        const times = entries.map((entry) => entry.at);
        expect(times).toEqual([...times].sort((x, y) => x - y));
        expect(await state(instanceId)).toMatchObject({ hashMatches: true });
      }
      // And forward: the lease is over, at once.
      await advance(at.database.url, 3_600_000);
      expect(await at.runtime.acquireLock(local, other)).toMatchObject({
        result: "acquired",
        fence: lock.fence + 1,
      });
      expect(at.reported).toEqual([]);
    },
    30_000,
  );
});

function pageCount(at: TestRuntime): number {
  const database = new Database(at.database.url.slice("file:".length), { readonly: true });
  try {
    return database.pragma("page_count", { simple: true }) as number;
  } finally {
    database.close();
  }
}

describe("a PostgreSQL that goes away", () => {
  let server: PostgresServer | null = null;
  afterAll(() => server?.stop());

  test("I4, I9: connections cut and the server crashed in the middle of sends: each event once, whatever its answer was", async () => {
    server = await startPostgres();
    const database = await makePostgres(server.url);
    const store = await openSqlStore({ url: database.url, connections: 6 });
    const runtime = createRuntime({ store, report: () => undefined });
    try {
      await publish(runtime, "adder", adder);
      for (const id of ids) await runtime.startInstance(local, { chartId: "adder", id });
      runtime.startWorkers();
      const sent: { key: string; instanceId: string; seq: number | null }[] = [];
      const codes = new Set<string>();
      let over = false;
      const send = async (one: (typeof sent)[number]) => {
        const { instanceId, key: idempotencyKey } = one;
        const args = { instanceId, type: "add", data: { n: 1 }, idempotencyKey, waitMs: 2_000 };
        const told = await runtime.sendEvent(local, args).catch((error: unknown) => error);
        if (told instanceof LockstepError) {
          codes.add(told.code);
          expect(told.retry).toBe("later");
        } else if (told instanceof Error) throw told;
        else one.seq = (told as { seq: number | null }).seq;
      };
      const sender = async (n: number) => {
        for (let each = 0; !over; each += 1) {
          const one = { key: `${n}-${each}`, instanceId: must(ids[n % ids.length], "an id"), seq: null };
          sent.push(one);
          await send(one);
          if (one.seq === null) await new Promise((done) => setTimeout(done, 20));
        }
      };
      const senders = Promise.all(Array.from({ length: 8 }, (_, n) => sender(n)));
      const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
      for (let n = 0; n < 6; n += 1) {
        await sleep(150);
        await tamper(
          server.url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lockstep'`,
        );
      }
      for (let n = 0; n < 2; n += 1) {
        await sleep(200);
        await server.crash();
      }
      await sleep(300);
      over = true;
      await senders;
      const unanswered = sent.filter(({ seq }) => seq === null);
      expect(unanswered.length).toBeGreaterThan(0);
      expect(
        [...codes].every((code) =>
          ["database-unavailable", "outcome-unknown", "database-busy"].includes(code),
        ),
      ).toBe(true);
      for (const one of unanswered) for (let n = 0; one.seq === null && n < 50; n += 1) await send(one);
      for (const instanceId of ids) {
        const log = (await store.listLog(instanceId, null, 1_000_000)).reverse();
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
        const mine = sent.filter((one) => one.instanceId === instanceId);
        for (const { key, seq } of mine) expect(log[(seq ?? 0) - 1]?.dedupeKey).toBe(key);
        expect(log).toHaveLength(mine.length + 1);
        expect(await runtime.getState(local, { instanceId })).toMatchObject({
          context: { sum: mine.length },
          hashMatches: true,
        });
      }
    } finally {
      await runtime.close();
    }
  }, 60_000);
});
