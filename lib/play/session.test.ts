import { describe, expect, test } from "vitest";
import { compile } from "@/lib/statechart/compile";
import type { Chart } from "@/lib/statechart/document";
import { Session, type SessionLine } from "./session";
import { parseStubs, type Stubs } from "./stubs";

const session = (chart: Omit<Chart, "lockstep">, stubs?: Stubs): Session =>
  new Session(compile({ lockstep: 1, ...chart }), stubs === undefined ? {} : { stubs });
const brief = ({ seq, outcome, reason, configuration }: SessionLine): unknown[] => [
  seq,
  outcome,
  ...(reason === undefined ? [] : [reason]),
  configuration.join(" "),
];
const stubsOf = (json: Parameters<typeof parseStubs>[0]): Stubs => {
  const stubs = parseStubs(json);
  if ("problem" in stubs) throw new Error(stubs.problem);
  return stubs;
};

const blink: Omit<Chart, "lockstep"> = {
  initial: "off",
  context: { n: 0 },
  states: {
    off: { after: { "10s": "on" }, on: { stop: "end" } },
    on: { entry: { assign: { n: "context.n + 1" } }, after: { "5s": "off" } },
    end: { type: "final", output: "context.n" },
  },
};

describe("the virtual clock", () => {
  test("advance runs every due timer in order, each at its own time", () => {
    const run = session(blink);
    expect(brief(run.start())).toEqual([1, "moved", "off"]);
    expect(brief(run.advance(9_999))).toEqual([1, "ignored", "nothing-due", "off"]);
    expect(brief(run.advance(1))).toEqual([2, "moved", "on"]);
    const line = run.advance(30_000);
    expect(brief(line)).toEqual([6, "moved", "on"]);
    expect(line.context).toEqual({ n: 3 });
    expect(run.nowMs).toBe(40_000);
  });

  test("drain goes on until nothing is pending, at most to its time from the start", () => {
    const endless = session(blink);
    endless.start();
    expect(brief(endless.drain(60_000))).toEqual([9, "moved", "off"]);
    expect(brief(endless.drain(60_000))).toEqual([9, "ignored", "nothing-due", "off"]);
    const once = session({ initial: "a", states: { a: { after: { "1h": "b" } }, b: {} } });
    once.start();
    expect(brief(once.drain(60_000))).toEqual([1, "ignored", "nothing-due", "a"]);
    expect(brief(once.drain(3_600_000))).toEqual([2, "moved", "b"]);
    expect(once.nowMs).toBe(3_600_000);
  });

  test("a timer cancelled by what ran before it at the same time does not fire", () => {
    const run = session({
      type: "parallel",
      states: {
        left: {
          initial: "a",
          states: { a: { after: { "1s": { target: "b", actions: { raise: { type: "halt" } } } } }, b: {} },
        },
        right: { initial: "c", states: { c: { after: { "1s": "d" }, on: { halt: "e" } }, d: {}, e: {} } },
      },
    });
    run.start();
    expect(brief(run.advance(1_000))).toEqual([2, "moved", "left.b right.e"]);
  });

  test("after the end nothing moves, nothing is logged and no timer is left", () => {
    const run = session(blink);
    run.start();
    const end = run.send("stop");
    expect(end).toMatchObject({
      seq: 2,
      event: "stop",
      outcome: "moved",
      status: "completed",
      configuration: ["end"],
      output: 0,
    });
    expect(brief(run.send("stop"))).toEqual([2, "ignored", "final", "end"]);
    expect(brief(run.advance(100_000))).toEqual([2, "ignored", "nothing-due", "end"]);
  });
});

describe("what a line waits for", () => {
  test("messages sent to itself without delay are played before the line, each with its own seq", () => {
    const run = session({
      initial: "a",
      context: { seen: [] },
      states: {
        a: {
          on: {
            go: {
              actions: [{ send: { type: "one" } }, { send: { type: "two" } }, { log: "'sent'", label: "L" }],
            },
            "*": { actions: { assign: { seen: "context.seen + [event.type]" } } },
          },
        },
      },
    });
    run.start();
    const line = run.send("go");
    expect(line).toMatchObject({
      seq: 4,
      outcome: "handled",
      log: [{ label: "L", value: "sent" }],
      context: { seen: ["one", "two"] },
    });
    expect(run.send("other").log).toEqual([]);
  });

  test("a message to nobody comes back as error.communication", () => {
    const run = session({
      initial: "a",
      states: {
        a: { entry: { send: { to: "#_parent", type: "hi" } }, on: { "error.communication": "b" } },
        b: {},
      },
    });
    // A step of its own, as in the durable runtime.
    expect(brief(run.start())).toEqual([2, "moved", "b"]);
  });

  test("a chart that sends to itself without end fails instead of hanging", () => {
    const run = session({
      initial: "a",
      states: { a: { on: { go: { actions: { send: { type: "go" } } } } } },
    });
    run.start();
    expect(run.send("go")).toMatchObject({
      outcome: "handled",
      status: "failed",
      error: { code: "too-many-steps" },
    });
  });
});

describe("stubs answer for outside work", () => {
  const work: Omit<Chart, "lockstep"> = {
    initial: "busy",
    states: {
      busy: {
        invoke: {
          src: "fetch",
          id: "f",
          onDone: { target: "done", actions: { log: "event.output" } },
          onError: "wrong",
        },
        on: { again: { target: "busy", reenter: true }, leave: "idle" },
      },
      idle: {},
      done: { on: { again: "busy" } },
      wrong: { on: { again: "busy" } },
    },
  };

  test("in turn, after their delay, the last repeating", () => {
    const run = session(
      work,
      stubsOf({ fetch: [{ output: 1 }, { after: "2s", output: 2 }, { error: "no" }] }),
    );
    expect(run.start()).toMatchObject({ seq: 2, configuration: ["done"], log: [{ value: 1 }] });
    expect(brief(run.send("again"))).toEqual([3, "moved", "busy"]);
    expect(run.advance(2_000)).toMatchObject({ seq: 4, configuration: ["done"], log: [{ value: 2 }] });
    expect(brief(run.send("again"))).toEqual([6, "moved", "wrong"]);
    expect(brief(run.send("again"))).toEqual([8, "moved", "wrong"]);
  });

  test("by invoke id too; work that is left is never answered; without a stub it stays pending", () => {
    const late = session(work, stubsOf({ f: [{ after: 1000, output: 1 }] }));
    late.start();
    late.send("leave");
    expect(brief(late.advance(5_000))).toEqual([2, "ignored", "nothing-due", "idle"]);
    const none = session(work);
    none.start();
    expect(brief(none.drain(60_000))).toEqual([1, "ignored", "nothing-due", "busy"]);
  });

  test.each([
    [[], "stubs are an object"],
    [{ a: {} }, 'the stubs of "a" must be a list'],
    [{ a: [{ after: "soon" }] }, "no duration"],
    [{ a: [{ output: 1, error: 2 }] }, "both output and error"],
    [{ a: [{ outputs: 1 }] }, 'unknown key "outputs"'],
  ])("%j is refused", (json, problem) => {
    const stubs = parseStubs(json);
    expect("problem" in stubs && stubs.problem).toContain(problem);
  });
});

test("the same input gives the same lines, trace included", () => {
  const lines = (): string => {
    const run = new Session(compile({ lockstep: 1, ...blink }), { trace: true });
    return JSON.stringify([
      run.start(),
      run.advance(17_000),
      run.send("stop"),
      run.send("x"),
      run.drain(60_000),
    ]);
  };
  expect(lines()).toBe(lines());
  expect(lines()).toContain('"microsteps":[{');
});
