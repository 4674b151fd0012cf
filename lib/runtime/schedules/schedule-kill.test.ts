/**
 * Schedules and a batch under processes that are killed: each tick and each item once.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { bundleProgram, nodeFlags } from "@/lib/testing/program";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

const rounds = 2;
const scheduleIds = ["a", "b", "c"];
const itemsTotal = 120;
/** Over when it begins: a tick costs no more than its start. */
const tick: JsonObject = { lockstep: 1, initial: "done", states: { done: { type: "final" } } };
const idle: JsonObject = { lockstep: 1, initial: "idle", states: { idle: {} } };

test.each(providers)(
  "I9: on %s, two processes are killed twice while three schedules fire each second and a batch runs: each tick and each item once",
  async (provider) => {
    const program = await bundleProgram(
      "lib/testing/schedule-kill-process.ts",
      `schedule-kill-process-${provider}`,
    );
    const at = await freshRuntime(provider);
    try {
      const batchId = await prepare(at);
      for (let round = 0; round < rounds; round += 1) await runAndKill(program, at.database.url);
      await finish(at, batchId);
      const ticks = await checkTicks(at);
      // The rounds got somewhere, or the test has shown nothing.
      expect(ticks).toBeGreaterThan(rounds * scheduleIds.length);
      await checkItems(at, batchId);
      expect(at.reported).toEqual([]);
    } finally {
      await at.end();
    }
  },
  120_000,
);

async function prepare(at: TestRuntime): Promise<string> {
  await publish(at.runtime, "tick", tick);
  await publish(at.runtime, "idle", idle);
  await Promise.all(
    Array.from({ length: itemsTotal }, (_, n) =>
      at.runtime.startInstance(local, { chartId: "idle", id: `i${n}` }),
    ),
  );
  for (const id of scheduleIds) {
    const action = { kind: "start", chartId: "tick" } as const;
    await at.runtime.createSchedule(local, {
      id,
      cron: "* * * * * *",
      action,
      misfire: "all",
      misfireMax: 100,
    });
  }
  const selection = { filter: { chartId: "idle" } };
  const order = { verb: "suspend", reason: "the fair", selection, ratePerSecond: 20 } as const;
  return (await at.runtime.createBatch(local, order)).id;
}

async function runAndKill(program: string, url: string): Promise<void> {
  const children = [1, 2].map(() => {
    const child = spawn(process.execPath, [...nodeFlags, program, url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return { child, ended: new Promise((done) => child.once("close", done)) };
  });
  await Promise.all(children.map(({ child, ended }) => Promise.race([ready(child), ended])));
  const kills = children.map(async ({ child, ended }) => {
    await pause(150 + Math.random() * 500);
    child.kill("SIGKILL");
    await ended;
  });
  await advance(url, 1_500);
  await pause(150);
  await advance(url, 1_500);
  await Promise.all(kills);
}

const ready = (child: ChildProcess) => new Promise((done) => child.stdout?.once("data", done));
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Lets the dead ones' portion run out, and does what is left. */
async function finish(at: TestRuntime, batchId: string): Promise<void> {
  at.runtime.startWorkers();
  await advance(at.database.url, 31_000);
  await vi.waitFor(
    async () => {
      await advance(at.database.url, 500);
      expect((await at.runtime.getBatch(local, { batchId })).status).toBe("done");
    },
    { timeout: 40_000, interval: 100 },
  );
  for (const scheduleId of scheduleIds) await at.runtime.pauseSchedule(local, { scheduleId });
}

async function checkTicks(at: TestRuntime): Promise<number> {
  const started: string[] = [];
  for (const scheduleId of scheduleIds) {
    const ticks = await all(({ cursor }) => at.runtime.listTicks(local, { scheduleId, limit: 200, cursor }));
    const oldestFirst = [...ticks].reverse();
    const first = oldestFirst[0]?.dueAt ?? 0;
    expect(oldestFirst.map(({ n }) => n)).toEqual(oldestFirst.map((_, n) => n));
    // Each second once, none left out.
    expect(oldestFirst.map(({ dueAt }) => dueAt)).toEqual(oldestFirst.map((_, n) => first + n * 1_000));
    expect(new Set(oldestFirst.map(({ outcome }) => outcome))).toEqual(new Set(["started"]));
    started.push(...oldestFirst.map(({ instanceId }) => instanceId ?? ""));
  }
  const instances = await all(({ cursor }) =>
    at.runtime.listInstances(local, { chartId: "tick", limit: 200, cursor }),
  );
  expect(instances.map(({ id }) => id).sort()).toEqual([...started].sort());
  return started.length;
}

async function checkItems(at: TestRuntime, batchId: string): Promise<void> {
  const batch = await at.runtime.getBatch(local, { batchId });
  expect(batch).toMatchObject({ total: itemsTotal, ok: itemsTotal, refused: 0, skipped: 0 });
  for (let n = 0; n < itemsTotal; n += 1) {
    const { items } = await at.runtime.getLog(local, { instanceId: `i${n}` });
    expect(items.map(({ type }) => type)).toEqual(["suspend", "start"]);
  }
}

async function all<T>(
  page: (args: { cursor: string | undefined }) => Promise<{ items: T[]; nextCursor: string | null }>,
): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { items, nextCursor } = await page({ cursor });
    found.push(...items);
    cursor = nextCursor;
  }
  return found;
}
