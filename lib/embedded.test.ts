/**
 * The runtime in a process of one's own: README.md's example as it stands there, and what it promises.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { build } from "esbuild";
import type { JsonObject } from "@/lib/base/json";
import { docBlocks } from "@/lib/testing/doc-blocks";
import { openEmbedded, type Embedded } from "./embedded";

const order: JsonObject = {
  lockstep: 1,
  tasks: { charge: {} },
  context: { tries: 0 },
  initial: "open",
  states: {
    open: { on: { pay: "paying" }, after: { "1h": "expired" } },
    paying: { invoke: { src: "charge", onDone: "paid", onError: "open" } },
    paid: { after: { "1d": "archived" } },
    archived: { type: "final" },
    expired: { type: "final" },
  },
};

let lockstep: Embedded;
afterEach(() => lockstep.close());
const stateOf = async (instanceId: string) => (await lockstep.getInstance({ instanceId })).configuration;

test("time stands still until it is advanced, and everything happens when it is due", async () => {
  const asked: unknown[] = [];
  lockstep = await openEmbedded({
    startAt: 1_000_000,
    tasks: {
      charge: (_input, { attempt }) => {
        asked.push(attempt);
        if (attempt < 3) throw new Error("the bank is closed");
        return "receipt";
      },
    },
  });
  await lockstep.publish("order", order);
  await lockstep.startInstance({ chartId: "order", id: "o1" });
  await lockstep.startInstance({ chartId: "order", id: "o2" });
  expect(await lockstep.step()).toBe(false);
  await lockstep.advance(3_599_999);
  expect(await stateOf("o1")).toEqual(["open"]);
  await lockstep.sendEvent({ instanceId: "o1", type: "pay" });
  expect(await stateOf("o1")).toEqual(["paying"]);
  await lockstep.advance(1);
  expect([await stateOf("o1"), await stateOf("o2")]).toEqual([["paying"], ["expired"]]);
  expect(asked).toEqual([1]);
  // Two pauses between attempts, then a day.
  await lockstep.advance(60_000);
  expect([asked, await stateOf("o1")]).toEqual([[1, 2, 3], ["paid"]]);
  await lockstep.advance(86_400_000);
  expect(await stateOf("o1")).toEqual(["archived"]);
  expect(await lockstep.now()).toBe(1_000_000 + 3_600_000 + 60_000 + 86_400_000);
  const { items } = await lockstep.getLog({ instanceId: "o2" });
  expect(items[0]).toMatchObject({ kind: "timer", at: 4_600_000 });
  expect(await lockstep.getState({ instanceId: "o1" })).toMatchObject({ hashMatches: true });
});

test("a file keeps everything, time too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lockstep-embedded-"));
  try {
    const file = join(folder, "orders.db");
    lockstep = await openEmbedded({ file, startAt: 5_000 });
    await lockstep.publish("order", order);
    await lockstep.startInstance({ chartId: "order", id: "o" });
    await lockstep.advance(3_000_000);
    await lockstep.close();
    lockstep = await openEmbedded({ file, startAt: 1 });
    expect(await lockstep.now()).toBeGreaterThanOrEqual(5_000);
    await lockstep.advance(4_000_000);
    expect(await stateOf("o")).toEqual(["expired"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("two in memory know nothing of each other", async () => {
  const other = await openEmbedded();
  lockstep = await openEmbedded();
  await lockstep.publish("order", order);
  expect((await other.listCharts({})).items).toEqual([]);
  await other.close();
});

const keeper: JsonObject = {
  lockstep: 1,
  context: { kept: null },
  initial: "open",
  states: {
    open: {
      entry: { assign: { kept: "input" } },
      on: { keep: { actions: { assign: { kept: "event.data" } } }, end: "done" },
    },
    done: { type: "final" },
  },
};
class Money {
  cents = 5;
}
const holed = [1, , 2];

test("I5: data that is no plain JSON is refused where it is; a property that is undefined is none", async () => {
  lockstep = await openEmbedded();
  await lockstep.publish("keeper", keeper);
  await lockstep.startInstance({ chartId: "keeper", id: "k", input: { a: 1, b: undefined } as never });
  const values: [unknown, string][] = [
    [{ a: new Date(0) }, ".a"],
    [holed, ".1"],
    [{ a: { toJSON: () => 1 } }, ".a"],
    [{ a: [1n] }, ".a.0"],
    [Number.NaN, ""],
    [{ a: Infinity }, ".a"],
    [[undefined], ".0"],
    [{ m: new Money() }, ".m"],
    [new Map(), ""],
    [{ f: () => 1 }, ".f"],
  ];
  for (const [value, path] of values) {
    const data = value as never;
    const refused = (field: string) => ({ code: "bad-request", details: { field } });
    await expect(lockstep.startInstance({ chartId: "keeper", input: data })).rejects.toMatchObject(
      refused(`input${path}`),
    );
    await expect(lockstep.sendEvent({ instanceId: "k", type: "keep", data })).rejects.toMatchObject(
      refused(`data${path}`),
    );
    await expect(
      lockstep.sendEvents({ instanceId: "k", events: [{ type: "keep", data }] }),
    ).rejects.toMatchObject(refused(`events.0.data${path}`));
  }
  expect(await lockstep.getState({ instanceId: "k" })).toMatchObject({ hashMatches: true, seq: 1 });
  const data = { a: 1, b: undefined, c: -0 };
  const sent = lockstep.sendEvent({ instanceId: "k", type: "keep", data: data as never });
  data.a = 2;
  await sent;
  expect(await lockstep.getState({ instanceId: "k" })).toMatchObject({
    hashMatches: true,
    context: { kept: { a: 1, c: 0 } },
  });
});

test("publish: a refused chart takes no id, another text is the next version, the same text none", async () => {
  lockstep = await openEmbedded();
  const broken = { ...keeper, initial: "nowhere" };
  await expect(lockstep.publish("keeper", broken)).rejects.toMatchObject({ code: "chart-invalid" });
  expect((await lockstep.listCharts({})).items).toEqual([]);
  await lockstep.publish("keeper", keeper);
  await lockstep.publish("keeper", { ...keeper });
  await expect(lockstep.publish("keeper", broken)).rejects.toMatchObject({ code: "chart-invalid" });
  const versions = async () =>
    (await lockstep.getChart({ chartId: "keeper" })).versions.map(({ version }) => version).sort();
  expect(await versions()).toEqual([1]);
  await lockstep.publish("keeper", { ...keeper, context: { kept: 0 } });
  expect(await versions()).toEqual([1, 2]);
  // Back to the first: it is the newest that counts.
  await lockstep.publish("keeper", keeper);
  expect(await versions()).toEqual([1, 2, 3]);
  // At once: each is the next one of the other.
  const others = [1, 2, 3].map((kept) => ({ ...keeper, context: { kept } }));
  await Promise.all(others.map((chart) => lockstep.publish("other", chart)));
  expect((await lockstep.getChart({ chartId: "other" })).version).toBe(3);
  const { version } = await lockstep.startInstance({ chartId: "keeper" });
  expect(version).toBe(3);
  const dated = { ...keeper, context: { at: new Date(0) } } as never;
  await expect(lockstep.publish("dated", dated)).rejects.toMatchObject({
    code: "bad-request",
    details: { field: "chart.context.at" },
  });
  await expect(lockstep.publish("a/b", keeper)).rejects.toMatchObject({ details: { field: "id" } });
});

test("advance: what is kept for its time is forgotten, schedules tick, the fleet is counted, a lost lease expires", async () => {
  lockstep = await openEmbedded({ startAt: 1_800_000_000_000 });
  await lockstep.publish("keeper", keeper);
  await lockstep.startInstance({ chartId: "keeper", id: "gone" });
  await lockstep.startInstance({ chartId: "keeper", id: "stays" });
  await lockstep.sendEvent({ instanceId: "gone", type: "end" });
  const reason = "tidy";
  const selection = { instanceIds: ["stays"] };
  const { id: batchId } = await lockstep.createBatch({ verb: "suspend", selection, reason });
  await lockstep.setRetention({ rule: "batches", keepMs: 0, reason });
  await lockstep.setRetention({ rule: "completed", keepMs: 86_400_000, reason });
  await lockstep.acquireLock({ key: "zone/1", session: "s", holder: "h", ttlMs: 5_000 });
  await lockstep.createSchedule({
    id: "hourly",
    cron: "0 * * * *",
    action: { kind: "start", chartId: "keeper" },
  });
  const began = await lockstep.now();
  await lockstep.advance(3_600_000);
  await expect(lockstep.getBatch({ batchId })).rejects.toMatchObject({ code: "not-found" });
  expect(await lockstep.getInstance({ instanceId: "gone" })).toMatchObject({ status: "completed" });
  const [expired] = (await lockstep.getLockLog({ key: "zone/1" })).items;
  expect(expired).toMatchObject({ type: "EXPIRED", at: began + 5_000 });
  expect((await lockstep.listTicks({ scheduleId: "hourly" })).items).toHaveLength(1);
  const { completeUpTo, items } = await lockstep.getFleet({});
  expect(completeUpTo).toBeGreaterThan(began);
  expect(items).toContainEqual({ chartId: "keeper", version: 1, state: "open", count: 2 });
  await lockstep.pauseSchedule({ scheduleId: "hourly" });
  await lockstep.advance(30 * 86_400_000);
  await expect(lockstep.getInstance({ instanceId: "gone" })).rejects.toMatchObject({ code: "not-found" });
  expect(await lockstep.getInstance({ instanceId: "stays" })).toMatchObject({ status: "suspended" });
  const [completed] = (await lockstep.listRetention({})).items.filter(({ rule }) => rule === "completed");
  expect(completed).toMatchObject({ removed: 1, underWay: false });
});

test("a message that waits for a session's end is stepped when the session ends", async () => {
  lockstep = await openEmbedded({ startAt: 1_000_000 });
  await lockstep.publish("keeper", keeper);
  await lockstep.startInstance({ chartId: "keeper", id: "k" });
  await lockstep.openSession({ instanceId: "k", ttlMs: 10_000 });
  await lockstep.sendEvent({ instanceId: "k", type: "end", waitMs: 0 });
  await lockstep.advance(3_600_000);
  const [ended] = (await lockstep.getLog({ instanceId: "k" })).items;
  expect(ended).toMatchObject({ type: "end", at: 1_010_000 });
});

test("arguments are held to the API's schemas, time to whole milliseconds; a refusal changes nothing", async () => {
  lockstep = await openEmbedded({ startAt: 1_000_000 });
  await lockstep.publish("keeper", keeper);
  await lockstep.startInstance({ chartId: "keeper", id: "k" });
  const lock = { key: "zone/1", session: "s", holder: "h" };
  const calls: [() => Promise<unknown>, string][] = [
    [() => lockstep.startInstance({ chartId: "keeper", id: "a/b" }), "id"],
    [() => lockstep.startInstance({ chartId: "keeper", id: "" }), "id"],
    [() => lockstep.startInstance({} as never), "chartId"],
    [() => lockstep.startInstance(undefined as never), "chartId"],
    [() => lockstep.startInstance({ chartId: "keeper", typo: 1 } as never), "typo"],
    [() => lockstep.getInstance({ instanceId: "" }), "instanceId"],
    [() => lockstep.getInstance({ instanceId: 5 as never }), "instanceId"],
    [() => lockstep.getInstance({} as never), "instanceId"],
    [() => lockstep.sendEvent({ instanceId: "k", type: "" }), "type"],
    [() => lockstep.sendEvent({ instanceId: "k", type: 5 as never }), "type"],
    [() => lockstep.sendEvent({ instanceId: "k" } as never), "type"],
    [() => lockstep.sendEvent({ instanceId: "k", type: "end", idempotencyKey: "" }), "idempotencyKey"],
    [() => lockstep.acquireLock({ ...lock, key: "a b" }), "key"],
    [() => lockstep.acquireLock({ ...lock, ttlMs: -5 }), "ttlMs"],
    [() => lockstep.startInstance({ chartId: "keeper", businessKey: "" }), "businessKey"],
    [() => lockstep.listInstances({ limit: 0 }), "limit"],
    [() => lockstep.listInstances({ limit: "5" as never }), "limit"],
    [() => lockstep.getLogEntry({ instanceId: "k", seq: 1.5 }), "seq"],
    [() => lockstep.advance("3600000" as never), "ms"],
    [() => lockstep.advance(Number.NaN), "ms"],
    [() => lockstep.advance(-1), "ms"],
    [() => lockstep.advance(Infinity), "ms"],
    [() => openEmbedded({ startAt: Number.NaN }), "startAt"],
    [() => openEmbedded({ startAt: "1" as never }), "startAt"],
  ];
  for (const [call, field] of calls)
    await expect(call(), call.toString()).rejects.toMatchObject({ code: "bad-request", details: { field } });
  expect(await lockstep.now()).toBe(1_000_000);
  expect(await lockstep.getInstance({ instanceId: "k" })).toMatchObject({ seq: 1 });
  expect((await lockstep.listInstances({ limit: 1 })).items).toHaveLength(1);
  expect(await lockstep.getLogEntry({ instanceId: "k", seq: 1 })).toMatchObject({ kind: "start" });
});

test("once closed, every call is refused as shutting-down, closing again is not", async () => {
  lockstep = await openEmbedded();
  await lockstep.close();
  await lockstep.close();
  const calls: (() => Promise<unknown>)[] = [
    () => lockstep.getInstance({ instanceId: "k" }),
    () => lockstep.listCharts({}),
    () => lockstep.sendEvent({ instanceId: "k", type: "end" }),
    () => lockstep.publish("keeper", keeper),
    () => lockstep.now(),
    () => lockstep.step(),
    () => lockstep.settle(),
    () => lockstep.advance(1),
  ];
  for (const call of calls)
    await expect(call(), call.toString()).rejects.toMatchObject({ code: "shutting-down" });
});

test("a task that gives what is no JSON, or throws what can't be stored, fails as a task and keeps nobody", async () => {
  let times = 0;
  const gives: (() => unknown)[] = [
    () => 1n,
    () => ({ at: new Date(0) }),
    () => {
      throw Object.assign(new Error("\u0000".repeat(300_000)), { code: "\ud800", retry: false });
    },
  ];
  lockstep = await openEmbedded({
    tasks: {
      charge: () => {
        times += 1;
        return gives.shift()?.() as never;
      },
    },
  });
  await lockstep.publish("order", order);
  for (const instanceId of ["o1", "o2", "o3"]) {
    await lockstep.startInstance({ chartId: "order", id: instanceId });
    await lockstep.sendEvent({ instanceId, type: "pay" });
    await lockstep.advance(1);
    expect(await stateOf(instanceId)).toEqual(["open"]);
  }
  await lockstep.advance(600_000);
  expect(times).toBe(3);
});

test("README.md's example runs in plain Node", async () => {
  lockstep = await openEmbedded();
  const source = docBlocks("README.md", "ts").find((body) => body.includes("openEmbedded")) ?? "";
  expect(source).toContain("advance");
  const folder = await mkdtemp(join(process.cwd(), ".cache", "embedded-"));
  try {
    const entry = join(folder, "example.ts");
    await writeFile(
      entry,
      source.replace('"lockstep/embedded"', JSON.stringify(join(process.cwd(), "lib/embedded.ts"))),
    );
    const outfile = join(folder, "example.mjs");
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      packages: "external",
      alias: { "@": process.cwd() },
      logLevel: "error",
    });
    const { said } = (await import(pathToFileURL(outfile).href)) as { said: string[] };
    expect(said).toEqual(["open", "expired"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
