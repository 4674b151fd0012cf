/**
 * Locks through the client against a real server on a real store, over HTTP.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { handle } from "@/lib/api/handle";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { createClient, type Client } from "./client";
import { withLock } from "./with-lock";

let at: TestRuntime;
let server: TestServer;
let client: Client;
/** What the connection loses: renewals before they reach the server, the next grant's answer. */
let losing: { renewals: boolean; grant: boolean };
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  losing = { renewals: false, grant: false };
  client = createClient({
    baseUrl: server.baseUrl,
    fetch: async (url, init) => {
      if ((url as string).endsWith("/renew") && losing.renewals) throw new TypeError("fetch failed");
      const answer = await fetch(url, init);
      if (!(url as string).endsWith("/acquire") || !losing.grant) return answer;
      losing.grant = false;
      throw new TypeError("fetch failed");
    },
  });
  at.runtime.startWorkers();
  await publish(at.runtime, "counter", counter);
  await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
});
afterEach(async () => {
  await server.close();
  await at.end();
  expect(at.reported).toEqual([]);
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const lock = () => client.getLock({ key: "zone" });

test("of many one at a time works under a lock, longer than its lease, and it is free afterwards", async () => {
  const order: string[] = [];
  const work = (name: string) =>
    withLock(client, "zone", { ttlMs: 1_000, holder: name }, async ({ proof, fence, signal }) => {
      // However long it stood in line.
      expect(signal.aborted).toBe(false);
      order.push(name);
      await pause(name === "a" ? 2_500 : 50);
      await client.sendEvent({ instanceId: "c", type: "add", fences: [proof] });
      expect(await lock()).toMatchObject({ holder: name, fence });
      order.push(name);
    });
  const first = work("a");
  await expect.poll(() => order).toEqual(["a"]);
  await Promise.all([first, work("b"), work("c")]);
  expect(order.map((name, place) => name === order[place ^ 1])).toEqual(Array(6).fill(true));
  expect(await lock()).toMatchObject({ status: "free", fence: 3 });
  expect(await client.getInstance({ instanceId: "c" })).toMatchObject({ context: { count: 3 } });
});

test("a grant whose answer is lost is got again; what the work throws is thrown, and the lock is free", async () => {
  losing.grant = true;
  const failing = withLock(client, "zone", { ttlMs: 30_000 }, () => Promise.reject(new Error("broken")));
  await expect(failing).rejects.toThrow("broken");
  expect(await lock()).toMatchObject({ status: "free", fence: 1 });
});

test("busy for longer than it would wait is lock-busy, with the holder", async () => {
  await client.acquireLock({ key: "zone", session: "s", holder: "agv-1", ttlMs: 60_000 });
  const never = withLock(client, "zone", { waitMs: 0 }, () => Promise.reject(new Error("never run")));
  await expect(never).rejects.toMatchObject({ code: "lock-busy", details: { holder: "agv-1" } });
});

test("of several locks at once all are had, longer than their leases, or none; all are free afterwards", async () => {
  const order: string[] = [];
  const work = (name: string, keys: string[]) =>
    withLock(client, keys, { ttlMs: 1_000, holder: name }, async ({ proofs, signal }) => {
      order.push(name);
      await pause(name === "a" ? 1_500 : 20);
      expect(proofs.map(({ key }) => key)).toEqual([...keys].sort());
      await client.sendEvent({ instanceId: "c", type: "add", fences: [...proofs] });
      expect(signal.aborted).toBe(false);
      order.push(name);
    });
  const first = work("a", ["zone", "dock"]);
  await expect.poll(() => order).toEqual(["a"]);
  const never = withLock(client, ["bay", "dock"], { waitMs: 0 }, () =>
    Promise.reject(new Error("never run")),
  );
  await expect(never).rejects.toMatchObject({ code: "lock-busy", details: { key: "dock", holder: "a" } });
  expect(await client.getLock({ key: "bay" })).toMatchObject({ status: "free", fence: 0 });
  losing.grant = true;
  await Promise.all([first, work("b", ["dock", "zone"]), work("c", ["zone", "bay"])]);
  expect(order.map((name, place) => name === order[place ^ 1])).toEqual(Array(6).fill(true));
  expect(await lock()).toMatchObject({ status: "free", fence: 3 });
});

test("work that goes on beyond its longest hold hears that the lock is lost, in time; who asks next waits for the cooling", async () => {
  const heard: string[] = [];
  const onLost = ({ code }: { code: string }) => void heard.push(code);
  const began = performance.now();
  await withLock(
    client,
    "zone",
    { ttlMs: 1_000, holdMaxMs: 1_600, coolMs: 60_000, onLost },
    async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      expect(performance.now() - began).toBeGreaterThan(1_000);
      expect(performance.now() - began).toBeLessThan(2_500);
    },
  );
  expect(heard).toEqual(["lock-lost"]);
  const next = withLock(client, "zone", { waitMs: 0 }, () => Promise.reject(new Error("never run")));
  await expect(next).rejects.toThrow("cools down");
});

test("I3: who can't renew hears of it when the lease is over, not before, and its proof is refused", async () => {
  const heard: string[] = [];
  const onLost = ({ code }: { code: string }) => void heard.push(code);
  const began = performance.now();
  await withLock(client, "zone", { ttlMs: 1_500, onLost }, async ({ proof, signal }) => {
    losing.renewals = true;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    expect(performance.now() - began).toBeGreaterThan(1_400);
    await pause(300);
    const late = client.sendEvent({ instanceId: "c", type: "add", fences: [proof] });
    await expect(late).rejects.toMatchObject({ code: "stale-fence" });
  });
  expect(heard).toEqual(["lock-lost"]);
});
