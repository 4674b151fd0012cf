import { expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { noWrites } from "@/lib/store/steps";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish } from "@/lib/testing/runtime";
import { Machines } from "../charts/machines";
import { deathsMax } from "../limits";
import { Caution } from "../operations/caution";
import type { RuntimeContext } from "../runtime-context";
import { stepSuspect } from "./step-suspect";

const chart: JsonObject = {
  lockstep: 1,
  initial: "off",
  settings: { errors: "stop" },
  states: {
    off: { on: { arm: "armed" } },
    armed: { after: { "300ms": "off" }, on: { break: { actions: { assign: { x: "1 / 0" } } } } },
  },
};

test.each(providers)(
  "%s: a timer that workers were lost at, of an instance that has failed since, is put away and troubles nobody",
  async (provider) => {
    const at = await freshRuntime(provider);
    const { store, runtime } = at;
    await publish(runtime, "sus", chart);
    await runtime.startInstance(local, { chartId: "sus", id: "s" });
    await runtime.sendEvent(local, { instanceId: "s", type: "arm" });
    await expect(runtime.sendEvent(local, { instanceId: "s", type: "break" })).rejects.toThrow("zero");
    // As when both are of one turn: what it arms comes after the parking.
    await store.transaction((tx) => tx.writeSteps({ ...noWrites(), unparked: ["s"] }));
    const { status, timers } = await runtime.getInstance(local, { instanceId: "s" });
    expect(status).toBe("failed");
    const item = `timer:${timers[0]?.id ?? ""}`;
    const suspect = { instanceId: "s", item, deaths: deathsMax, at: 0 };
    await store.transaction((tx) => tx.putSuspects([suspect]));
    const context = { store, machines: new Machines(store) } as unknown as RuntimeContext;
    const caution = new Caution(store, { workerId: "w", session: "w" });
    const runnable = async () => (await store.findRunnable(await store.now(), "")).found.map(({ id }) => id);
    await expect.poll(runnable).toEqual(["s"]);
    await stepSuspect(context, caution, suspect);
    expect(await runnable()).toEqual([]);
    expect((await runtime.getInstance(local, { instanceId: "s" })).status).toBe("failed");
    await at.end();
    expect(at.reported).toEqual([]);
  },
);
