/** Locks whose callers are lost: killed while they wait, or cut off between the grant and its answer. */
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { createClient } from "@/lib/client/client";
import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { advance, providers } from "@/lib/testing/database";
import { serveHttp } from "@/lib/testing/http-server";
import { freshRuntime, local, type TestRuntime } from "@/lib/testing/runtime";
import { killChildren, startChild } from "./child";

const key = "zone-1";
let at: TestRuntime;
afterEach(async () => {
  await killChildren();
  await at.end();
  expect(at.reported).toEqual([]);
});
const typesOf = async () => (await at.store.listLockLog(key, null, 100)).map(({ type }) => type).reverse();

describe.each(providers)("on %s", (provider) => {
  test("a process killed while it waits at the head of the queue: the next has the lock within 1 s of its release, when the dead one was silent for 10 s", async () => {
    const { next } = await begin();
    // At the clock's new time whoever lives says that it waits.
    await advance(at.database.url, 11_000);
    await vi.waitFor(async () => {
      const [dead, alive] = await at.store.listWaiters(key);
      const now = await at.store.now();
      expect(alive?.heartbeatAt).toBeGreaterThan(now - 9_000);
      expect(dead?.heartbeatAt).toBeLessThan(now - 10_000);
    }, 8_000);
    const began = performance.now();
    await at.runtime.releaseLock(local, { key, session: "a", fence: 1 });
    expect(await next).toMatchObject({ result: "acquired", fence: 2 });
    expect(performance.now() - began).toBeLessThan(1_000);
    expect((await typesOf()).slice(-3)).toEqual(["RELEASED", "WAIT_TIMEOUT", "HANDOFF"]);
  }, 30_000);

  test("killed a moment before its turn it is granted the lock, and the next has it within 2 s of that lease's end", async () => {
    const { next } = await begin();
    const began = performance.now();
    await at.runtime.releaseLock(local, { key, session: "a", fence: 1 });
    expect(await next).toMatchObject({ result: "acquired", fence: 3 });
    const tookMs = performance.now() - began;
    expect(tookMs).toBeGreaterThan(ttlMs - 100);
    expect(tookMs).toBeLessThan(ttlMs + 2_000);
    expect((await typesOf()).slice(-4)).toEqual(["RELEASED", "HANDOFF", "EXPIRED", "HANDOFF"]);
  }, 30_000);

  const ttlMs = 2_000;
  /** `a` holds the lock, a process that is killed waits for it, and this one after it. */
  async function begin(): Promise<{ next: Promise<unknown> }> {
    at = await freshRuntime(provider);
    at.runtime.startWorkers();
    await at.runtime.acquireLock(local, { key, session: "a", holder: "a", ttlMs: 60_000 });
    const child = await startChild("locks", { url: at.database.url, workers: false });
    const dead = child.call("acquireLock", { key, session: "b", holder: "b", ttlMs, waitMs: 60_000 });
    const queued = (count: number) =>
      vi.waitFor(async () => expect(await at.store.listWaiters(key)).toHaveLength(count), 5_000);
    await queued(1);
    const next = at.runtime.acquireLock(local, { key, session: "c", holder: "c", waitMs: 60_000 });
    await queued(2);
    child.kill("SIGKILL");
    expect(await dead).toBeNull();
    return { next };
  }

  test("I4: the answer to an acquire is cut off on its socket after the COMMIT: repeated with its key it is the same fence, granted once", async () => {
    at = await freshRuntime(provider);
    const server = await serveHttp((request, path) =>
      handle(request, path, () => Promise.resolve(at.runtime)),
    );
    const proxy = await cutting(Number(new URL(server.baseUrl).port), () => true);
    try {
      const ask = (port: number) =>
        createClient({ baseUrl: `http://127.0.0.1:${port}` }).acquireLock(
          { key, session: "s", holder: "h", ttlMs: 60_000 },
          { idempotencyKey: "once" },
        );
      await expect(ask(proxy.port)).rejects.toMatchObject({ code: "outcome-unknown" });
      expect(proxy.cuts()).toBeGreaterThan(0);
      expect(await at.runtime.getLock(local, { key })).toMatchObject({ status: "held", fence: 1 });
      const again = await ask(Number(new URL(server.baseUrl).port));
      expect(again).toMatchObject({ result: "acquired", fence: 1, replayed: true, valid: true });
      expect((await typesOf()).filter((type) => type === "ACQUIRED")).toHaveLength(1);
    } finally {
      await proxy.close();
      await server.close();
    }
  });
});

