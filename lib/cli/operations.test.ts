/**
 * `lockstep audit | locks | workers | retention | archive` against a real server, each verb called as the command calls it.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { noWrites } from "@/lib/store/steps";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { advance } from "@/lib/testing/database";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { messageRow } from "@/lib/testing/rows";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { archive } from "./archive";
import { audit } from "./audit";
import { locks } from "./locks";
import { retention } from "./retention";
import { workers } from "./workers";

let at: TestRuntime;
let server: TestServer;
let said: { out: string; err: string };
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  said = { out: "", err: "" };
  const listen = (to: "out" | "err") => (text: unknown, done?: unknown) => {
    said[to] += String(text);
    if (typeof done === "function") (done as () => void)();
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(listen("out"));
  vi.spyOn(process.stderr, "write").mockImplementation(listen("err"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
  await at.end();
});
const run = async (command: (args: string[]) => Promise<number>, ...args: string[]) => {
  said = { out: "", err: "" };
  return command([...args, "--url", server.baseUrl]);
};

test("the audit is read newest first, narrowed by who, what, to what and when; a time that is none is wrong use", async () => {
  await publish(at.runtime, "counter", counter);
  await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
  await at.runtime.suspendInstance(local, { instanceId: "c", reason: "mending" });
  await at.runtime.terminateInstance(local, { instanceId: "c", reason: "broken" });
  expect(await run(audit, "--target", "instance:c")).toBe(0);
  expect(said.out.split("\n").map((line) => line.split("\t").slice(1))).toEqual([
    ["local", "terminate-instance", "instance:c", "done", '{"seq":3,"reason":"broken"}'],
    ["local", "suspend-instance", "instance:c", "done", '{"seq":2,"reason":"mending"}'],
    [],
  ]);
  expect(await run(audit, "--action", "suspend-instance", "--actor", "local", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ details: { reason: "mending" } });
  expect(await run(audit, "--to", "2001-01-01")).toBe(0);
  expect(said.out).toBe("");
  expect(await run(audit, "--limit", "1", "--from", "2001-01-01")).toBe(0);
  expect(said.out.split("\n")).toHaveLength(2);
  await expect(run(audit, "--from", "yesterday")).rejects.toThrow("--from takes a time");
});

test("locks are listed, shown, their log read; one is taken by its fence and a reason alone", async () => {
  await at.runtime.acquireLock(local, { key: "zone:1", session: "s", holder: "agv-1" });
  expect(await run(locks)).toBe(0);
  expect(said.out).toBe("zone:1\thealthy\tagv-1\tfence 1\t0 waiting\n");
  await expect(run(locks, "force-release", "zone:1", "--reason", "stuck")).rejects.toThrow("needs --fence");
  await expect(run(locks, "force-release", "zone:1", "--fence", "1")).rejects.toThrow("needs --reason");
  expect(await run(locks, "force-release", "zone:1", "--fence", "9", "--reason", "stuck")).toBe(1);
  expect(said.err).toContain("fence");
  expect(await run(locks, "force-release", "zone:1", "--fence", "1", "--reason", "stuck")).toBe(0);
  expect(said.out).toBe("zone:1 was taken from agv-1; it is free, fence 2\n");
  expect(await run(locks, "log", "zone:1")).toBe(0);
  expect(said.out.split("\n")[0]).toMatch(/^#3\t.*\tFORCE_RELEASED\tagv-1\tfence 2\tlocal\tstuck$/);
  expect(await run(locks, "show", "zone:1", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ key: "zone:1", status: "free" });
});

test("a lock is acquired, renewed and released by its session and fence, and refused to another", async () => {
  const mine = ["zone:1", "--session", "me"];
  expect(await run(locks, "acquire", ...mine, "--ttl-ms", "60000")).toBe(0);
  expect(said.out).toBe("1\n");
  expect(await run(locks, "acquire", ...mine)).toBe(0);
  expect(said.out).toBe("1\n");
  expect(await run(locks, "acquire", "zone:1", "--session", "you", "--wait-ms", "0")).toBe(1);
  expect(said).toMatchObject({
    out: "",
    err: expect.stringContaining("zone:1 is held by me until 20") as string,
  });
  expect(await run(locks, "acquire", "zone:1", "--session", "you", "--json")).toBe(1);
  expect(JSON.parse(said.out)).toMatchObject({ result: "busy", holder: "me" });
  expect(await run(locks, "renew", ...mine, "--fence", "1", "--ttl-ms", "3600000")).toBe(0);
  expect(said.out).toMatch(/^zone:1 is yours until 20\S+Z\n$/);
  expect(await at.runtime.getLock(local, { key: "zone:1" })).toMatchObject({
    holder: "me",
    ttlMs: 3_600_000,
  });
  expect(await run(locks, "release", ...mine, "--fence", "1")).toBe(0);
  expect(said.out).toBe("zone:1 is released\n");
  expect(await run(locks, "release", ...mine, "--fence", "1")).toBe(0);
  expect(said.out).toBe("zone:1 was already released\n");
  expect(await run(locks, "acquire", "zone:1", "--session", "you", "--holder", "agv-2")).toBe(0);
  expect(said.out).toBe("2\n");
  expect(await run(locks, "release", ...mine, "--fence", "1")).toBe(1);
  expect(said.out).toBe("zone:1 was no longer yours under fence 1: the newest is 2\n");
  expect(await run(locks, "renew", ...mine, "--fence", "1")).toBe(1);
  expect(said.err).toContain("is not yours under fence 1");
  expect((await at.runtime.getLock(local, { key: "zone:1" })).holder).toBe("agv-2");
  await expect(run(locks, "acquire", "zone:1")).rejects.toThrow("needs --session");
  await expect(run(locks, "release", ...mine)).rejects.toThrow("needs --fence");
});

test("several locks are acquired at once or none of them", async () => {
  expect(await run(locks, "acquire", "b", "a", "--session", "me")).toBe(0);
  expect(said.out).toBe("a\t1\nb\t1\n");
  expect(await run(locks, "acquire", "b", "c", "--session", "you", "--wait-ms", "0")).toBe(1);
  expect(said.err).toContain("b is held by me until 20");
  expect(await run(locks, "acquire", "b", "c", "--session", "you", "--json")).toBe(1);
  expect(JSON.parse(said.out)).toMatchObject({ result: "busy", locks: [{ key: "b", holder: "me" }] });
  expect(await at.runtime.getLock(local, { key: "c" })).toMatchObject({ status: "free", fence: 0 });
  expect(
    await run(locks, "acquire", "d", "--session", "me", "--cool-ms", "60000", "--hold-max-ms", "90000"),
  ).toBe(0);
  expect(await run(locks, "release", "d", "--session", "me", "--fence", "1")).toBe(0);
  expect(await run(locks, "acquire", "d", "--session", "you")).toBe(1);
  expect(said.err).toMatch(/d cools down until 20\S+Z; --wait-ms waits, as number 1 in line/);
  const mine = { session: "me", holder: "me" };
  await at.runtime.acquireLock(local, { key: "e", ...mine });
  const both = at.runtime.acquireLocks(local, {
    ...{ keys: ["e", "f"], session: "they", holder: "they", waitMs: 20_000 },
  });
  await vi.waitFor(async () => {
    expect((await at.runtime.getLock(local, { key: "f" })).queue).toMatchObject([{ holder: "they" }]);
  }, 5_000);
  expect(await run(locks, "acquire", "f", "--session", "you")).toBe(1);
  expect(said.err).toContain("f is free, and others are before you in line; --wait-ms waits, as number 2");
  await at.runtime.releaseLock(local, { key: "e", session: "me", fence: 1 });
  await both;
  await expect(run(locks, "release", "a", "b", "--session", "me")).rejects.toThrow("acquire takes several");
  await expect(run(locks, "acquire", "--session", "me")).rejects.toThrow("needs a key");
});

test("a lock's log tells how each grant was given, and until when the lock cools after it", async () => {
  const mine = ["zone:1", "--session", "me"];
  const terms = ["--ttl-ms", "60000", "--hold-max-ms", "600000", "--cool-ms", "5000"];
  expect(await run(locks, "acquire", ...mine, ...terms)).toBe(0);
  expect(await run(locks, "release", ...mine, "--fence", "1")).toBe(0);
  expect(await run(locks, "acquire", ...mine)).toBe(0);
  expect(await run(locks, "log", "zone:1")).toBe(0);
  const told = said.out.split("\n").flatMap((line) => {
    const [, , type, , , , words] = line.split("\t");
    return type === "ACQUIRED" || type === "RELEASED" ? [`${type} ${words ?? ""}`] : [];
  });
  expect(told).toEqual([
    "ACQUIRED ttl 30s",
    expect.stringMatching(/^RELEASED cools until 20\S+Z$/) as string,
    "ACQUIRED ttl 1m, held at most 10m, cools 5s after",
  ]);
});

test("a worker is drained and takes work again; its breaker is shown and reset", async () => {
  let isOpen = true;
  const store = (await at.again()).store;
  const worker: Runtime = createRuntime({
    store,
    report: () => undefined,
    invocations: {
      byType: {},
      note: () => null,
      breakers: () => (isOpen ? [{ name: "api.example", state: "open", until: 5 }] : []),
      resetBreaker: () => (isOpen = false),
    },
  });
  await publish(at.runtime, "counter", counter);
  await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
  worker.startWorkers();
  try {
    const list = async () => (await at.runtime.listWorkers(local, {})).items[0];
    await vi.waitUntil(async () => (await list())?.breakers.length === 1, { timeout: 10_000 });
    const id = (await list())?.id ?? "";
    expect(await run(workers)).toBe(0);
    expect(said.out).toMatch(/\truntime\tworking\t0 of 4\tseen \d+ s ago\tapi\.example open\n$/);
    expect(await run(workers, "reset", id, "--breaker", "api.example", "--reason", "mended")).toBe(0);
    await vi.waitUntil(async () => (await list())?.breakers.length === 0, { timeout: 10_000 });
    expect(await run(workers, "drain", id, "--reason", "to be replaced")).toBe(0);
    await vi.waitUntil(async () => (await list())?.status === "draining", { timeout: 10_000 });
    // Drained, it steps nothing.
    const message = messageRow({ instanceId: "c", type: "add", input: '{"kind":"event","type":"add"}' });
    await at.store.transaction((tx) => tx.writeSteps({ ...noWrites(), enqueued: [message] }));
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect((await at.runtime.getInstance(local, { instanceId: "c" })).seq).toBe(1);
    expect(await run(workers, "undrain", id, "--reason", "it may stay")).toBe(0);
    await vi.waitUntil(async () => (await list())?.status === "working", { timeout: 10_000 });
    const seq = async () => (await at.runtime.getInstance(local, { instanceId: "c" })).seq;
    await vi.waitUntil(async () => (await seq()) === 2, { timeout: 10_000 });
    expect(await run(workers, "drain", "nobody", "--reason", "to see")).toBe(1);
    expect(said.err).toBe("lockstep: There is no worker nobody.\n");
  } finally {
    await worker.close();
  }
}, 60_000);

test("retention is shown, tried and changed; what it archives is read again, and a changed file is told", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lockstep-archive-"));
  const { store } = await at.again();
  const worker = createRuntime({ store, report: () => undefined, archiveFolder: folder });
  try {
    await publish(at.runtime, "counter", counter);
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    await at.runtime.sendEvent(local, { instanceId: "c", type: "finish" });
    await advance(at.database.url, 7_200_000);
    expect(await run(retention, "preview", "completed", "--keep", "1h")).toBe(0);
    expect(said.out).toBe("1 would go\n");
    expect(await run(retention, "preview", "completed", "--keep", "for-ever")).toBe(0);
    expect(said.out).toBe("0 would go\n");
    await expect(run(retention, "set", "completed", "--keep", "soon", "--reason", "r")).rejects.toThrow(
      "--keep",
    );
    const set = ["set", "completed", "--keep", "1h", "--then", "archive", "--reason", "full disk"];
    expect(await run(retention, ...set)).toBe(0);
    expect(said.out).toBe("completed\t1h\tarchive\t0 removed\n");
    expect(await run(retention)).toBe(0);
    expect(said.out).toContain("answers\t7d\tpurge\t0 removed\n");
    worker.startWorkers();
    await vi.waitUntil(async () => (await readdir(folder)).some((name) => name.endsWith(".ndjson")), {
      timeout: 20_000,
    });
    const file = join(folder, (await readdir(folder)).find((name) => name.endsWith(".ndjson")) ?? "");
    said.out = "";
    expect(await archive(["list", file])).toBe(0);
    expect(said.out).toMatch(/^c\tcompleted\tcounter v1\t2 entries\t\d{4}-/);
    said.out = "";
    expect(await archive(["show", file, "--id", "c"])).toBe(0);
    expect(JSON.parse(said.out.split("\n")[0] ?? "")).toMatchObject({ kind: "instance", id: "c" });
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace('"finish"', '"vanish"'));
    expect(await archive(["list", file])).toBe(1);
    expect(said.err).toContain("what it holds of c was changed");
    await writeFile(file, text.split("\n").slice(0, -2).join("\n"));
    expect(await archive(["list", file])).toBe(1);
    expect(said.err).toContain("cut off");
  } finally {
    await worker.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);
