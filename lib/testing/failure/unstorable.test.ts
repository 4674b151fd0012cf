import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { postMany } from "./post-many";

/** Sends to whom the data names, at once or from a timer; counts. */
const to = (cel: string) => ({ actions: { send: { to: { cel }, type: "hello" } } });
const chart: JsonObject = {
  lockstep: 1,
  context: { v: "", count: 0 },
  initial: "on",
  states: {
    on: {
      on: {
        go: to("'instance:' + event.v"),
        add: { actions: { assign: { count: "context.count + 1" } } },
        arm: { target: "armed", actions: { assign: { v: "event.v" } } },
      },
    },
    armed: { after: { "50ms": { target: "on", ...to("'instance:' + context.v") } } },
  },
};
const bad = ["a\u0000", "a\ud800"];

let at: TestRuntime;
afterEach(() => at.end());

test.each(providers.flatMap((provider) => bad.map((v) => [provider, JSON.stringify(v), v] as const)))(
  "on %s, a message whose step can't be stored (%s) fails alone: others' messages and timers go on",
  async (provider, _shown, v) => {
    at = await freshRuntime(provider);
    const { runtime, store } = at;
    await publish(runtime, "c", chart);
    for (const id of ["bad", "late", "good"]) await runtime.startInstance(local, { chartId: "c", id });
    await expect(
      runtime.sendEvent(local, { instanceId: "bad", type: "go", data: { v } }),
    ).rejects.toMatchObject({ code: "step-failed", details: { code: "unstorable-text" } });
    // Several in one transaction, the bad ones among them.
    await postMany(store, ["bad", "good"], 1, "add", {});
    await postMany(store, ["bad"], 1, "go", { v });
    await postMany(store, ["bad", "good"], 1, "add", {});
    await runtime.sendEvent(local, { instanceId: "late", type: "arm", data: { v } });
    await runtime.sendEvent(local, { instanceId: "good", type: "arm", data: { v: "late" } });
    runtime.startWorkers();
    const states = async () =>
      Promise.all(
        ["bad", "late", "good"].map(async (instanceId) => {
          const { configuration, context, pending } = await runtime.getInstance(local, { instanceId });
          return { configuration, count: (context as JsonObject).count, pending };
        }),
      );
    const on = { configuration: ["on"], pending: 0 };
    await expect.poll(states, { timeout: 10_000 }).toEqual([
      { ...on, count: 2 },
      { configuration: ["armed"], count: 0, pending: 0 },
      { ...on, count: 2 },
    ]);
    const { items } = await runtime.listDeadLetters(local, { instanceId: "bad" });
    expect(items.map(({ reason }) => reason)).toEqual(["step-failed", "step-failed"]);
    expect(at.reported).toEqual([]);
  },
);
