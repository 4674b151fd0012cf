/**
 * The fleet at a time is what its instances were in at that time: counted behind the steps, compared with the instances
 * themselves.
 */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { activeStates } from "@/lib/statechart/active-states";
import { compile } from "@/lib/statechart/compile";
import type { Chart } from "@/lib/statechart/document";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";
import { countAll } from "@/lib/testing/count-all";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { Machines } from "../charts/machines";
import { countFleet } from "../workers/count-fleet";
import { purgePortion } from "../workers/purge-old";
import { completeAt } from "./get-fleet";

/** Goes round within a step: `bounce` leaves and enters states more than once. */
const rover: JsonObject = {
  lockstep: 1,
  context: { hops: 0 },
  initial: "idle",
  states: {
    idle: {
      id: "idle",
      on: { go: "work.loading", bounce: "hop", quit: "gone", self: { target: "idle" } },
    },
    hop: { always: [{ guard: "context.hops < 2", target: "hopped" }, { target: "idle" }] },
    hopped: { entry: { assign: { hops: "context.hops + 1" } }, always: "hop" },
    work: {
      initial: "loading",
      states: { loading: { on: { next: "driving" } }, driving: { on: { back: "loading", stop: "#idle" } } },
    },
    gone: { type: "final" },
  },
};

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  let machines: Machines;
  beforeEach(async () => {
    at = await freshRuntime(provider);
    machines = new Machines(at.store);
    await publish(at.runtime, "rover", rover);
  });
  afterEach(() => at.end());

  const count = () => countAll(at.store, machines);
  const send = (instanceId: string, type: string) => at.runtime.sendEvent(local, { instanceId, type });
  const start = (id: string) => at.runtime.startInstance(local, { chartId: "rover", id });
  const fleet = async (time?: number) => {
    const { items } = await at.runtime.getFleet(local, time === undefined ? {} : { at: time });
    return Object.fromEntries(items.map(({ version, state, count: n }) => [`${state}@${version}`, n]));
  };
  /** What the instances themselves say. */
  const present = async () => {
    const machine = compile(rover as unknown as Chart);
    const counts: Record<string, number> = {};
    const { items } = await at.runtime.listInstances(local, { limit: 200 });
    for (const { configuration, version } of items) {
      for (const state of activeStates(machine, configuration)) {
        counts[`${state}@${version}`] = (counts[`${state}@${version}`] ?? 0) + 1;
      }
    }
    return counts;
  };

  test("every kind of entry is counted: start, loops, ends, forks, resets, migrations, deletions", async () => {
    const seen: [number, Record<string, number>][] = [];
    const look = async () => {
      expect(await fleet()).toEqual(await present());
      seen.push([await at.store.now(), await present()]);
      await advance(at.database.url, 61_000);
    };
    for (const id of ["a", "b", "c", "d"]) await start(id);
    await look();
    await send("a", "bounce");
    await send("b", "self");
    await send("c", "go");
    await look();
    await count();
    await look();
    await send("c", "next");
    await at.runtime.forkInstance(local, { instanceId: "c", id: "e", reason: "to try" });
    await send("c", "stop");
    await at.runtime.resetInstance(local, { instanceId: "c", seq: 2, reason: "back" });
    await look();
    await publishNext(at.runtime, "rover", { ...rover, context: { hops: 0, more: 1 } });
    await at.runtime.migrateInstance(local, { instanceId: "e", version: 2, reason: "newer" });
    await at.runtime.terminateInstance(local, { instanceId: "b", reason: "enough" });
    await send("d", "quit");
    await look();
    await at.runtime.deleteInstance(local, { instanceId: "b" });
    await look();
    await start("b");
    await look();
    await count();
    await look();
    for (const [time, then] of seen) expect(await fleet(time)).toEqual(then);
  });

  test("I5: who there was at a time, and in what state, is told page by page, whatever has become of them since", async () => {
    type Shown = Record<string, [seq: number, status: string, configuration: string[]]>;
    const seen: [number, Shown][] = [];
    const then = async (time: number | undefined, more: object = {}): Promise<Shown> => {
      const shown: Shown = {};
      for (let cursor: string | undefined, pages = 0; pages < 50; pages += 1) {
        const page = await at.runtime.listFleet(local, { at: time, limit: 2, cursor, ...more });
        expect([page.unknown, page.items.length <= 2]).toEqual([0, true]);
        for (const { id, seq, status, configuration } of page.items) shown[id] = [seq, status, configuration];
        if (page.nextCursor === null) return shown;
        cursor = page.nextCursor;
      }
      throw new Error("no last page");
    };
    const look = async () => {
      const { items } = await at.runtime.listInstances(local, { limit: 200 });
      const now = Object.fromEntries(
        items.map(({ id, seq, status, configuration }) => [id, [seq, status, configuration]]),
      ) as Shown;
      expect(await then(undefined)).toEqual(now);
      seen.push([await at.store.now(), now]);
      await advance(at.database.url, 61_000);
    };
    for (const id of ["a", "b", "c", "d", "e"]) await start(id);
    await look();
    for (let n = 0; n < 130; n += 1) await send("a", "self");
    await send("c", "go");
    await look();
    await publishNext(at.runtime, "rover", { ...rover, context: { hops: 0, more: 1 } });
    await at.runtime.migrateInstance(local, { instanceId: "e", version: 2, reason: "newer" });
    await at.runtime.terminateInstance(local, { instanceId: "b", reason: "enough" });
    await at.runtime.forkInstance(local, { instanceId: "c", id: "f", reason: "to try" });
    await look();
    await at.runtime.deleteInstance(local, { instanceId: "b" });
    await send("d", "quit");
    for (let n = 0; n < 130; n += 1) await send("a", "bounce");
    await look();
    await start("b");
    await send("c", "next");
    await look();
    for (const [time, shown] of seen) expect(await then(time)).toEqual(shown);
    const [, [second = 0] = []] = seen;
    expect(Object.keys(await then(second, { state: "work" }))).toEqual(["c"]);
    expect(Object.keys(await then(second, { state: "idle", chartId: "rover" }))).toEqual([
      "a",
      "b",
      "d",
      "e",
    ]);
    expect(await then(second, { status: "terminated" })).toEqual({});
    expect(await then(second, { chartId: "other" })).toEqual({});
    expect(await then((seen[0]?.[0] ?? 0) - 3_600_000)).toEqual({});
  });

  test("one that retention has removed since is told as unknown, not as never there", async () => {
    const hour = 3_600_000;
    await start("a");
    await at.runtime.terminateInstance(local, { instanceId: "a", reason: "over" });
    await advance(at.database.url, hour);
    const time = await at.store.now();
    const told = async () => {
      const { items, unknown } = await at.runtime.listFleet(local, { at: time });
      return [items.length, unknown];
    };
    expect(await told()).toEqual([1, 0]);
    await advance(at.database.url, hour);
    await at.runtime.setRetention(local, {
      rule: "terminated",
      keepMs: hour,
      then: "purge",
      reason: "no room",
    });
    await count();
    const closing = new AbortController().signal;
    const context = { store: at.store, machines, closing } as Parameters<typeof purgePortion>[0];
    while (await purgePortion(context, { workerId: "w", archiveFolder: "" }, "terminated"));
    expect(await told()).toEqual([0, 1]);
  });

  test("a minute is asked for in its midst, before and after it is counted", async () => {
    await start("a");
    const before = await at.store.now();
    await advance(at.database.url, 1_000);
    await send("a", "go");
    for (const look of [() => Promise.resolve(), count, count]) {
      await look();
      expect(await fleet(before)).toEqual({ "idle@1": 1 });
      expect(await fleet()).toEqual({ "work@1": 1, "work.loading@1": 1 });
    }
  });

  test("several who count at once count each entry once", async () => {
    const other = (await at.again()).store;
    for (let n = 0; n < 12; n += 1) {
      await start(`i${n}`);
      await send(`i${n}`, "go");
      await Promise.all([countFleet(at.store, machines), countFleet(other, new Machines(other))]);
    }
    await count();
    expect(await fleet()).toEqual({ "work@1": 12, "work.loading@1": 12 });
    const [total] = await at.store.fleetTotals(Number.MAX_SAFE_INTEGER, "rover");
    expect(total?.count).toBe(12);
  });

  test("an entry that is counted late changes its minute and all later totals", async () => {
    const at1 = { chartId: "rover", version: 1, state: "idle" };
    await at.store.transaction(async (tx) => {
      await tx.holdFleet();
      await tx.addFleet([
        { ...at1, minute: 3, entered: 5, left: 1 },
        { ...at1, minute: 1, entered: 2, left: 0 },
      ]);
      await tx.addFleet([{ ...at1, minute: 2, entered: 0, left: 1 }]);
      await tx.addFleet([{ ...at1, minute: 1, entered: 10, left: 0 }]);
    });
    const totals = await Promise.all(
      [0, 1, 2, 3, 9].map(async (minute) => (await at.store.fleetTotals(minute, undefined))[0]?.count),
    );
    expect(totals).toEqual([undefined, 12, 11, 15, 15]);
  });
});

