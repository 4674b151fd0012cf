import { expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import { noWrites } from "@/lib/store/steps";
import type { WorkerRow } from "@/lib/store/workers";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, publish } from "@/lib/testing/runtime";
import { Machines } from "../charts/machines";
import { deathsMax, workerSilentMs } from "../limits";
import { Caution } from "../operations/caution";
import { mournWorkers } from "../operations/mourn-workers";
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

test.each(providers)(
  "I9: on %s, a timer that is armed anew when it fires is not blamed for a worker that ended after it had fired",
  async (provider) => {
    const at = await freshRuntime(provider);
    const { store, runtime } = at;
    await publish(runtime, "tick", {
      lockstep: 1,
      initial: "on",
      states: { on: { after: { "20ms": { target: "on", reenter: true } } } },
    });
    await runtime.startInstance(local, { chartId: "tick", id: "t" });
    const context = { store, machines: new Machines(store) } as unknown as RuntimeContext;
    const suspectNow = async () => {
      const [known] = await store.findSuspects(["t"]);
      return known ?? { instanceId: "t", item: "", deaths: 1, at: 0 };
    };
    const isDue = async () => (await store.findRunnable(await store.now(), "")).found.length > 0;
    const lose = async (workerId: string, work: (caution: Caution) => Promise<unknown>) => {
      await store.transaction(async (tx) => {
        const seenAt = (await tx.now()) - workerSilentMs - 1;
        await tx.putWorker({ ...stepper, id: workerId, startedAt: seenAt, seenAt }, workerSilentMs);
      });
      await expect.poll(isDue).toBe(true);
      await work(new Caution(store, { workerId, session: "s" }));
      await store.transaction(async (tx) => mournWorkers(tx, await tx.now()));
    };
    const fire = async (caution: Caution) => stepSuspect(context, caution, await suspectNow());
    const die = (caution: Caution) => expect(fire(dyingOnceNoted(caution))).rejects.toThrow("killed");
    await lose("w1", fire);
    for (let deaths = 1; deaths < deathsMax; deaths += 1) await lose(`w2.${deaths}`, die);
    const { seq } = await runtime.getInstance(local, { instanceId: "t" });
    await lose("w3", fire);
    const after = await runtime.getInstance(local, { instanceId: "t" });
    expect([after.status, after.seq]).toEqual(["running", seq + 1]);
    for (let deaths = 0; deaths < deathsMax; deaths += 1) await lose(`w4.${deaths}`, die);
    expect((await suspectNow()).deaths).toBe(deathsMax);
    await at.end();
    expect(at.reported).toEqual([]);
  },
);

function dyingOnceNoted(caution: Caution): Caution {
  const note = caution.note.bind(caution);
  caution.note = async (stepping) => {
    await note(stepping);
    throw new Error("killed");
  };
  return caution;
}

const stepper: Omit<WorkerRow, "id" | "startedAt" | "seenAt"> = {
  session: "s",
  kind: "runtime",
  types: "[]",
  slots: 1,
  running: 0,
  draining: 0,
  note: null,
  stepping: null,
  lostAt: null,
};
