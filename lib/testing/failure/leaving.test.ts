/** The product's own worker process told to stop; the live stream when its server is. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { streamChanges } from "@/lib/api/stream-changes";
import { runShutdown } from "@/lib/base/shutdown";
import type { JsonObject } from "@/lib/base/json";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

let at: TestRuntime;
let worker: ChildProcess | null = null;
beforeEach(async () => {
  at = await freshRuntime("sqlite");
});
afterEach(async () => {
  worker?.kill("SIGKILL");
  await at.end();
});

const calling = (url: string): JsonObject => ({
  lockstep: 1,
  initial: "calling",
  states: {
    calling: {
      invoke: { id: "call", src: "http", input: { url: `'${url}'` } },
      on: { "done.invoke.call": "done" },
    },
    done: {},
  },
});

test("SIGTERM: the worker hands back the HTTP call that doesn't end, claims no other, and exits within the grace time", async () => {
  execFileSync(process.execPath, [resolve("scripts/build-bin.mjs")]);
  let calls = 0;
  const slow = createServer(() => (calls += 1));
  await new Promise<void>((done) => slow.listen(0, "127.0.0.1", done));
  try {
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
    await publish(at.runtime, "calling", calling(url));
    await at.runtime.startInstance(local, { chartId: "calling", id: "first" });
    const env = {
      ...process.env,
      DATABASE_URL: at.database.url,
      LOCKSTEP_HTTP_ALLOW: "127.0.0.1",
      LOCKSTEP_SEEDS: "off",
    };
    worker = spawn(process.execPath, [resolve("dist/worker.js")], { env, stdio: "ignore" });
    const ended = new Promise((done) => worker?.once("exit", (code, signal) => done(code ?? signal)));
    await vi.waitFor(() => expect(calls).toBe(1), 15_000);
    const began = performance.now();
    worker.kill("SIGTERM");
    // It takes nothing new while it ends.
    await at.runtime.startInstance(local, { chartId: "calling", id: "second" });
    expect(await ended).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(calls).toBe(1);
    for (const instanceId of ["first", "second"]) {
      const { items } = await at.runtime.listTasks(local, { instanceId });
      expect(items).toMatchObject([{ status: "pending" }]);
    }
    expect(await at.store.listWorkers(9)).toEqual([]);
  } finally {
    slow.closeAllConnections();
    slow.close();
  }
}, 60_000);

test("SIGTERM: an open stream of changes ends when the process is told to stop", async () => {
  const response = await streamChanges(
    new Request("http://127.0.0.1/api/v1/changes", { headers: { host: "127.0.0.1" } }),
    () =>
      Promise.resolve({
        changesSince: () => Promise.resolve({ changes: [], resync: false }),
        subscribe: () => () => undefined,
      }),
  );
  expect(response.status).toBe(200);
  const read = response.text();
  await runShutdown((error) => at.reported.push(error));
  expect(await read).toContain("retry: 1000");
  expect(at.reported).toEqual([]);
});
