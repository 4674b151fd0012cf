/**
 * Disks that are really full, and databases that really take no writes, under processes of their own: the product's worker
 * (dist/worker.js), and one that answers calls.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import type { Store } from "@/lib/store/store";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { tamper } from "@/lib/testing/database";
import { freshRuntime, local, publish } from "@/lib/testing/runtime";
import { adder } from "./charts";
import { killChildren, startChild, type Child } from "./child";
import { postMany } from "./post-many";

const name = "disk";
/** A write that was refused for want of room is told of for 15 s: smaller ones may succeed meanwhile. */
const healAfterMs = 15_000;
const onEnd: (() => unknown)[] = [];
beforeAll(() => void execFileSync(process.execPath, [resolve("scripts/build-bin.mjs")]));
afterEach(async () => {
  await killChildren();
  for (const each of onEnd.splice(0).reverse()) await each();
});

/** The product's own worker; `said`: its standard error. */
function startWorker(
  url: string,
  under: readonly string[] = [],
): { process: ChildProcess; said: () => string } {
  const [program = "", ...args] = [...under, process.execPath, resolve("dist/worker.js")];
  const env = { ...process.env, DATABASE_URL: url, LOCKSTEP_SEEDS: "off" };
  const worker = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  worker.stderr.on("data", (data) => (said += String(data)));
  onEnd.push(() => worker.kill("SIGKILL"));
  return { process: worker, said: () => said };
}

/** A folder for a SQLite file, with `adder` published and an instance `a` in it. */
async function sqliteIn(folder: string): Promise<{ url: string; store: Store; runtime: Runtime }> {
  const url = `file:${join(folder, "test.db")}`;
  const store = await openSqlStore({ url, connections: 1 });
  const runtime = createRuntime({ store, report: () => undefined });
  await publish(runtime, "adder", adder);
  await runtime.startInstance(local, { chartId: "adder", id: "a" });
  return { url, store, runtime };
}

/** A small file system of its own; null: it can't be mounted here, and why. */
function smallDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "lockstep-disk-"));
  onEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=755", "tmpfs", folder]);
  if (status !== 0) {
    process.stdout.write(`No small file system can be mounted here: ${String(stderr).trim()}\n`);
    return null;
  }
  onEnd.push(() => spawnSync("umount", ["-l", folder]));
  return folder;
}

const big = "x".repeat(60_000);
const sendArgs = (n: number) => ({
  instanceId: "a",
  type: "add",
  data: { n: 1, big },
  idempotencyKey: `k${n}`,
});

test("I9: a real full file system (or, where none can be mounted, a limit of the file's size): a clear error, no half step; with room again everything works", async () => {
  const folder = smallDisk();
  process.stdout.write(`A full disk: ${folder === null ? "ulimit -f" : "a tmpfs of 8 MiB"}\n`);
  await (folder === null ? limited() : full(folder));
}, 60_000);

test(
  "I9: a file that may not grow (ulimit -f): a clear error, no half step; with room again everything works",
  limited,
  60_000,
);

/** What `/ready` and `/health` tell of that process. */
async function expectIll(child: Child, says: string): Promise<void> {
  const told = expect.stringContaining(says) as string;
  expect(await child.do("getReadiness", {})).toEqual({ ready: false, reason: told });
  expect(await child.do("getHealth", {})).toMatchObject({ status: "degraded", trouble: told });
}

async function expectWell(child: Child): Promise<void> {
  await child.passTime(healAfterMs);
  await vi.waitFor(
    async () => {
      expect(await child.do("getReadiness", {})).toEqual({ ready: true, reason: null });
      expect(await child.do("getHealth", {})).toMatchObject({ status: "ok", trouble: null });
    },
    { timeout: 5_000, interval: 200 },
  );
}

async function full(folder: string): Promise<void> {
  const { url, store, runtime } = await sqliteIn(folder);
  onEnd.push(() => runtime.close());
  const child = await startChild(name, { url });
  const { bavail, bsize } = statfsSync(folder);
  const filler = join(folder, "filler");
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - 300_000)));
  const answers = [];
  for (let n = 0; n < 8; n += 1) answers.push(await child.call("sendEvent", sendArgs(n)));
  const applied = answers.filter((answer) => answer?.result).length;
  const refused = answers.filter((answer) => answer?.code !== undefined);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused)
    expect(answer).toMatchObject({
      code: "database-full",
      retry: "later",
      message: expect.stringContaining("make room") as string,
    });
  expect(await child.do("getState", { instanceId: "a" })).toMatchObject({ context: { sum: applied } });
  await expectIll(child, "no room");
  // The same process, when there is room.
  rmSync(filler);
  for (let n = 0; n < 8; n += 1) await child.do("sendEvent", sendArgs(n));
  await expectWell(child);
  expect(await runtime.getState(local, { instanceId: "a" })).toMatchObject({
    context: { sum: 8 },
    seq: 9,
    hashMatches: true,
  });
  expect(await store.countMailbox("a")).toBe(0);
}

