/**
 * Schedules on both databases: their verbs, and that each tick fires once.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { anonymousActor } from "@/lib/access/actor";
import { must } from "@/lib/base/assert";
import { advance, providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { fireSchedules } from "../workers/fire-schedules";
import type { RuleArgs } from "./schedule-args";

const start = {
  kind: "start",
  chartId: "counter",
  input: { by: "cron" },
  labels: { from: "night" },
} as const;
const hourly = { id: "hourly", cron: "0 * * * *", action: start };
const hourMs = 3_600_000;

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
  const ticksOf = async (scheduleId: string) =>
    (await at.runtime.listTicks(local, { scheduleId, limit: 200 })).items;
  const nextAt = async (scheduleId: string) =>
    must((await at.runtime.getSchedule(local, { scheduleId })).nextAt, "a next tick");
  /** Sets the database's clock to `ms` after the schedule's next tick. */
  async function goTo(scheduleId: string, ms: number): Promise<void> {
    const next = await nextAt(scheduleId);
    await advance(at.database.url, next + ms - (await at.store.now()));
  }
  const instances = async () => (await at.runtime.listInstances(local, { limit: 200 })).items;
  const settled = (holds: () => Promise<boolean>) =>
    vi.waitFor(async () => expect(await holds()).toBe(true), { timeout: 10_000, interval: 20 });

  test("a tick starts an instance of the newest version, once; its log names schedule and tick", async () => {
    await at.runtime.createSchedule(local, hourly);
    at.runtime.startWorkers();
    const due = await nextAt("hourly");
    await goTo("hourly", 0);
    await settled(async () => (await ticksOf("hourly")).length > 0);
    const [tick, ...others] = await ticksOf("hourly");
    expect(others).toEqual([]);
    const instanceId = must(tick?.instanceId, "an instance");
    expect(tick).toMatchObject({
      tick: new Date(due).toISOString(),
      dueAt: due,
      outcome: "started",
      missed: 0,
      actor: "schedule:hourly",
      error: null,
    });
    const instance = await at.runtime.getInstance(local, { instanceId });
    expect(instance).toMatchObject({ chartId: "counter", labels: { from: "night" }, status: "running" });
    const { items } = await at.runtime.getLog(local, { instanceId });
    expect(items[0]).toMatchObject({
      kind: "start",
      actor: "schedule:hourly",
      dedupeKey: `hourly:${new Date(due).toISOString()}`,
    });
    expect(await nextAt("hourly")).toBe(due + hourMs);
  });

  test("a tick sends an event to an instance by its id, or by a business key that one alone has", async () => {
    await at.runtime.startInstance(local, { chartId: "counter", id: "c", businessKey: "K" });
    const add = { kind: "send", type: "add" } as const;
    const cron = "0 * * * *";
    await at.runtime.createSchedule(local, {
      id: "by-id",
      cron,
      action: { ...add, to: { instanceId: "c" } },
    });
    await at.runtime.createSchedule(local, {
      id: "by-key",
      cron,
      action: { ...add, to: { businessKey: "K" } },
    });
    at.runtime.startWorkers();
    await goTo("by-id", 0);
    const count = async () =>
      (await at.runtime.getInstance(local, { instanceId: "c" })).context as { count: number };
    await settled(async () => (await count()).count === 2);
    expect(await ticksOf("by-key")).toMatchObject([{ outcome: "sent", instanceId: "c" }]);

    await at.runtime.startInstance(local, { chartId: "counter", id: "d", businessKey: "K" });
    await at.runtime.terminateInstance(local, { instanceId: "c", reason: "over" });
    await at.runtime.startInstance(local, { chartId: "counter", id: "e", businessKey: "K" });
    await goTo("by-id", 0);
    await settled(
      async () => (await ticksOf("by-key")).length === 2 && (await ticksOf("by-id")).length === 2,
    );
    expect(await ticksOf("by-id")).toMatchObject([
      { outcome: "refused", error: { code: "instance-ended" } },
      {},
    ]);
    expect(await ticksOf("by-key")).toMatchObject([
      { outcome: "refused", error: { code: "ambiguous-key" } },
      {},
    ]);
  });

  test("I9: five workers look at the same ticks; each fires once", async () => {
    for (let n = 0; n < 6; n += 1) {
      await at.runtime.createSchedule(local, { ...hourly, id: `s${n}`, misfire: "all", misfireMax: 3 });
    }
    const others = await Promise.all([at.again(), at.again(), at.again(), at.again()]);
    await goTo("s0", 2 * hourMs);
    for (const { runtime } of [at, ...others]) runtime.startWorkers();
    await settled(async () => (await at.store.findDueSchedules(await at.store.now(), 9)).length === 0);
    for (let n = 0; n < 6; n += 1) {
      const ticks = await ticksOf(`s${n}`);
      expect(ticks.map(({ outcome }) => outcome)).toEqual(["started", "started", "started"]);
      expect(new Set(ticks.map(({ tick }) => tick)).size).toBe(3);
    }
    expect(await instances()).toHaveLength(18);
  });

  test("missed ticks: skip records them, once runs once for all, all makes up the newest", async () => {
    for (const misfire of ["skip", "once", "all"] as const) {
      await at.runtime.createSchedule(local, { ...hourly, id: misfire, misfire, misfireMax: 2 });
    }
    await goTo("once", 3 * hourMs + 60_000);
    at.runtime.startWorkers();
    await settled(async () => (await at.store.findDueSchedules(await at.store.now(), 9)).length === 0);
    const told = async (id: string) =>
      (await ticksOf(id)).map(({ outcome, missed }) => `${outcome} ${missed}`);
    expect(await told("skip")).toEqual(["skipped 3"]);
    expect(await told("once")).toEqual(["started 3"]);
    expect(await told("all")).toEqual(["started 0", "started 0", "skipped 1"]);
  });

  test("no tick while it is paused, none is made up; resumed it goes on from its next time", async () => {
    await at.runtime.createSchedule(local, { ...hourly, misfire: "all" });
    const due = await nextAt("hourly");
    expect(await at.runtime.pauseSchedule(local, { scheduleId: "hourly" })).toMatchObject({
      paused: true,
      nextAt: null,
      revision: 2,
    });
    expect((await at.runtime.pauseSchedule(local, { scheduleId: "hourly" })).revision).toBe(2);
    await advance(at.database.url, due + 2 * hourMs + 60_000 - (await at.store.now()));
    expect(await fireSchedulesOnce()).toBe(false);
    const detail = await at.runtime.getSchedule(local, { scheduleId: "hourly" });
    expect(detail.nextTimes).toEqual([3, 4, 5, 6, 7].map((hours) => due + hours * hourMs));
    const resumed = await at.runtime.resumeSchedule(local, { scheduleId: "hourly" });
    expect(resumed).toMatchObject({ paused: false, nextAt: due + 3 * hourMs, lastTicks: [] });
  });
  const fireSchedulesOnce = async () => {
    const context = { store: at.store, wake() {}, settle() {} } as unknown as Parameters<
      typeof fireSchedules
    >[0];
    return fireSchedules(context, (error) => at.reported.push(error));
  };

  test("what is not there is refused when a schedule names it, and when one is changed to it", async () => {
    const refusal = async (action: RuleArgs["action"]) => {
      const made = at.runtime.createSchedule(local, { ...hourly, id: "none", action });
      const { code } = await made.then(
        () => ({ code: "none" }),
        (error: unknown) => error as { code: string },
      );
      return code;
    };
    expect(await refusal({ kind: "start", chartId: "none" })).toBe("not-found");
    expect(await refusal({ ...start, version: 2 })).toBe("version-not-found");
    expect(await refusal({ kind: "send", to: { instanceId: "none" }, type: "add" })).toBe("not-found");
    expect((await at.runtime.listSchedules(local, {})).items).toEqual([]);
    await at.runtime.createSchedule(local, { ...hourly, action: { ...start, version: 1 } });
    const { cron } = hourly;
    await expect(
      at.runtime.updateSchedule(local, {
        scheduleId: "hourly",
        baseRevision: 1,
        cron,
        action: { ...start, version: 9 },
      }),
    ).rejects.toMatchObject({ code: "version-not-found", details: { chartId: "counter", version: 9 } });
    // Who has the key at the tick is meant.
    const send = { kind: "send", to: { businessKey: "order-7" }, type: "add" } as const;
    await at.runtime.createSchedule(local, { ...hourly, id: "keyed", action: send });
  });

  test("a chart without a version refuses the tick and says so; the schedule goes on, and fires when there is one", async () => {
    const action = { kind: "start", chartId: "later" } as const;
    const { revision } = await at.runtime.createChart(local, { id: "later", text: JSON.stringify(counter) });
    await at.runtime.createSchedule(local, { ...hourly, action });
    at.runtime.startWorkers();
    await goTo("hourly", 0);
    await settled(async () => (await ticksOf("hourly")).length === 1);
    expect(await ticksOf("hourly")).toMatchObject([
      { outcome: "refused", error: { code: "version-not-found" }, instanceId: null },
    ]);
    await at.runtime.publishVersion(local, { chartId: "later", revision });
    await goTo("hourly", 0);
    await settled(async () => (await ticksOf("hourly")).length === 2);
    expect(await ticksOf("hourly")).toMatchObject([{ outcome: "started" }, { outcome: "refused" }]);
  });

  test("I4: run by hand it is done at once and once for each key, also while it is paused", async () => {
    await at.runtime.createSchedule(local, { ...hourly, paused: true });
    const run = { scheduleId: "hourly", idempotencyKey: "k" };
    const first = await at.runtime.runSchedule(local, run);
    const again = await at.runtime.runSchedule(local, run);
    expect(again).toEqual({ ...first, replayed: true });
    expect(first).toMatchObject({
      replayed: false,
      tick: { tick: "hand:k", outcome: "started", actor: "local" },
    });
    await at.runtime.runSchedule(local, { scheduleId: "hourly" });
    expect(await instances()).toHaveLength(2);
    expect((await at.runtime.getSchedule(local, { scheduleId: "hourly" })).lastTicks).toHaveLength(2);
    await at.runtime.createChart(local, { id: "draft", text: "{}" });
    await at.runtime.createSchedule(local, { ...hourly, id: "none", action: { ...start, chartId: "draft" } });
    await expect(at.runtime.runSchedule(local, { scheduleId: "none" })).rejects.toMatchObject({
      code: "version-not-found",
    });
    expect(await ticksOf("none")).toEqual([]);
  });

  test("a change must be made on the newest revision; a due tick stays due unless the times change", async () => {
    const { id: _, ...rule } = hourly;
    const created = await at.runtime.createSchedule(local, hourly);
    await goTo("hourly", 1_000);
    const change = { ...rule, scheduleId: "hourly", baseRevision: 1 };
    const second = await at.runtime.updateSchedule(local, { ...change, misfire: "skip" });
    expect(second).toMatchObject({ revision: 2, misfire: "skip", nextAt: created.nextAt });
    await expect(at.runtime.updateSchedule(local, change)).rejects.toMatchObject({
      code: "schedule-conflict",
      details: { baseRevision: 1, revision: 2 },
    });
    const third = await at.runtime.updateSchedule(local, { ...change, baseRevision: 2, cron: "30 * * * *" });
    expect(third.nextAt).toBe((created.nextAt ?? 0) + hourMs / 2);
    await expect(at.runtime.createSchedule(local, hourly)).rejects.toMatchObject({ code: "schedule-exists" });
    await at.runtime.deleteSchedule(local, { scheduleId: "hourly" });
    await expect(at.runtime.getSchedule(local, { scheduleId: "hourly" })).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("what can't be read, never comes, or is not the writer's to do is refused at its field", async () => {
    const create = (over: object) => at.runtime.createSchedule(local, { ...hourly, ...over });
    const field = (name: string) => ({ code: "bad-request", details: { field: name } });
    await expect(create({ cron: "61 * * * *" })).rejects.toMatchObject(field("cron"));
    await expect(create({ cron: "0 0 31 2 *" })).rejects.toMatchObject(field("cron"));
    await expect(create({ timeZone: "Middle/Earth" })).rejects.toMatchObject(field("timeZone"));
    const inner = { kind: "send", to: { instanceId: "c" }, type: "done.invoke.x" };
    await expect(create({ action: inner })).rejects.toMatchObject(field("type"));
    const writer = { ...anonymousActor, permissions: new Set(["schedules:write"] as const) };
    await expect(at.runtime.createSchedule(writer, hourly)).rejects.toMatchObject({ code: "forbidden" });
    await expect(at.runtime.createSchedule(anonymousActor, hourly)).rejects.toMatchObject({
      code: "forbidden",
    });
    expect((await at.runtime.listSchedules(local, {})).items).toEqual([]);
  });

  test("the list is paged and filtered, each schedule with its newest ticks", async () => {
    for (const id of ["a", "b", "c"])
      await at.runtime.createSchedule(local, { ...hourly, id, paused: id === "c" });
    for (let n = 0; n < 7; n += 1) await at.runtime.runSchedule(local, { scheduleId: "b" });
    const first = await at.runtime.listSchedules(local, { limit: 2 });
    expect(first.items.map(({ id, lastTicks }) => [id, lastTicks.map(({ n }) => n)])).toEqual([
      ["a", []],
      ["b", [6, 5, 4, 3, 2]],
    ]);
    const second = await at.runtime.listSchedules(local, {
      limit: 2,
      cursor: must(first.nextCursor, "more"),
    });
    expect(second.items.map(({ id }) => id)).toEqual(["c"]);
    expect((await at.runtime.listSchedules(local, { status: "paused" })).items.map(({ id }) => id)).toEqual([
      "c",
    ]);
    const page = await at.runtime.listTicks(local, { scheduleId: "b", limit: 3 });
    expect(page.items.map(({ n }) => n)).toEqual([6, 5, 4]);
  });
});
