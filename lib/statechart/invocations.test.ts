/**
 * What the world is told of an invocation, and what undoes it.
 */
import { expect, test } from "vitest";
import { Play } from "@/lib/testing/play-chart";
import { compensationInput } from "./compensation-input";
import { must } from "@/lib/base/assert";
import { compile } from "./compile";
import type { Chart, Invoke } from "./document";
import type { Effect } from "./effect";
import { indexedValues, instanceKeys } from "./instance-keys";
import { macrostep } from "./macrostep";
import { start } from "./start";

const chartWith = (invoke: Invoke, change: Partial<Chart> = {}): Chart => ({
  lockstep: 1,
  context: { amount: 7, currency: "EUR", secret: "s", id: null },
  tasks: { charge: {}, refund: {} },
  initial: "work",
  states: { work: { invoke }, idle: {} },
  ...change,
});
const begun = (invoke: Invoke, change: Partial<Chart> = {}): Extract<Effect, { type: "invoke.start" }> =>
  must(new Play(chartWith(invoke, change)).effects("invoke.start")[0], "an invocation starts");

test("an invocation that says nothing of retries leaves them to the runtime", () => {
  expect(begun({ src: "charge" })).toEqual({
    type: "invoke.start",
    id: "work:0",
    src: "charge",
    state: "work",
    index: 0,
    generation: 1,
    input: null,
  });
});

test("retry, timeout and concurrency key are told evaluated, durations in ms", () => {
  expect(
    begun(
      {
        src: "charge",
        timeout: "soon",
        concurrencyKey: "'card-' + string(context.amount)",
        retry: {
          attempts: 3,
          delay: "1s",
          delayMax: "context.amount * 1000",
          factor: 1.5,
          within: "PT1H",
          noRetry: ["declined"],
        },
      },
      { delays: { soon: "30s" } },
    ),
  ).toMatchObject({
    timeoutMs: 30_000,
    concurrencyKey: "card-7",
    retry: {
      attemptsMax: 3,
      delayMs: 1000,
      delayMaxMs: 7000,
      factor: 1.5,
      withinMs: 3_600_000,
      noRetry: ["declined"],
    },
  });
});

test("a task's defaults hold where the invocation is silent, in `retry` field by field", () => {
  const tasks = {
    charge: {
      timeout: "1m",
      concurrencyKey: "context.currency",
      retry: { attempts: 9, noRetry: ["x"] },
      compensate: { src: "refund" },
    },
    refund: { timeout: 5 },
  };
  expect(begun({ src: "charge", retry: { attempts: 2 }, timeout: 10 }, { tasks })).toMatchObject({
    timeoutMs: 10,
    concurrencyKey: "EUR",
    retry: { attemptsMax: 2, noRetry: ["x"] },
    compensate: { src: "refund", state: "work", index: 0, context: {}, timeoutMs: 5 },
  });
});

test.each<[string, Invoke, string]>([
  ["a key that is a list", { src: "charge", concurrencyKey: "[1]" }, "bad-key"],
  ["a key that cannot be read", { src: "charge", concurrencyKey: "context.absent" }, "no-such-key"],
  ["a retry that is none", { src: "charge", retry: { attempts: 0 } }, "bad-retry"],
  ["a timeout before now", { src: "charge", timeout: "0 - 5" }, "bad-delay"],
])("%s starts nothing and is error.execution at the invocation", (_name, invoke, code) => {
  const play = new Play(chartWith(invoke));
  expect(play.effects("invoke.start")).toEqual([]);
  expect(play.last.failures).toMatchObject([
    { event: "error.execution", code, state: "work", field: "invoke/0" },
  ]);
});

test("a key that is null is none, a placeholder says that nobody answers", () => {
  expect(begun({ src: "charge", concurrencyKey: "context.id" })).not.toHaveProperty("concurrencyKey");
  expect(begun({ src: { placeholder: "later" } })).toMatchObject({ src: "later", placeholder: true });
});

