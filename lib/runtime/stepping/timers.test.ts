import { afterEach, describe, expect, test, vi } from "vitest";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import type { JsonObject } from "@/lib/base/json";

const waiting: JsonObject = {
  lockstep: 1,
  context: { fired: 0 },
  initial: "on",
  states: {
    on: {
      after: { "10m": { target: "off", actions: { assign: { fired: "context.fired + 1" } } } },
      on: { again: { target: "on", reenter: true }, leave: "aside" },
    },
    off: { on: { again: "on" } },
    aside: {},
  },
};
const minutes = (n: number) => n * 60_000;

describe.each(providers)("timers on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    vi.restoreAllMocks();
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const state = (instanceId: string) => at.runtime.getInstance(local, { instanceId });
  const begin = async (...ids: string[]) => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "waiting", waiting);
    for (const id of ids) await at.runtime.startInstance(local, { chartId: "waiting", id });
  };

  test("a timer fires once, though several processes sweep and one of them was restarted", async () => {
    await begin("a", "b", "c");
    expect((await state("a")).timers).toMatchObject([{ kind: "after", state: "on", label: "10m" }]);
    await at.runtime.close();
    const processes = await Promise.all([at.again(), at.again(), at.again()]);
    const [first] = processes;
    at.runtime = first.runtime;
    for (const { runtime } of processes) runtime.startWorkers();
    await advance(at.database.url, minutes(11));
    await vi.waitFor(async () => expect((await state("c")).configuration).toEqual(["off"]), 5_000);
    await new Promise((resolve) => setTimeout(resolve, 600));
    for (const id of ["a", "b", "c"]) {
      expect(await state(id)).toMatchObject({ seq: 2, context: { fired: 1 }, timers: [], lastEvent: "10m" });
    }
  });

  test("I6: leaving a state takes its timer along; entering it again starts the full time anew", async () => {
    await begin("a", "b");
    at.runtime.startWorkers();
    await advance(at.database.url, minutes(6));
    await at.runtime.sendEvent(local, { instanceId: "a", type: "again" });
    await at.runtime.sendEvent(local, { instanceId: "b", type: "leave" });
    await advance(at.database.url, minutes(6));
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect((await state("a")).configuration).toEqual(["on"]);
    expect((await state("b")).configuration).toEqual(["aside"]);
    await advance(at.database.url, minutes(5));
    await vi.waitFor(async () => expect((await state("a")).configuration).toEqual(["off"]), 5_000);
    expect((await state("b")).seq).toBe(2);
  });

  test("a timer due before an event was sent fires before it, worker or not", async () => {
    await begin("a");
    await advance(at.database.url, minutes(11));
    const sent = await at.runtime.sendEvent(local, { instanceId: "a", type: "leave" });
    expect(sent).toMatchObject({ seq: 3, outcome: "ignored", configuration: ["off"] });
    const { items } = await at.runtime.getLog(local, { instanceId: "a" });
    expect(items.map((entry) => [entry.kind, entry.type])).toEqual([
      ["event", "leave"],
      ["timer", "10m"],
      ["start", "start"],
    ]);
    expect(await at.runtime.getState(local, { instanceId: "a" })).toMatchObject({ hashMatches: true });
  });

  const beginFleet = async (count: number, priority: number, name: string) => {
    const ids = Array.from({ length: count }, (_, n) => `${name}${n}`);
    for (const id of ids) await at.runtime.startInstance(local, { chartId: "waiting", id, priority });
    return ids;
  };
  const firedOf = async (ids: readonly string[]) =>
    (await Promise.all(ids.map(state))).filter(({ configuration }) => configuration[0] === "off").length;

  test("behind a flood of due timers, an urgent instance's timer is served in the first batches, and the others by and by", async () => {
    await begin();
    const flood = await beginFleet(700, 0, "low");
    const [urgent = ""] = await beginFleet(1, 4, "high");
    await advance(at.database.url, minutes(11));
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    await at.runtime.workOnce();
    expect((await state(urgent)).configuration).toEqual(["off"]);
    const first = await firedOf(flood);
    expect(first).toBeLessThan(700);
    while (await at.runtime.workOnce());
    expect(await firedOf(flood)).toBe(700);
  });

  test("behind a flood of due timers of urgent instances, one that has waited longer than their lead goes first", async () => {
    await begin();
    const [patient = ""] = await beginFleet(1, 0, "low");
    await advance(at.database.url, minutes(5));
    const flood = await beginFleet(400, 4, "high");
    await advance(at.database.url, minutes(11));
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    await at.runtime.workOnce();
    expect((await state(patient)).configuration).toEqual(["off"]);
    expect(await firedOf(flood)).toBeLessThan(400);
  });

  test("reading arms and fires nothing", async () => {
    await begin("a");
    await advance(at.database.url, minutes(11));
    await at.runtime.getState(local, { instanceId: "a" });
    expect((await state("a")).seq).toBe(1);
  });
});