async function limited(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lockstep-disk-"));
  onEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  const { url, runtime } = await sqliteIn(folder);
  await runtime.close();
  // In blocks of 1,024 bytes: what there is, and a little for its log.
  const child = await startChild(name, { url }, ["bash", "-c", `ulimit -f 900; exec "$0" "$@"`]);
  const answers = [];
  for (let n = 0; n < 16; n += 1) answers.push(await child.call("sendEvent", sendArgs(n)));
  const applied = answers.filter((answer) => answer?.result).length;
  const refused = answers.filter((answer) => answer?.code !== undefined);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) expect(answer).toMatchObject({ code: "database-full", retry: "later" });
  expect(await child.do("getState", { instanceId: "a" })).toMatchObject({ context: { sum: applied } });
  child.kill("SIGTERM");
  await child.ended;
  const again = await startChild(name, { url });
  for (let n = 0; n < 16; n += 1) await again.do("sendEvent", sendArgs(n));
  expect(await again.do("getState", { instanceId: "a" })).toMatchObject({
    context: { sum: 16 },
    seq: 17,
    hashMatches: true,
  });
}

test("I9: a SQLite file that it may not write: the worker says so and ends, and has changed nothing; with the right it works", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lockstep-disk-"));
  onEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  const { url, store, runtime } = await sqliteIn(folder);
  await postMany(store, ["a"], 1, "add", { n: 1 });
  await runtime.close();
  const path = url.slice("file:".length);
  // With that capability root is bound by no mode. Another user might not read a checkout that is closed to others.
  const bound =
    process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] : [];
  chmodSync(path, 0o444);
  chmodSync(folder, 0o555);
  const worker = startWorker(url, bound);
  expect(await new Promise((done) => worker.process.once("exit", done))).toBe(1);
  expect(worker.said()).toMatch(
    /^Lockstep did not start\. The database file .* can't be opened: .* must be this user's to write/,
  );
  chmodSync(folder, 0o777);
  chmodSync(path, 0o666);
  const child = await startChild(name, { url, workers: false });
  expect(await child.do("getState", { instanceId: "a" })).toMatchObject({ seq: 1, context: { sum: 0 } });
  startWorker(url, bound);
  await vi.waitFor(
    async () =>
      expect(await child.do("getState", { instanceId: "a" })).toMatchObject({ seq: 2, context: { sum: 1 } }),
    10_000,
  );
}, 60_000);

test.each([
  [
    "takes no writes (default_transaction_read_only)",
    "takes no writes",
    (database: string) => `ALTER DATABASE ${database} SET default_transaction_read_only = on`,
    (database: string) =>
      `SET TRANSACTION READ WRITE; ALTER DATABASE ${database} RESET default_transaction_read_only`,
  ],
  [
    "has a full disk (53100)",
    "has no room left",
    () => `CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$;
           CREATE TRIGGER full_disk BEFORE INSERT ON event_log FOR EACH STATEMENT EXECUTE FUNCTION disk_full()`,
    () => "DROP TRIGGER full_disk ON event_log",
  ],
])(
  "I9: a worker whose PostgreSQL %s says so, steps nothing by half, lives on, and goes on by itself",
  async (_what, says, hurt, heal) => {
    const at = await freshRuntime("postgresql");
    onEnd.push(() => at.end());
    await publish(at.runtime, "adder", adder);
    await at.runtime.startInstance(local, { chartId: "adder", id: "a" });
    await at.runtime.startInstance(local, { chartId: "adder", id: "b" });
    const { url } = at.database;
    const database = new URL(url).pathname.slice(1);
    // Whoever is connected keeps the setting that there was: this process does, the others' connections are made anew.
    const ours = await backends(url);
    const cut = async () => {
      const theirs = (await backends(url)).filter((pid) => !ours.includes(pid));
      await tamper(url, theirs.map((pid) => `SELECT pg_terminate_backend(${pid})`).join("; "));
    };
    const worker = startWorker(url);
    const child = await startChild(name, { url, workers: false });
    await vi.waitFor(async () => expect(await at.store.listWorkers(9)).toHaveLength(1), 15_000);
    worker.process.kill("SIGSTOP");
    await postMany(at.store, ["a", "b"], 3, "add", { n: 1 });
    await tamper(url, hurt(database));
    await cut();
    worker.process.kill("SIGCONT");
    const state = (instanceId: string) => at.runtime.getState(local, { instanceId });
    const add = { instanceId: "a", type: "add", data: { n: 1 }, idempotencyKey: "k" };
    // The first ones may meet a connection that was cut.
    await vi.waitFor(
      async () =>
        expect(await child.call("sendEvent", add)).toMatchObject({
          retry: "later",
          message: expect.stringContaining(says) as string,
        }),
      5_000,
    );
    await vi.waitFor(() => expect(worker.said()).toContain(says), 10_000);
    for (const id of ["a", "b"]) {
      expect(await state(id)).toMatchObject({ seq: 1, context: { sum: 0 }, hashMatches: true });
      expect(await at.store.countMailbox(id)).toBe(3);
    }
    expect(worker.process.exitCode).toBeNull();
    await expectIll(child, says);
    await tamper(url, heal(database));
    await cut();
    await vi.waitFor(async () => {
      expect(await state("a")).toMatchObject({ context: { sum: 3 } });
      expect(await state("b")).toMatchObject({ context: { sum: 3 } });
    }, 15_000);
    await vi.waitFor(async () => expect(await child.do("sendEvent", add)).toMatchObject({ seq: 5 }), 5_000);
    await expectWell(child);
    expect(worker.process.exitCode).toBeNull();
  },
  60_000,
);

async function backends(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    return rows.map(({ pid }) => pid);
  } finally {
    await client.end();
  }
}