test("a compensation keeps what its input reads from the start on, and sees what became of the deed", () => {
  const invoke: Invoke = {
    src: "charge",
    compensate: {
      src: "refund",
      input: { amount: "context.amount", id: "event.result.id", how: "event.outcome" },
    },
  };
  const again = { target: "work", reenter: true, actions: { assign: { amount: "context.amount + 1" } } };
  const chart = chartWith(invoke, { states: { work: { invoke, on: { again } } } });
  const machine = compile(chart);
  const first = start(machine, { id: "i" }, { at: 0, seq: 1 });
  const second = macrostep(machine, first.snapshot, { kind: "event", type: "again" }, { at: 0, seq: 2 });
  const kept = [first, second].flatMap(({ effects }) =>
    effects.flatMap((effect) => (effect.type === "invoke.start" ? [must(effect.compensate, "kept")] : [])),
  );
  expect(kept).toMatchObject([{ context: { amount: 7 } }, { context: { amount: 8 } }]);
  // Only what it reads.
  expect(Object.keys(kept[0]?.context ?? {})).toEqual(["amount"]);
  const inputs = kept.map((one) =>
    compensationInput(machine, { id: "i" }, one, { outcome: "succeeded", result: { id: "c1" } }, 5),
  );
  expect(inputs).toEqual([
    { input: { amount: 7, id: "c1", how: "succeeded" } },
    { input: { amount: 8, id: "c1", how: "succeeded" } },
  ]);
  // An answer that never came: its result is absent.
  const one = must(kept[0], "kept");
  expect(compensationInput(machine, { id: "i" }, one, { outcome: "unknown" }, 5)).toMatchObject({
    error: { code: "no-such-key", state: "work", field: "invoke/0/compensate/input" },
  });
});

test.each(["context", "context[event.data.key]", "rich", "merge(context, {})"])(
  "an input that reads the context by `%s` keeps all of it",
  (text) => {
    const effect = begun(
      { src: "charge", compensate: { src: "refund", input: { all: text } } },
      { guards: { rich: "context.amount > 5" } },
    );
    expect(effect.compensate).toMatchObject({
      context: { amount: 7, currency: "EUR", secret: "s", id: null },
    });
  },
);

test("the keys of an instance are known before it starts, from its input and first context", () => {
  const machine = compile({
    lockstep: 1,
    context: { id: { cel: "input.order" }, zone: 4 },
    settings: { concurrencyKey: "context.zone", businessKey: "'order-' + string(context.id)" },
  });
  expect(instanceKeys(machine, { id: "i", input: { order: 12 } }, 0)).toEqual({
    keys: { concurrencyKey: "4", businessKey: "order-12" },
    errors: [],
  });
  expect(instanceKeys(machine, { id: "i", input: {} }, 0)).toMatchObject({
    keys: { concurrencyKey: "4", businessKey: null },
    errors: [{ field: "settings/businessKey" }],
  });
});

test("indexed values are the context's plain ones", () => {
  const machine = compile({ lockstep: 1, settings: { index: ["a.b", "list[1]", "map", "absent", "no"] } });
  expect(indexedValues(machine, { a: { b: "x" }, list: [1, 2], map: {}, no: false })).toEqual({
    "a.b": "x",
    "list[1]": 2,
    map: null,
    absent: null,
    no: false,
  });
});

test("failures are told without a trace, the first twenty, and none when there are none", () => {
  const failing = new Play({
    context: { list: Array(50).fill(0) },
    on: {
      bad: [
        { guard: "event.absent", actions: [] },
        { actions: [{ assign: { x: "1 / 0" } }, { log: "'never'" }] },
      ],
      lost: { actions: { send: { type: "x", to: "#_nobody" } } },
      many: { actions: { foreach: { in: "context.list", item: "i", do: { block: { log: "1 / 0" } } } } },
      good: { actions: { log: "1" } },
    },
  });
  expect(failing.send("bad").last.failures).toMatchObject([
    { event: "error.execution", code: "no-such-key", state: "", field: "on/bad/0/guard" },
    { event: "error.execution", code: "division-by-zero", state: "", field: "on/bad/1/actions/0" },
  ]);
  expect(failing.send("lost").last.failures).toMatchObject([
    { event: "error.communication", code: "unreachable" },
  ]);
  expect(failing.send("many").last.failures).toHaveLength(20);
  expect(failing.send("good").last).not.toHaveProperty("failures");
});
