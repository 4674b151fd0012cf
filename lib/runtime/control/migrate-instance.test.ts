import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";

const first: JsonObject = {
  lockstep: 1,
  initial: "Paid",
  states: { Paid: { on: { go: "Sent" } }, Sent: {} },
};
const second: JsonObject = { lockstep: 1, initial: "Settled", states: { Settled: {}, Sent: {} } };

describe.each(providers)("a mapping on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });

  test("a name that is no state of its version is refused with the near one, in the dry run as in the deed, and nothing changes", async () => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "job", first);
    await at.runtime.startInstance(local, { chartId: "job", id: "a" });
    await at.runtime.sendEvent(local, { instanceId: "a", type: "go" });
    await publishNext(at.runtime, "job", second);
    const call = { instanceId: "a", version: 2, reason: "moved" };
    const refusal = {
      code: "bad-request",
      message:
        "mapping: version 1 has no state Piad (did you mean Paid?); version 2 has no state Setled (did you mean Settled?); version 2 has no state Nowhere.",
      details: {
        field: "mapping",
        unknown: [
          { state: "Piad", near: "Paid" },
          { state: "Setled", near: "Settled" },
          { state: "Nowhere", near: null },
        ],
      },
    };
    const mapping = { Piad: "Setled", Paid: "Nowhere" };
    for (const dryRun of [true, false])
      await expect(at.runtime.migrateInstance(local, { ...call, mapping, dryRun })).rejects.toMatchObject(
        refusal,
      );
    // A state of the other version is none of this one's.
    await expect(
      at.runtime.migrateInstance(local, { ...call, mapping: { Settled: "Sent" }, dryRun: true }),
    ).rejects.toMatchObject({ code: "bad-request" });
    expect(await at.runtime.getInstance(local, { instanceId: "a" })).toMatchObject({ version: 1, seq: 2 });
    const good = { ...call, mapping: { Paid: "Settled" }, idempotencyKey: "k" };
    expect(await at.runtime.migrateInstance(local, good)).toMatchObject({ changed: true, version: 2 });
    // I4: its names are of the version it came from, also when it is there.
    expect(await at.runtime.migrateInstance(local, good)).toMatchObject({ replayed: true, seq: 3 });
  });
});
