import { afterEach, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { killChildren, startChild } from "./child";
import { postMany } from "./post-many";

/** Counts; a timer of it may kill too. */
const chart: JsonObject = {
  lockstep: 1,
  context: { count: 0 },
  initial: "on",
  states: {
    on: { on: { add: { actions: { assign: { count: "context.count + 1" } } }, poison: {}, arm: "armed" } },
    armed: { after: { "10ms": "off" }, on: { add: { actions: { assign: { count: "context.count + 1" } } } } },
    off: {},
  },
};
const livesMax = 8;

let at: TestRuntime;
afterEach(async () => {
  await killChildren();
  await at.end();
});

/** Starts a worker again and again, as a supervisor does, until one lives; how many died. */
async function supervise(killAt: string): Promise<number> {
  for (let deaths = 0; deaths < livesMax; deaths += 1) {
    const child = await startChild("suspects", { url: at.database.url, killAt });
    let how: number | string | null = null;
    void child.ended.then((end) => (how = end));
    await vi.waitUntil(async () => how !== null || (await isIdle()), { timeout: 30_000, interval: 20 });
    if (how === null) {
      child.kill("SIGTERM");
      await child.ended;
      return deaths;
    }
    expect(how).toBe("SIGKILL");
  }
  throw new Error(`${livesMax} processes died`);
}

const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
/** No message and no timer is left that may be fired. */
async function isIdle(): Promise<boolean> {
  for (const id of ids) if ((await at.store.countMailbox(id)) > 0) return false;
  const [row] = (await at.runtime.listInstances(local, { state: "armed" })).items;
  return row === undefined || row.status === "suspended";
}

const begin = async (provider: (typeof providers)[number]) => {
  at = await freshRuntime(provider);
  await publish(at.runtime, "sus", chart);
  for (const id of ids) await at.runtime.startInstance(local, { chartId: "sus", id });
};
/** Into the mailbox alone: this process steps nothing. */
const post = async (instanceIds: string[], type: string) => {
  const [one] = await postMany(at.store, instanceIds, 1, type, {});
  return one?.messageId ?? "";
};

test.each(providers)(
  "I9: on %s, a message that kills its process is a dead letter after three that noted it; all others go on, its own instance too",
  async (provider) => {
    await begin(provider);
    await post(ids, "add");
    const poison = await post(["s7"], "poison");
    await post(ids, "add");
    // The first one dies unnoted: until a worker is lost nobody notes anything.
    expect(await supervise("poison")).toBe(4);
    const { items } = await at.runtime.listDeadLetters(local, {});
    expect(items).toMatchObject([
      { instanceId: "s7", messageId: poison, type: "poison", reason: "killed-process" },
    ]);
    for (const instanceId of ids) {
      const state = await at.runtime.getState(local, { instanceId });
      expect(state).toMatchObject({ context: { count: 2 }, seq: 3, hashMatches: true });
    }
    expect(await at.runtime.getMessage(local, { instanceId: "s7", messageId: poison })).toMatchObject({
      state: "refused",
      reason: "killed-process",
    });
    const lost = (await at.runtime.listWorkers(local, {})).items;
    expect(lost.map(({ status }) => status)).toEqual(["silent", "silent", "silent", "silent"]);
  },
  120_000,
);

test.each(providers)(
  "I9: on %s, an instance whose timer kills its process is suspended, with the reason",
  async (provider) => {
    await begin(provider);
    await at.runtime.sendEvent(local, { instanceId: "s3", type: "arm" });
    expect(await supervise("10ms")).toBe(4);
    expect(await at.runtime.getInstance(local, { instanceId: "s3" })).toMatchObject({ status: "suspended" });
    const [last] = (await at.runtime.getLog(local, { instanceId: "s3" })).items;
    const entry = await at.runtime.getLogEntry(local, { instanceId: "s3", seq: last?.seq ?? 0 });
    expect(JSON.stringify(entry)).toContain("3 workers ended while they fired its timer");
  },
  120_000,
);

test.each(providers)("on %s, a process beside which no worker was lost notes nothing", async (provider) => {
  await begin(provider);
  const child = await startChild("suspects", { url: at.database.url });
  await post(ids, "add");
  await vi.waitFor(async () => expect(await at.store.countMailbox("s19")).toBe(0), 10_000);
  expect(await at.store.listWorkers(9)).toMatchObject([{ stepping: null, lostAt: null }]);
  child.kill("SIGTERM");
  expect(await child.ended).toBe(0);
});
