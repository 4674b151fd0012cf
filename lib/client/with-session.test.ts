/**
 * Sessions through the client against a real server on a real store, over HTTP.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { handle } from "@/lib/api/handle";
import { advance } from "@/lib/testing/database";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { createClient, type Client } from "./client";
import { withSession } from "./with-session";

let at: TestRuntime;
let server: TestServer;
let client: Client;
/** Renewals that the connection loses before they reach the server. */
let losing: number;
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  losing = 0;
  client = createClient({
    baseUrl: server.baseUrl,
    fetch: (url, init) => {
      if ((url as string).endsWith("/renew") && losing > 0) {
        losing -= 1;
        return Promise.reject(new TypeError("fetch failed"));
      }
      return fetch(url, init);
    },
  });
  await publish(at.runtime, "counter", counter);
  await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
});
afterEach(async () => {
  await server.close();
  await at.end();
  expect(at.reported).toEqual([]);
});

test("I1: two who work in sessions never come between each other", async () => {
  const order: string[] = [];
  const work = (name: string) =>
    withSession(
      client,
      "c",
      { ttlMs: 2_000, waitMs: 20_000, holder: name },
      async ({ send, sendAll, seq }) => {
        order.push(name);
        const first = await send("add");
        expect(first.seq).toBe(seq + 1);
        await new Promise((resolve) => setTimeout(resolve, 150));
        expect(await sendAll([{ type: "add" }, { type: "add" }])).toMatchObject({ seq: seq + 3 });
        order.push(name);
      },
    );
  await Promise.all([work("a"), work("b"), work("c")]);
  expect(order[0]).toBe(order[1]);
  expect(order[2]).toBe(order[3]);
  expect(await client.getInstance({ instanceId: "c" })).toMatchObject({ seq: 10, session: null });
});

test("a renewal that fails once and then succeeds loses nothing", async () => {
  losing = 1;
  const lost: string[] = [];
  const options = { ttlMs: 1_000, renewEveryMs: 200, onLost: () => lost.push("lost") };
  await withSession(client, "c", options, async ({ send, signal }) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(signal.aborted).toBe(false);
    await send("add");
  });
  expect(losing).toBe(0);
  expect(lost).toEqual([]);
});

test("I3: a session lost under way aborts its work, says so once, and its sends change nothing", async () => {
  const lost: string[] = [];
  const options = {
    ttlMs: 2_000,
    renewEveryMs: 100,
    onLost: ({ code }: { code: string }) => lost.push(code),
  };
  const work = withSession(client, "c", options, async ({ send, signal }) => {
    await at.runtime.suspendInstance(local, { instanceId: "c", reason: "stop" });
    await at.runtime.resumeInstance(local, { instanceId: "c", reason: "go" });
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await send("add");
  });
  await expect(work).rejects.toMatchObject({ code: "lease-lost" });
  expect(lost).toEqual(["lease-lost"]);
  expect((await client.getInstance({ instanceId: "c" })).context).toEqual({ count: 0 });
});

test("no renewal comes through: the session is given up by the worker's own count of time", async () => {
  losing = 1_000;
  const lost: string[] = [];
  const options = {
    ttlMs: 1_000,
    renewEveryMs: 100,
    onLost: ({ code }: { code: string }) => lost.push(code),
  };
  await withSession(client, "c", options, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  expect(lost).toEqual(["lease-lost"]);
  await advance(at.database.url, 5_000);
  expect(await client.sendEvent({ instanceId: "c", type: "add" })).toMatchObject({ state: "applied" });
});
