import { afterEach, describe, expect, test, vi } from "vitest";
import { localActor } from "@/lib/access/actor";
import type { JsonObject } from "@/lib/base/json";
import { advance, providers } from "@/lib/testing/database";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

const asking = (more: JsonObject = {}): JsonObject => ({
  lockstep: 1,
  context: { answer: null },
  initial: "asking",
  states: {
    asking: {
      invoke: {
        id: "ask",
        src: "human",
        input: {
          title: "'May it leave?'",
          form: { properties: { ok: { type: "'boolean'" }, note: { type: "'string'" } }, required: ["'ok'"] },
        },
        ...more,
      },
      on: {
        "done.invoke.ask": { target: "answered", actions: { assign: { answer: "event.data" } } },
        "error.invoke.ask": { target: "refused", actions: { assign: { answer: "event.data" } } },
        leave: "aside",
      },
    },
    answered: {},
    refused: {},
    aside: {},
  },
});
const ann = { ...localActor, id: "ann" };
const bob = { ...localActor, id: "bob" };
const key = { instanceId: "a", taskId: "1:ask" };

describe.each(providers)("human tasks on %s", (provider) => {
  let at: TestRuntime;
  afterEach(async () => {
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const begin = async (more?: JsonObject) => {
    at = await freshRuntime(provider);
    await publish(at.runtime, "gate", asking(more));
    await at.runtime.startInstance(local, { chartId: "gate", id: "a" });
    at.runtime.startWorkers();
  };
  const open = async () => (await at.runtime.listOpenTasks(local, { kind: "human" })).items;
  const becomes = (name: string) =>
    vi.waitFor(async () => {
      const { configuration } = await at.runtime.getInstance(local, { instanceId: "a" });
      expect(configuration).toEqual([name]);
    }, 5_000);
  const answer = async () => (await at.runtime.getInstance(local, { instanceId: "a" })).context;
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => "none",
      (error: { code?: string }) => error.code,
    );

  test("I2: a person's answer moves the chart; the form is checked; the same answer again changes nothing", async () => {
    await begin();
    expect(await open()).toMatchObject([{ ...key, kind: "human", waits: { for: "person" }, dueAt: null }]);
    expect(await code(at.runtime.answerTask(ann, { ...key, output: { ok: "yes" } }))).toBe("bad-request");
    expect(await open()).toHaveLength(1);
    const output = { ok: true, note: "gate 4" };
    expect(await at.runtime.answerTask(ann, { ...key, output })).toEqual({
      status: "succeeded",
      replayed: false,
    });
    await becomes("answered");
    expect(await answer()).toEqual({ answer: output });
    expect(await at.runtime.answerTask(ann, { ...key, output })).toMatchObject({ replayed: true });
    expect(await code(at.runtime.answerTask(bob, { ...key, output: { ok: false } }))).toBe("wrong-status");
    expect(await open()).toEqual([]);
    const [entry] = (await at.runtime.getLog(local, { instanceId: "a" })).items;
    expect(entry).toMatchObject({ kind: "task-answer", actor: "ann" });
  });

  test("I3: what one has taken another can't answer, unless they take it over", async () => {
    await begin();
    expect(await at.runtime.takeTask(ann, { ...key, how: "take" })).toMatchObject({ worker: "ann" });
    expect(await open()).toMatchObject([{ status: "running", worker: "ann" }]);
    expect(await code(at.runtime.takeTask(bob, { ...key, how: "take" }))).toBe("wrong-status");
    expect(await code(at.runtime.answerTask(bob, { ...key, output: { ok: true } }))).toBe("wrong-status");
    await at.runtime.takeTask(bob, { ...key, how: "take-over" });
    expect(await at.runtime.takeTask(bob, { ...key, how: "give-back" })).toMatchObject({ status: "pending" });
    await at.runtime.answerTask(ann, { ...key, refusal: "the gate is broken" });
    await becomes("refused");
    expect(await answer()).toEqual({ answer: { code: "refused", message: "the gate is broken" } });
  });

  test("I6: a task whose state was left is nobody's any more; one that is not answered in time is an error", async () => {
    await begin({ timeout: "1h" });
    await at.runtime.sendEvent(local, { instanceId: "a", type: "leave" });
    expect(await open()).toEqual([]);
    expect(await code(at.runtime.answerTask(ann, { ...key, output: { ok: true } }))).toBe("wrong-status");
    await at.runtime.deleteInstance(local, { instanceId: "a" });
    await at.runtime.startInstance(local, { chartId: "gate", id: "a" });
    const [task] = await open();
    expect((task?.dueAt ?? 0) - (task?.createdAt ?? 0)).toBe(3_600_000);
    await at.runtime.takeTask(ann, { ...key, how: "take" });
    await advance(at.database.url, 3_601_000);
    await becomes("refused");
    expect(await answer()).toMatchObject({ answer: { code: "timeout" } });
  });

  test("the time for all attempts bounds a person's task as its timeout does; what ends first counts", async () => {
    await begin({ timeout: "2h", retry: { within: "1h" } });
    const [task] = await open();
    expect((task?.dueAt ?? 0) - (task?.createdAt ?? 0)).toBe(3_600_000);
    await advance(at.database.url, 3_601_000);
    await becomes("refused");
    expect(await answer()).toMatchObject({
      answer: { code: "timeout", message: "it was not answered by the time it was due" },
    });
  });

  test("no worker can claim what is for people", async () => {
    await begin();
    expect(await code(at.runtime.claimTasks(local, { types: ["human"], workerId: "w" }))).toBe("bad-request");
  });
});
