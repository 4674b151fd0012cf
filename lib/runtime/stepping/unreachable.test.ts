/**
 * The same chart in memory and durably: what is sent to nobody comes back as the same message.
 */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { Session } from "@/lib/play/session";
import { compile } from "@/lib/statechart/compile";
import type { Chart } from "@/lib/statechart/document";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

const chart = {
  lockstep: 1,
  context: { heard: [], after: 0 },
  on: {
    call: {
      actions: [
        { send: { to: { cel: "event.to" }, type: "hello", id: "m1" } },
        { assign: { after: "size(context.heard)" } },
      ],
    },
    "error.communication": {
      actions: {
        assign: {
          heard: "context.heard + [[event.code, event.message, event.to, event.data.type, _event.sendid]]",
        },
      },
    },
  },
} as const;

const addresses = ["instance:nobody", "#_scxml_nobody", "#_parent", "#_noWork"];

function inMemory(): JsonObject {
  const session = new Session(compile(chart as unknown as Chart), { id: "u1" });
  let { context } = session.start();
  for (const to of addresses) context = session.send("call", { to }).context;
  return context as JsonObject;
}

describe.each(providers)("a send to nobody on %s", (provider) => {
  let at: TestRuntime;
  afterEach(() => at.end());

  test("comes back as the same message as in memory, behind the step that sent it", async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "u", chart as unknown as JsonObject);
    await at.runtime.startInstance(local, { chartId: "u", id: "u1" });
    at.runtime.startWorkers();
    const heard = async (): Promise<JsonObject> =>
      (await at.runtime.getInstance(local, { instanceId: "u1" })).context as JsonObject;
    for (const [index, to] of addresses.entries()) {
      await at.runtime.sendEvent(local, { instanceId: "u1", type: "call", data: { to } });
      await vi.waitFor(async () => expect((await heard()).heard).toHaveLength(index + 1), 5_000);
    }
    const { log: _log, ...expected } = inMemory();
    expect(await heard()).toEqual(expected);
    expect(expected).toMatchObject({
      after: 3,
      heard: [["unreachable", expect.any(String), addresses[0], "hello", "m1"], {}, {}, {}],
    });
  });
});
