import { expect, test } from "vitest";
import { compile } from "@/lib/statechart/compile";
import type { Chart, StateNode } from "@/lib/statechart/document";
import { childCharts } from "./child-charts";
import { Session } from "./session";
import type { SessionOptions } from "./session";
import { parseStubs } from "./stubs";

/** Child charts are written as lockstep JSON. */
const findChart = childCharts({
  read: (text) => ({
    ...(text.startsWith("{")
      ? { chart: JSON.parse(text) as Chart, diagnostics: [] }
      : {
          chart: null,
          diagnostics: [{ code: "bad", severity: "error" as const, at: { state: "" }, message: "not JSON" }],
        }),
    name: null,
    format: "lockstep",
  }),
  load: (src) => (src === "other.json" ? JSON.stringify(quick) : null),
});
const session = (chart: StateNode & Partial<Chart>, options: SessionOptions = {}): Session =>
  new Session(compile({ lockstep: 1, ...chart }), { findChart, ...options });
/** A literal text is CEL with quotes. */
const inline = (chart: StateNode): string => JSON.stringify(JSON.stringify({ lockstep: 1, ...chart }));

const quick: StateNode & { lockstep: 1 } = {
  lockstep: 1,
  initial: "end",
  states: { end: { type: "final" } },
  output: "input.n + 1",
};

const parent = (child: StateNode, more: StateNode = {}): StateNode => ({
  initial: "busy",
  states: {
    busy: {
      invoke: { src: "chart", id: "c", input: { source: inline(child), params: { n: 41 } } },
      on: {
        "done.invoke.c": { target: "done", actions: { log: "event.output" } },
        "error.invoke.c": { target: "wrong", actions: { log: "event.output.message" } },
        leave: "left",
        ...more.on,
      },
    },
    done: {},
    wrong: {},
    left: { on: { back: "busy", "*": { actions: { log: "event.type" } } } },
  },
});

test("a child chart gets its params as input and answers with its output", () => {
  const line = session(parent(quick)).start();
  expect(line).toMatchObject({ configuration: ["done"], log: [{ value: 42 }], seq: 2 });
});

test("parent and child send to each other; the parent sees whose invocation spoke", () => {
  const child: StateNode = {
    initial: "wait",
    states: {
      wait: {
        entry: { send: { to: "#_parent", type: "ready" } },
        on: {
          ping: { target: "end", actions: { send: { to: "#_parent", type: "pong", data: "event.data" } } },
        },
      },
      end: { type: "final" },
    },
  };
  const run = session(
    parent(child, {
      on: {
        ready: { actions: { log: "[_event.invokeid, _event.origin]" } },
        go: { actions: { send: { to: "#_c", type: "ping", data: 7 } } },
        pong: { actions: { log: "event.data" } },
      },
    }),
  );
  expect(run.start().log).toEqual([{ value: ["c", "#_scxml_run/c@1"] }]);
  expect(run.send("go")).toMatchObject({ configuration: ["done"], log: [{ value: 7 }, { value: null }] });
});

test("a child's delays run on the same clock, and end with it", () => {
  const child: StateNode = {
    initial: "wait",
    states: { wait: { after: { "10s": "end" } }, end: { type: "final" } },
  };
  const run = session(parent(child));
  run.start();
  expect(run.advance(9_999)).toMatchObject({ configuration: ["busy"], reason: "nothing-due" });
  expect(run.advance(1).configuration).toEqual(["done"]);
  const left = session(parent(child));
  left.start();
  left.send("leave");
  expect(left.drain(60_000)).toMatchObject({ configuration: ["left"], reason: "nothing-due" });
  expect(left.send("back").configuration).toEqual(["busy"]);
  expect(left.drain(60_000).configuration).toEqual(["done"]);
  expect(left.nowMs).toBe(10_000);
});

test("a cancelled child's last words to its parent reach nobody, its answer neither (I6)", () => {
  const child: StateNode = {
    initial: "wait",
    states: {
      wait: { exit: { send: { to: "#_parent", type: "bye" } }, on: { stop: "end" } },
      end: { type: "final" },
    },
  };
  const left = session(parent(child));
  left.start();
  expect(left.send("leave")).toMatchObject({ configuration: ["left"], log: [] });
  // It ends, but its parent is gone before the answer is heard; what it said before counts.
  const both = [{ send: { to: "#_c", type: "stop" } }, { send: { type: "leave" } }];
  const run = session(parent(child, { on: { both: { actions: both } } }));
  run.start();
  expect(run.send("both")).toMatchObject({ configuration: ["left"], log: [{ value: "bye" }] });
});

test("a child that fails, or whose text is no chart, is the invocation's error", () => {
  const failing: StateNode = {
    initial: "a",
    states: { a: { invoke: { src: "chart", input: { url: "'none'" } } } },
  };
  expect(session(parent(failing)).start()).toMatchObject({
    configuration: ["wrong"],
    log: [{ value: expect.stringContaining('"none" cannot be read') as string }],
  });
  const bad = session({
    initial: "a",
    states: { a: { invoke: { src: "chart", id: "c", input: { source: "'what'" }, onError: "b" } }, b: {} },
  });
  expect(bad.start().configuration).toEqual(["b"]);
});

test("a chart by file is loaded through the function handed in; without a source it stays pending, a stub goes first", () => {
  const by = (input: { url: string } | { slug: string }): StateNode => ({
    initial: "a",
    states: { a: { invoke: { src: "chart", id: "c", input, onDone: "b" } }, b: {} },
  });
  const url = { url: "'other.json'" };
  expect(session(by(url)).start().configuration).toEqual(["b"]);
  expect(session(by({ slug: "'x'" })).start()).toMatchObject({ configuration: ["a"], seq: 1 });
  const stubs = parseStubs({ chart: [{ after: "1s" }] });
  if ("problem" in stubs) throw new Error(stubs.problem);
  const stubbed = session(by(url), { stubs });
  expect(stubbed.start().configuration).toEqual(["a"]);
  expect(stubbed.advance(1_000).configuration).toEqual(["b"]);
});

test("a chart that invokes itself without end is an error, not a hang", () => {
  const find: SessionOptions["findChart"] = () => ({ machine });
  const machine = compile({
    lockstep: 1,
    initial: "a",
    states: { a: { invoke: { src: "chart", id: "c" }, on: { "error.invoke.c": "b" } }, b: {} },
  });
  const line = new Session(machine, { findChart: find }).start();
  expect(line.configuration).toEqual(["a"]);
});

test("finalize sees what a child sends; autoforward passes events on", () => {
  const child: StateNode = {
    initial: "a",
    states: {
      a: { on: { knock: { actions: { send: { to: "#_parent", type: "heard", data: { n: 5 } } } } } },
    },
  };
  const run = session({
    context: { n: 0 },
    initial: "a",
    states: {
      a: {
        invoke: {
          src: "chart",
          id: "c",
          autoforward: true,
          input: { source: inline(child) },
          finalize: { assign: { n: "event.n" } },
        },
        on: { heard: { guard: "context.n == 5", target: "b" } },
      },
      b: {},
    },
  });
  run.start();
  expect(run.send("knock")).toMatchObject({ configuration: ["b"], context: { n: 5 }, outcome: "ignored" });
});