// On PostgreSQL connections are cut before each statement: runtime/locks/lock-cases.test.
test.each(
  (["acquire", "renew", "release", "force-release"] as const).flatMap((verb) =>
    (["within", "before-commit", "after-commit"] as const).map((place) => [verb, place] as const),
  ),
)(
  "I9: on sqlite, %s in a process killed %s is repeated with its key and has happened once",
  async (verb, place) => {
    at = await freshRuntime("sqlite");
    const mine = { key, session: "a", idempotencyKey: "once" };
    if (verb !== "acquire") await at.runtime.acquireLock(local, { key, session: "a", holder: "h" });
    const child = await startChild("locks", {
      url: at.database.url,
      workers: false,
      killIn: { place, n: 1 },
    });
    const force = { key, expectedFence: 1, reason: "test", idempotencyKey: "once" };
    const fenced = { ...mine, fence: 1 };
    switch (verb) {
      case "acquire":
        expect(await child.call("acquireLock", { ...mine, holder: "h" })).toBeNull();
        expect(await at.runtime.acquireLock(local, { ...mine, holder: "h" })).toMatchObject({ fence: 1 });
        break;
      case "renew":
        expect(await child.call("renewLock", fenced)).toBeNull();
        expect(await at.runtime.renewLock(local, fenced)).toMatchObject({ fence: 1 });
        break;
      case "release":
        expect(await child.call("releaseLock", fenced)).toBeNull();
        expect(await at.runtime.releaseLock(local, fenced)).toMatchObject({ result: "released" });
        break;
      case "force-release":
        expect(await child.call("forceReleaseLock", force)).toBeNull();
        expect(await at.runtime.forceReleaseLock(local, force)).toMatchObject({ fence: 2 });
        break;
    }
    const written = {
      acquire: "ACQUIRED",
      renew: "RENEWED",
      release: "RELEASED",
      "force-release": "FORCE_RELEASED",
    };
    expect((await typesOf()).filter((type) => type === written[verb])).toHaveLength(1);
  },
);

test("I4: on postgresql, the database's own answer to COMMIT is cut off: the caller hears outcome-unknown, its repeat the same fence", async () => {
  at = await freshRuntime("postgresql");
  const real = new URL(at.database.url);
  let cutsNow = false;
  const proxy = await cutting(Number(real.port), (said) => cutsNow && said.includes("COMMIT\0"));
  const through = new URL(real);
  through.port = String(proxy.port);
  const store = await openSqlStore({ url: through.href, connections: 2 });
  const runtime = createRuntime({ store, report: (error) => at.reported.push(error) });
  try {
    const call = { key, session: "s", holder: "h", ttlMs: 60_000, idempotencyKey: "once" };
    await runtime.getHealth(local, {});
    cutsNow = true;
    await expect(runtime.acquireLock(local, call)).rejects.toMatchObject({
      code: "outcome-unknown",
      retry: "later",
    });
    expect(proxy.cuts()).toBe(1);
    cutsNow = false;
    expect(await runtime.acquireLock(local, call)).toMatchObject({
      result: "acquired",
      fence: 1,
      replayed: true,
      valid: true,
    });
    expect((await typesOf()).filter((type) => type === "ACQUIRED")).toHaveLength(1);
  } finally {
    await runtime.close();
    await proxy.close();
  }
});

/** A way to a port on this machine, cut off at what `at` says of the server's words; these are not passed on. */
async function cutting(
  port: number,
  at: (said: string) => boolean,
): Promise<{ port: number; cuts: () => number; close: () => Promise<void> }> {
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on("data", (data) => {
      if (!at(data.toString("latin1"))) return void near.write(data);
      cuts += 1;
      near.destroy();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
