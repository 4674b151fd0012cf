/**
 * examples/warehouse, killed at every commit: whatever happens to the worker, the order and the warehouse end the same.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { must } from "@/lib/base/assert";
import type { JsonObject } from "@/lib/base/json";
import { docBlocks } from "@/lib/testing/doc-blocks";
import { serveHttp } from "@/lib/testing/http-server";
import { advance, type Provider } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { killChildren, startChild } from "./child";
import { runTasks, type TaskModule } from "./run-tasks";
import type { Wounds } from "./wounds";

const tasks = resolve("examples/warehouse/tasks.mjs");
const chart = JSON.parse(readFileSync("examples/warehouse/fulfil.json", "utf8")) as JsonObject;
const folder = mkdtempSync(join(tmpdir(), "lockstep-warehouse-"));
const file = join(folder, "warehouse.json");
process.env["WAREHOUSE"] = file;

/** The zone is taken: the order is reserved, charged and booked, and all of that undone. */
const warehouse = {
  stock: { pallet: 10 },
  robots: { "AGV-1": null, "AGV-2": null },
  zones: { B7: "order-0" },
  bank: "open",
  orders: {},
};
const input = (order: string) => ({ order, sku: "pallet", quantity: 2, amount: 40, zone: "B7" });
const setWarehouse = (over: object = {}) => writeFileSync(file, JSON.stringify({ ...warehouse, ...over }));
const theWarehouse = () => JSON.parse(readFileSync(file, "utf8")) as JsonObject & { orders: JsonObject };

let at: TestRuntime;
let background: ChildProcess | null = null;
afterEach(async () => {
  if (background?.pid !== undefined) process.kill(-background.pid, "SIGKILL");
  background = null;
  await killChildren();
  await at.end();
});
const begin = async (provider: Provider) => {
  at = await freshRuntime(provider);
  await publish(at.runtime, "fulfil", chart);
  setWarehouse();
};
const get = (instanceId: string) => at.runtime.getInstance(local, { instanceId });
const start = (id: string) => at.runtime.startInstance(local, { chartId: "fulfil", id, input: input(id) });

/** Runs the order to its end in a process of ours, which nobody kills. */
async function finish(instanceId: string): Promise<void> {
  await advance(at.database.url, 61_000);
  const { runtime } = await at.again();
  runtime.startWorkers();
  const working = runTasks(runtime, (await import(tasks)) as TaskModule);
  await vi.waitFor(async () => expect((await get(instanceId)).status).toBe("completed"), 15_000);
  await runtime.close();
  await working;
}

/** Without the attempts, which differ, and without the undoing of what failed behind an attempt that was lost: that may have done it. */
async function endOf(instanceId: string): Promise<object> {
  const { status, configuration, context } = await get(instanceId);
  const { items } = await at.runtime.getLog(local, { instanceId });
  const state = await at.runtime.getState(local, { instanceId });
  const all = (await at.runtime.listTasks(local, { instanceId })).items;
  const failed = new Set(
    all.flatMap(({ taskId, status }) => (status === "failed" ? [`undo:${taskId}`] : [])),
  );
  const done = all.filter(({ taskId }) => !failed.has(taskId));
  return {
    status,
    configuration,
    context,
    log: items.map(({ kind, type, outcome }) => `${kind} ${type} ${outcome}`),
    tasks: done.map((task) => `${task.taskId} ${task.status}`).sort(),
    hashMatches: state.hashMatches,
    warehouse: { ...theWarehouse(), orders: theWarehouse().orders[instanceId] },
  };
}

/** Kills the worker at its first writing transaction, at its second, …; how many there are. */
async function killEverywhere(
  place: NonNullable<Wounds["killIn"]>["place"],
  first: number,
  every: number,
): Promise<number> {
  await start("whole");
  await finish("whole");
  const expected = await endOf("whole");
  expect(expected).toMatchObject({ configuration: ["Withdrawn"], warehouse: { ...warehouse, orders: {} } });
  for (let n = first; ; n += every) {
    const id = `${place}-${n}`;
    await start(id);
    const child = await startChild("saga", { url: at.database.url, tasks, killIn: { place, n } });
    const ended = vi
      .waitUntil(async () => (await get(id)).status === "completed", { timeout: 20_000, interval: 50 })
      .then(() => "lives");
    const how = await Promise.race([child.ended, ended]);
    ended.catch(() => undefined);
    if (how === "lives") {
      child.kill("SIGKILL");
      await child.ended;
      expect(await endOf(id)).toEqual(expected);
      return n - 1;
    }
    expect(how).toBe("SIGKILL");
    await finish(id);
    expect(await endOf(id), id).toEqual(expected);
  }
}

