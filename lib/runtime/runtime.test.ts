import { afterEach, describe, expect, test } from "vitest";
import { providers } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

describe.each(providers)("on %s", (provider) => {
  let at: TestRuntime;
  afterEach(() => at.end());

  test("a chart is made, published, started, sent events, read and rewound", async () => {
    at = await freshRuntime(provider);
    const { runtime } = at;
    await publish(runtime, "counter", counter);
    const started = await runtime.startInstance(local, { chartId: "counter", id: "c1", labels: { a: "b" } });
    expect(started).toMatchObject({
      id: "c1",
      seq: 1,
      status: "running",
      configuration: ["counting"],
      context: { count: 0 },
    });
    const sent = await runtime.sendEvent(local, { instanceId: "c1", type: "add" });
    expect(sent).toMatchObject({ state: "applied", seq: 2, outcome: "handled", pending: 0, replayed: false });
    const ignored = await runtime.sendEvent(local, { instanceId: "c1", type: "never" });
    expect(ignored).toMatchObject({ seq: 3, outcome: "ignored", reason: "guards-false" });
    await runtime.sendEvent(local, { instanceId: "c1", type: "finish" });
    await expect(runtime.sendEvent(local, { instanceId: "c1", type: "add" })).rejects.toMatchObject({
      code: "instance-ended",
    });
    for (const seq of [1, 2, 3, 4]) {
      expect(await runtime.getState(local, { instanceId: "c1", seq })).toMatchObject({
        seq,
        hashMatches: true,
      });
    }
    const log = await runtime.getLog(local, { instanceId: "c1" });
    expect(log.items.map((entry) => [entry.seq, entry.type, entry.outcome])).toEqual([
      [4, "finish", "moved"],
      [3, "never", "ignored"],
      [2, "add", "handled"],
      [1, "start", "moved"],
    ]);
    const detail = await runtime.getLogEntry(local, { instanceId: "c1", seq: 3 });
    expect(detail.microsteps[0]?.candidates[0]).toMatchObject({
      guard: "context.count < 0",
      verdict: "false",
    });
    expect(at.reported).toEqual([]);
  });
});