test("what is complete ends where the oldest transaction that may still write began, a foreign long reading aside", async () => {
  const now = 1_000_000;
  expect(completeAt(now, { writing: null, any: null })).toBe(now - 100);
  expect(completeAt(now, { writing: now - 700, any: now - 900 })).toBe(now - 1_000);
  expect(completeAt(now, { writing: null, any: now - 3_600_000 })).toBe(now - 30_100);
  expect(completeAt(now, { writing: now - 3_600_000, any: now - 3_600_000 })).toBe(now - 3_600_100);
  expect(completeAt(now, null)).toBe(now - 30_100);
  const at = await freshRuntime("postgresql");
  const client = new pg.Client({ connectionString: at.database.url });
  await client.connect();
  try {
    const lag = async () => {
      const fleet = await at.runtime.getFleet(local, {});
      return fleet.now - fleet.completeUpTo;
    };
    expect(await lag()).toBeLessThan(3_000);
    await client.query(
      "BEGIN; INSERT INTO charts SELECT * FROM charts WHERE false; SELECT pg_current_xact_id()",
    );
    const [began] = (await client.query<{ at: string }>("SELECT extract(epoch FROM now()) * 1000 AS at"))
      .rows;
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    const fleet = await at.runtime.getFleet(local, {});
    expect(fleet.completeUpTo).toBe(Math.floor(Number(began?.at)) - 100);
    await client.query("COMMIT");
    expect(await lag()).toBeLessThan(3_000);
    await advance(at.database.url, 3_600_000);
    expect(await lag()).toBeLessThan(3_000);
    // Who may not see what others do knows the bound alone.
    const role = `blind_${process.pid}`;
    const url = new URL(at.database.url);
    await client.query(
      `CREATE ROLE ${role} LOGIN PASSWORD 'blind'; GRANT ALL ON SCHEMA public TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
    );
    url.username = role;
    url.password = "blind";
    const blind = await openSqlStore({ url: url.href, connections: 1, hints: false });
    expect(await blind.openSince()).toBeNull();
    await blind.close();
    await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  } finally {
    await client.end();
    await at.end();
  }
});