const atLength = process.env["LOCKSTEP_FAILURES"] === "long";

/** Every fourth or sixth boundary; at length each, at three places, on both. */
test.each([
  ["sqlite", "before-commit", 1, atLength ? 1 : 4],
  ["postgresql", "before-commit", atLength ? 1 : 2, atLength ? 1 : 6],
  ...(atLength
    ? ([
        ["sqlite", "within", 1, 1],
        ["sqlite", "after-commit", 1, 1],
        ["postgresql", "within", 1, 1],
        ["postgresql", "after-commit", 1, 1],
      ] as const)
    : []),
] as const)(
  "I9: on %s, a worker killed %s at each of a saga's transactions (from %i, every %i.) leaves the same order and the same warehouse",
  async (provider, place, first, every) => {
    await begin(provider);
    expect(await killEverywhere(place, first, every)).toBeGreaterThan(18);
    expect(at.reported).toEqual([]);
  },
  300_000,
);

test.each(["sqlite", "postgresql"] as const)(
  "I9: on %s, an undoing that has used up its attempts leaves the order stuck, seen in the list with the reason; what could be undone later still is",
  async (provider) => {
    await begin(provider);
    setWarehouse({ bank: "closed" });
    await start("o");
    const child = await startChild("saga", { url: at.database.url, tasks });
    await vi.waitFor(async () => expect((await get("o")).status).toBe("stuck"), 15_000);
    child.kill("SIGTERM");
    const { items } = await at.runtime.listInstances(local, { status: "stuck" });
    const message = "what charge did could not be undone: the bank takes no refunds";
    expect(items).toMatchObject([{ id: "o", error: { code: "compensation-failed", message } }]);
    expect(await get("o")).toMatchObject({ error: { message } });
    expect(theWarehouse()).toMatchObject({
      orders: { o: { charged: 40, reserved: { quantity: 2 } } },
      robots: { "AGV-1": null },
    });
  },
  40_000,
);

test("a task that is about no order is refused, whatever chart asks for it", async () => {
  await begin("sqlite");
  for (const input of [{ seconds: 1 }, null]) {
    for (const [name, task] of Object.entries((await import(tasks)) as TaskModule))
      expect(() => task(input), name).toThrow("names no order");
  }
  expect(theWarehouse()).toMatchObject({ orders: {} });
});

const groupOf = (child: ChildProcess | null): number => must(child?.pid, "a started process has a pid");

test("the example's README does what it says", async () => {
  at = await freshRuntime("sqlite");
  at.runtime.startWorkers();
  const server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  const ledger = join(folder, "readme.json");
  try {
    const [block] = docBlocks("examples/warehouse/README.md", "sh");
    const script = (block ?? "")
      .replaceAll("http://127.0.0.1:3000", server.baseUrl)
      .replaceAll("npx lockstep", `node ${resolve("dist/lockstep.js")}`)
      .replaceAll("/tmp/warehouse.json", ledger);
    background = spawn("bash", ["-e", "-c", script], { detached: true, stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise((done) => background?.once("exit", done));
    let said = "";
    background.stderr?.on("data", (text: Buffer) => (said += text.toString()));
    await vi.waitFor(
      async () => {
        expect((await get("order-7")).configuration).toEqual(["Shipped"]);
        expect((await get("order-8")).configuration).toEqual(["Withdrawn"]);
      },
      { timeout: 20_000, interval: 100 },
    );
    expect(said).toBe("shipPallet order-8:1:ship, attempt 1: failed: order-7 stands in zone B7\n");
    expect(JSON.parse(readFileSync(ledger, "utf8"))).toMatchObject({
      stock: { pallet: 8 },
      zones: { B7: "order-7" },
      orders: { "order-7": { charged: 40 }, "order-8": {} },
    });
    // The last of the commands stops the worker.
    expect(await ended).toBe(0);
    await vi.waitFor(() => expect(() => process.kill(-groupOf(background), 0)).toThrow("ESRCH"), 15_000);
    background = null;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 40_000);
