/**
 * The numbered points of the design ("Semantics, where SCXML and XState differ") and of SCXML, one by one.
 */
import { describe, expect, test } from "vitest";
import type { Action, StateNode } from "./document";
import { Play } from "@/lib/testing/play-chart";

const mark = (text: string): Action => ({ assign: { log: `context.log + ['${text}']` } });
const marked = (name: string, node: StateNode = {}): StateNode => ({
  entry: mark(`+${name}`),
  exit: mark(`-${name}`),
  ...node,
});
const log = (play: Play): string => (play.context.log as string[]).join(" ");
const context = { log: [] };

describe("transitions and their domain", () => {
  const nested = (reenter: boolean, target: string): Play =>
    new Play({
      context,
      initial: "a",
      states: {
        a: marked("a", {
          initial: "b",
          states: { b: marked("b"), c: marked("c") },
          on: { go: { target, reenter } },
        }),
      },
    });

  test("1: a transition to a descendant leaves its source alone", () => {
    expect(log(nested(false, ".c").send("go"))).toBe("+a +b -b +c");
  });
  test("1: `reenter` leaves and enters the source", () => {
    expect(log(nested(true, ".c").send("go"))).toBe("+a +b -b -a +a +c");
  });
  test("2: a self-target without `reenter` keeps the source and starts its children anew", () => {
    expect(log(nested(false, "a").send("go"))).toBe("+a +b -b +b");
  });
  test("2: a parallel source is kept too", () => {
    const play = new Play({
      context,
      initial: "p",
      states: {
        p: marked("p", {
          type: "parallel",
          states: {
            r: { initial: "x", states: { x: marked("x"), y: marked("y") } },
            s: marked("s"),
          },
          on: { go: ".r.y" },
        }),
      },
    });
    expect(log(play.send("go"))).toBe("+p +x +s -s -x +y +s");
  });
  test.each([
    [false, "+p +x +s -s -x +x +s"],
    [true, "+p +x +s -s -x -p +p +x +s"],
  ])(
    "3: between siblings of a parallel the parallel is kept, with scxmlDomain %s it is not",
    (scxmlDomain, expected) => {
      const play = new Play({
        context,
        settings: { scxmlDomain },
        initial: "p",
        states: {
          p: marked("p", {
            type: "parallel",
            states: { r: marked("x", { on: { go: "s" } }), s: marked("s") },
          }),
        },
      });
      expect(log(play.send("go"))).toBe(expected);
    },
  );
  test("3: a region's own re-entry keeps the parallel, with scxmlDomain too (SCION more-parallel/test10)", () => {
    const play = new Play({
      context,
      settings: { scxmlDomain: true },
      initial: "p",
      states: {
        p: marked("p", {
          type: "parallel",
          states: { r: marked("r", { on: { go: { target: "r", reenter: true } } }), s: marked("s") },
        }),
      },
    });
    expect(log(play.send("go"))).toBe("+p +r +s -s -r +r +s");
  });
  test("an arrow into two regions enters both there and the third by default", () => {
    const region = (...keys: string[]): StateNode => ({
      initial: keys[0] as string,
      states: Object.fromEntries(keys.map((key) => [key, {}])),
    });
    const play = new Play({
      initial: "off",
      states: {
        off: { on: { go: { target: ["on.a.a2", "on.c.c2"] } } },
        on: {
          type: "parallel",
          states: { a: region("a1", "a2"), b: region("b1", "b2"), c: region("c1", "c2") },
        },
      },
    });
    expect(play.send("go").value).toEqual({ on: { a: "a2", b: "b1", c: "c2" } });
  });
  test("a transition of the root with `reenter` leaves and enters the root", () => {
    const play = new Play({
      ...marked("root"),
      context,
      initial: "a",
      states: { a: marked("a") },
      on: { again: { target: ".a", reenter: true } },
    });
    expect(log(play.send("again"))).toBe("+root +a -a -root +root +a");
  });
});

describe("selection", () => {
  const parallel = (selection: "scxml" | "xstate"): Play =>
    new Play({
      context,
      settings: { selection },
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: { r: { on: { go: { actions: mark("r") } } }, s: {} },
          on: { go: { actions: mark("p") } },
        },
      },
    });
  test("4: the parallel's own handler runs too when one region handled the event", () => {
    expect(log(parallel("scxml").send("go"))).toBe("r p");
  });
  test("4: with selection xstate only when none did", () => {
    expect(log(parallel("xstate").send("go"))).toBe("r");
  });
  test("a conflict between regions is won by the first in document order, a descendant wins over its ancestor", () => {
    const play = new Play({
      context,
      type: "parallel",
      states: {
        r: { initial: "a", states: { a: { on: { go: { target: "#out", actions: mark("r") } } } } },
        s: { initial: "a", states: { a: { on: { go: { target: "#out", actions: mark("s") } } } } },
        out: { id: "out" },
      },
    });
    expect(log(play.send("go"))).toBe("r");
  });
  test("5: onDone is asked before `on`, whatever the document's order", () => {
    const play = new Play({
      context,
      initial: "work",
      states: {
        work: {
          on: { "done.state.*": { actions: mark("on") }, finish: ".over" },
          onDone: { actions: mark("onDone") },
          initial: "a",
          states: { a: {}, over: { type: "final" } },
        },
      },
    });
    expect(log(play.send("finish"))).toBe("onDone");
  });
  test("5: descriptors are asked in document order, which `order` writes down", () => {
    const play = new Play({
      context,
      initial: "s",
      states: {
        s: {
          on: {
            "2": [
              { order: 2, guard: "false", actions: mark("first") },
              { order: 0, guard: "false", actions: mark("second") },
            ],
            "*": { order: 1, actions: mark("star") },
          },
        },
      },
    });
    expect(log(play.send("2"))).toBe("star");
    expect(play.last.microsteps[0]?.candidates.map(({ transition }) => transition)).toEqual([
      "s#on/2/1",
      "s#on/*/0",
      "s#on/2/0",
    ]);
  });
  test("5: `*` matches done and error events but never an after timer", () => {
    const play = new Play({
      context,
      initial: "s",
      states: {
        s: {
          on: { "*": { actions: { assign: { log: "context.log + [event.type]" } } } },
          after: { "10ms": { actions: { raise: { type: "raised" } } } },
          entry: { assign: { nothing: "context.absent" } },
        },
      },
    });
    expect(log(play.advance(10))).toBe("error.execution raised");
  });
  test("6: `a` matches only a, `a.*` also a itself, not ab", () => {
    const play = new Play({
      context,
      on: { "a.*": { actions: mark("star") }, a: { actions: mark("exact") } },
    });
    play.send("a", "a.b", "a.b.c", "ab", "b");
    expect(log(play)).toBe("star star star");
    expect(play.outcome).toBe("ignored: no-handler");
  });
});

describe("errors", () => {
  const failing = (errors: "continue" | "stop", extra: StateNode = {}): Play =>
    new Play({
      context: { log: [], n: 0 },
      settings: { errors },
      initial: "a",
      states: {
        a: {
          on: {
            go: [{ guard: "context.absent > 1", target: "b" }, { actions: mark("second") }],
            act: { target: "b", actions: [mark("one"), { assign: { n: "context.absent" } }, mark("never")] },
          },
        },
        b: {},
      },
      ...extra,
    });
  test("8: a guard that fails is false, queues error.execution, and the next candidate is tried", () => {
    const play = failing("continue", { on: { "error.execution": { actions: mark("caught") } } }).send("go");
    expect(log(play)).toBe("second caught");
    expect(play.last.microsteps[0]?.candidates.map(({ verdict }) => verdict)).toEqual(["error", "true"]);
  });
  test("8: a guard that is no bool is false and an error", () => {
    const play = new Play({ on: { go: { guard: "1 + 1", actions: { log: "'never'" } } } }).send("go");
    expect(play.outcome).toBe("ignored: guard-error");
    expect(play.logged).toEqual([]);
  });
  test("8: an action that fails skips the rest of its block, the transition completes", () => {
    const play = failing("continue").send("act");
    expect(play.value).toBe("b");
    expect(log(play)).toBe("one");
  });
  test("8: a block inside is a failure scope of its own", () => {
    const play = new Play({
      context,
      entry: [{ block: [{ assign: { x: "context.absent" } }, mark("never")] }, mark("after")],
    });
    expect(log(play)).toBe("after");
  });
  test("8: with errors `stop` an unhandled error fails the step and the instance, and nothing of it is kept", () => {
    const play = failing("stop");
    const before = play.last.snapshot;
    play.send("act");
    expect(play.outcome).toBe("failed");
    expect(play.last.effects).toEqual([]);
    expect(play.last.snapshot).toEqual({ ...before, status: "failed", error: play.last.error });
    expect(play.last.error).toMatchObject({ code: "no-such-key", state: "a", field: "on/act/0/actions/1" });
    expect(play.send("go").outcome).toBe("ignored: final");
  });
  test.each<[string, StateNode]>([
    ["the transition to the end", { states: { end: { type: "final" } } }],
    ["an exit action at the end", { exit: { log: "context.absent" }, states: { end: { type: "final" } } }],
    ["the final state's output", { states: { end: { type: "final", output: "context.absent" } } }],
    ["the root's output", { output: "context.absent", states: { end: { type: "final" } } }],
  ])(
    "8: with errors `stop`, what fails on the way to the end fails the step: %s",
    (what, { states, ...root }) => {
      const fails = what.startsWith("the transition") ? { actions: { log: "context.absent" } } : {};
      const play = new Play({
        settings: { errors: "stop" },
        ...root,
        initial: "a",
        states: { a: { on: { go: { target: "end", ...fails } } }, ...states },
      }).send("go");
      expect([play.outcome, play.status, play.value]).toEqual(["failed", "failed", "a"]);
      expect(play.last.error?.code).toBe("no-such-key");
    },
  );
  test("8: a handled error is no failure, also with errors `stop`", () => {
    const play = failing("stop", { on: { "error.*": { actions: mark("caught") } } }).send("act");
    expect([play.status, log(play)]).toEqual(["running", "one caught"]);
  });
  test("8: a failing eventless guard reports once per macrostep", () => {
    const play = new Play({
      context: { n: 0 },
      on: {
        "error.execution": { actions: { assign: { n: "context.n + 1" } } },
        go: { actions: { raise: { type: "x" } } },
      },
      always: { guard: "context.absent", actions: { log: "1" } },
    });
    expect(play.context.n).toBe(1);
    expect(play.send("go").context.n).toBe(2);
  });
  test("8: an unhandled error.invoke fails the instance in any mode", () => {
    const play = new Play({ tasks: { pay: {} }, invoke: { src: "pay" } });
    play.step({ kind: "answer", id: ":0", generation: 1, error: { code: "declined", message: "no money" } });
    expect([play.outcome, play.status]).toEqual(["failed", "failed"]);
    expect(play.last.error).toMatchObject({ code: "declined" });
    expect(play.last.error?.message).toContain("no money");
  });
  test("8: an outside event that only bears an error's name fails nothing; error.communication does under `stop`", () => {
    const play = new Play({ settings: { errors: "stop" } });
    expect(play.send("error.execution").outcome).toBe("ignored: no-handler");
    expect(play.send("error.invoke.x").outcome).toBe("ignored: no-handler");
    expect(
      play.send({ type: "error.communication", data: { code: "instance-ended", message: "gone" } }).status,
    ).toBe("failed");
  });
  test("18: bad CEL, a bad location, an unknown action load and fail when they are reached", () => {
    const play = new Play({
      context,
      on: {
        cel: { actions: { assign: { x: "1 +" } } },
        location: { actions: { assign: { "a b": 1 } } },
        action: { actions: "nobody" },
        "error.execution": { actions: { assign: { log: "context.log + [event.data.code]" } } },
      },
    });
    expect(log(play.send("cel", "location", "action"))).toBe("unexpected-token bad-location unknown-action");
  });
});

describe("eventless", () => {
  test("9: a targetless one that changes nothing comes to rest", () => {
    const play = new Play({ context: { n: 1 }, always: { actions: { assign: { n: 1 } } } });
    expect(play.status).toBe("running");
  });
  test("9: nor does one that writes an equal list or object again and again", () => {
    const play = new Play({
      context: { row: { k: [1] } },
      on: { e: {} },
      always: { actions: { assign: { list: "[1, 2]", row: "{'k': [1]}" } } },
    }).send("e");
    expect(play.status).toBe("running");
    expect(play.context).toEqual({ row: { k: [1] }, list: [1, 2] });
  });
  test("9: a loop fails the step at microstepsMax and leaves the state as it was", () => {
    const play = new Play({
      context: { n: 0 },
      settings: { microstepsMax: 50 },
      initial: "a",
      states: { a: { on: { go: "b" } }, b: { always: "c" }, c: { always: "b" } },
    });
    const before = play.last.snapshot;
    play.send("go");
    expect(play.outcome).toBe("failed");
    expect(play.last.snapshot).toBe(before);
    expect(play.last.error?.code).toBe("microsteps-exceeded");
    expect(play.last.error?.message).toContain("50");
  });
  test("9: internal events count as well", () => {
    const play = new Play({ on: { go: { actions: { raise: { type: "go" } } } } });
    expect(play.send("go").last.error?.code).toBe("microsteps-exceeded");
  });
  test("17: after an event that nothing handled, eventless transitions are asked again", () => {
    const play = new Play({
      context: { n: 0 },
      initial: "a",
      states: { a: { always: { guard: "event != null && event.type == 'nudge'", target: "b" } }, b: {} },
    });
    play.send("nudge");
    expect([play.outcome, play.value]).toEqual(["ignored: no-handler", "b"]);
  });
});

describe("final states and history", () => {
  test("10: done cascades to every completed parallel ancestor, innermost first", () => {
    const region = (): StateNode => ({
      initial: "a",
      states: { a: { on: { go: "end" } }, end: { type: "final" } },
    });
    const play = new Play({
      context,
      initial: "outer",
      on: { "done.state.*": { actions: { assign: { log: "context.log + [event.type]" } } } },
      states: {
        outer: {
          type: "parallel",
          states: { inner: { type: "parallel", states: { r: region(), s: region() } } },
        },
      },
    });
    expect(log(play.send("go"))).toBe(
      "done.state.outer.inner.r done.state.outer.inner.s done.state.outer.inner done.state.outer",
    );
  });
  const withHistory = (history: "shallow" | "deep", target?: StateNode["target"]): Play =>
    new Play({
      context,
      initial: "on",
      states: {
        on: {
          initial: "a",
          on: { off: "off" },
          states: {
            a: { on: { next: "b" } },
            b: { initial: "c", states: { c: { on: { next: "d" } }, d: {} } },
            h: { type: "history", history, ...(target === undefined ? {} : { target }) },
          },
        },
        off: { on: { back: "on.h" } },
      },
    });
  test("11: shallow history restores the child, which starts anew", () => {
    expect(withHistory("shallow").send("next", "next", "off", "back").value).toEqual({ on: { b: "c" } });
  });
  test("11: deep history restores the leaves", () => {
    expect(withHistory("deep").send("next", "next", "off", "back").value).toEqual({ on: { b: "d" } });
  });
  test("11: without a record the default is taken, with its actions; without a default, the initial", () => {
    const start = (target?: StateNode["target"]): Play =>
      new Play({
        context,
        initial: "off",
        states: {
          off: { on: { back: "on.h" } },
          on: {
            ...marked("on"),
            initial: "a",
            states: {
              a: {},
              b: marked("b"),
              h: { type: "history", ...(target === undefined ? {} : { target }) },
            },
          },
        },
      }).send("back");
    expect(start().value).toEqual({ on: "a" });
    const play = start({ target: "b", actions: mark("default") });
    expect([play.value, log(play)]).toEqual([{ on: "b" }, "+on default +b"]);
  });
  test("11: history of a state that the same transition leaves is what was just left", () => {
    const play = new Play({
      initial: "s",
      states: {
        s: {
          initial: "a",
          on: { again: { target: ".h", reenter: true } },
          states: { a: { on: { next: "b" } }, b: {}, h: { type: "history", target: "a" } },
        },
      },
    });
    expect(play.send("next", "again").value).toEqual({ s: "b" });
  });
  test("a history target from inside keeps what is active: nothing is entered twice", () => {
    const play = new Play({
      context,
      initial: "s",
      states: {
        s: {
          initial: "a",
          states: { a: marked("a", { on: { stay: "h" } }), b: {}, h: { type: "history", target: "b" } },
        },
      },
    });
    play.send({ type: "leave" }).send("stay");
    expect(log(play)).toBe("+a -a");
    expect(play.value).toEqual({ s: "b" });
  });
  test("12: `initial` may be deep and have actions, which run after the entry", () => {
    const play = new Play({
      context,
      ...marked("root"),
      initial: { target: "a.b.c", actions: mark("dot") },
      states: {
        a: marked("a", {
          initial: "x",
          states: { x: {}, b: marked("b", { initial: "y", states: { y: {}, c: marked("c") } }) },
        }),
      },
    });
    expect([play.value, log(play)]).toEqual([{ a: { b: "c" } }, "+root dot +a +b +c"]);
  });
  test("12: an assign map is simultaneous", () => {
    const play = new Play({ context: { a: 1, b: 2 }, entry: { assign: { a: "context.b", b: "context.a" } } });
    expect(play.context).toEqual({ a: 2, b: 1 });
  });
  test("13: a final child of the root ends the instance: exit actions run, the configuration stays, timers end", () => {
    const play = new Play({
      context,
      ...marked("root"),
      output: "{'got': event.output, 'log': size(context.log)}",
      initial: "a",
      after: { "1h": ".a" },
      on: { end: { target: ".done" } },
      states: { a: marked("a"), done: { type: "final", output: "context.log[0]", ...marked("done") } },
    });
    play.send("end");
    expect(play.status).toBe("completed");
    expect(play.last.snapshot.configuration).toEqual(["done"]);
    expect(play.last.snapshot.output).toEqual({ got: "+root", log: 4 });
    expect(log(play)).toBe("+root +a -a +done -done -root");
    expect(play.last.snapshot.timers).toEqual({});
    expect(play.effects("timer.cancel")).toHaveLength(1);
    expect(play.send("end").outcome).toBe("ignored: final");
  });
  test("13: a root parallel ends when all its regions are final", () => {
    const region = (event: string): StateNode => ({
      initial: "a",
      states: { a: { on: { [event]: "end" } }, end: { type: "final" } },
    });
    const play = new Play({ type: "parallel", states: { r: region("one"), s: region("two") } });
    expect(play.send("one").status).toBe("running");
    expect(play.send("two").status).toBe("completed");
  });
});

describe("invocations", () => {
  const chart: StateNode & { tasks: Record<string, object> } = {
    tasks: { charge: {} },
    initial: "idle",
    states: {
      idle: { on: { go: "work", dash: "dash" } },
      work: {
        invoke: { src: "charge", input: { amount: "context.amount" }, onDone: "paid", onError: "idle" },
        on: { again: { target: "work", reenter: true }, leave: "idle" },
      },
      dash: { invoke: { src: "charge" }, always: "idle" },
      paid: { entry: { assign: { receipt: "event.output.receipt" } } },
    },
  };
  const play = (): Play => new Play({ ...chart, context: { amount: 7, receipt: null } } as StateNode);

  test("14: it starts at the end of the macrostep, with its input", () => {
    expect(play().send("go").effects("invoke.start")).toEqual([
      {
        type: "invoke.start",
        id: "work:0",
        src: "charge",
        state: "work",
        index: 0,
        generation: 1,
        input: { amount: 7 },
      },
    ]);
  });
  test("14: a state entered and left in one macrostep starts nothing", () => {
    expect(play().send("dash").last.effects).toEqual([]);
  });
  test("14: leaving the state cancels, entering again is a new generation, an older answer is ignored", () => {
    const one = play().send("go", "again");
    expect(one.last.effects.map(({ type }) => type)).toEqual(["invoke.cancel", "invoke.start"]);
    const before = one.last.snapshot;
    one.step({ kind: "answer", id: "work:0", generation: 1, output: { receipt: "old" } });
    expect([one.outcome, one.last.snapshot === before]).toEqual(["ignored: stale-generation", true]);
    one.step({ kind: "answer", id: "work:0", generation: 2, output: { receipt: "new" } });
    expect([one.value, one.context.receipt]).toEqual(["paid", "new"]);
    expect(one.last.snapshot.invocations).toEqual({});
    expect(one.last.effects).toEqual([]);
  });
  test("an error answer is error.invoke.ID, caught by onError", () => {
    const one = play().send("go");
    one.step({ kind: "answer", id: "work:0", generation: 1, error: { code: "declined", message: "no" } });
    expect([one.value, one.status]).toEqual(["idle", "running"]);
  });
  test("an input that fails starts nothing and is error.execution", () => {
    const one = new Play({
      tasks: { t: {} },
      context,
      invoke: { src: "t", input: "context.absent" },
      on: { "error.execution": { actions: mark("caught") } },
    });
    expect([log(one), one.effects("invoke.start")]).toEqual(["caught", []]);
  });
  test("onEvent takes what the invocation sends, finalize runs before, autoforward passes outside events on", () => {
    const one = new Play({
      tasks: { t: {} },
      context: { log: [], n: 0 },
      invoke: {
        id: "kid",
        src: "t",
        autoforward: true,
        finalize: { assign: { n: "event.data" } },
        onEvent: { actions: mark("from kid") },
      },
    });
    one.send({ type: "progress", data: 5, invokeid: "kid" });
    expect([log(one), one.context.n]).toEqual(["from kid", 5]);
    one.send({ type: "hello", data: 1 });
    expect(one.outcome).toBe("ignored: no-handler");
    expect(one.effects("send")).toEqual([{ type: "send", to: "#_kid", event: { type: "hello", data: 1 } }]);
  });
});

describe("timers and messages", () => {
  test("15: an after timer belongs to an entry and restarts in full; leaving cancels it", () => {
    const play = new Play({
      initial: "a",
      states: {
        a: { after: { "10s": "b" }, on: { again: { target: "a", reenter: true }, go: "c" } },
        b: {},
        c: {},
      },
    });
    expect(play.effects("timer.arm")).toEqual([
      {
        type: "timer.arm",
        id: "a#after/10s@1",
        timer: { dueAt: 11_000, kind: "after", state: "a", generation: 1, after: "10s" },
      },
    ]);
    play.advance(9_000).send("again");
    expect(play.last.effects).toEqual([
      { type: "timer.cancel", id: "a#after/10s@1" },
      expect.objectContaining({ type: "timer.arm", id: "a#after/10s@2" }) as unknown,
    ]);
    expect(play.advance(9_999).value).toBe("a");
    expect(play.advance(1).value).toBe("b");
  });
  test("I6: a timer the snapshot does not know is ignored", () => {
    const play = new Play({ initial: "a", states: { a: { after: { "1s": "b" }, on: { go: "b" } }, b: {} } });
    play.send("go").step({ kind: "timer", id: "a#after/1s@1" });
    expect(play.outcome).toBe("ignored: nothing-due");
  });
  test("a timer that nothing takes is gone all the same", () => {
    const play = new Play({ after: { "1s": { guard: "false", actions: { log: "1" } } } }).advance(1_000);
    expect([play.outcome, play.last.snapshot.timers, play.last.effects]).toEqual([
      "ignored: guards-false",
      {},
      [],
    ]);
  });
  test("15: delayed sends outlive the state, are cancelled by id, and fire as external events", () => {
    const play = new Play({
      context,
      initial: "a",
      states: {
        a: {
          entry: [
            { raise: { type: "tick", delay: "1s", data: { n: 1 } } },
            { send: { type: "tock", delay: 2000, id: "t2" } },
            { send: { type: "never", delay: "context.log.size() * 1000 + 3000", id: "t3" } },
          ],
          on: { leave: "b", stop: { actions: { cancel: "t2" } } },
        },
        b: { on: { "*": { actions: { assign: { log: "context.log + [event.type + _event.type]" } } } } },
      },
    });
    play.send("stop", "leave").advance(5_000);
    expect(log(play)).toBe("tickexternal neverexternal");
  });
  test("a timer armed and cancelled in one step never existed for the world", () => {
    const play = new Play({
      on: { go: { actions: [{ send: { type: "x", delay: 5, id: "i" } }, { cancel: "i" }] } },
    });
    expect(play.send("go").last.effects).toEqual([]);
  });
  test("15: raise goes before anything from outside, in order", () => {
    const play = new Play({
      context,
      on: {
        go: { actions: [{ raise: { type: "one" } }, { raise: { type: "two" } }, mark("go")] },
        one: { actions: [mark("one"), { raise: { type: "three" } }] },
        two: { actions: mark("two") },
        three: { actions: mark("three") },
      },
    });
    expect(log(play.send("go"))).toBe("go one two three");
  });
  test("16: send without target is an effect to self; own session's address too; #_internal is the queue", () => {
    const play = new Play({
      context,
      on: {
        go: {
          actions: [
            { send: { type: "later", data: { n: "1 + 1" } } },
            { send: { type: "self", to: "#_scxml_p1" } },
            { send: { type: "inside", to: "#_internal" } },
            { send: { type: "up", to: "#_parent", id: "i1" } },
            { send: { type: "over", to: { cel: "'instance:' + 'x9'" } } },
          ],
        },
        inside: { actions: mark("inside") },
      },
    }).send("go");
    expect(log(play)).toBe("inside");
    expect(play.effects("send")).toEqual([
      { type: "send", to: null, event: { type: "later", data: { n: 2 } } },
      { type: "send", to: null, event: { type: "self" } },
      { type: "send", to: "#_parent", event: { type: "up", sendid: "i1" } },
      { type: "send", to: "instance:x9", event: { type: "over" } },
    ]);
  });
  test("16: a bad target is error.execution with the send's id, an unreachable one error.communication", () => {
    const play = new Play({
      context,
      on: {
        bad: { actions: { send: { type: "x", to: "nowhere", id: "s7" } } },
        gone: { actions: [{ send: { type: "x", to: "#_nobody", id: "s8" } }, mark("goes on")] },
        "error.*": { actions: { assign: { log: "context.log + [event.type + _event.sendid]" } } },
      },
    });
    expect(log(play.send("bad", "gone"))).toBe("error.executions7 goes on error.communications8");
  });
  test("16: a delayed message is addressed when it fires, to an invocation that did not run yet", () => {
    const play = new Play({
      initial: "a",
      states: {
        a: {
          entry: { send: { type: "go", to: "#_kid", delay: "1s", id: "s1" } },
          invoke: { src: "chart", id: "kid" },
          on: { "error.*": "b" },
        },
        b: {},
      },
    });
    expect(play.last.snapshot.configuration).toEqual(["a"]);
    play.advance(1000);
    expect(play.effects("send")).toEqual([
      { type: "send", to: "#_kid", event: { type: "go", sendid: "s1" } },
    ]);
  });
  test("a placeholder delay never fires", () => {
    const play = new Play({
      delays: { soon: { placeholder: "soon" } },
      initial: "a",
      states: { a: { after: { soon: "b" } }, b: {} },
    });
    expect(play.last.snapshot.timers).toEqual({});
  });
  test("a delay may be a name, a duration, ISO, or CEL giving ms, a duration or a text", () => {
    const play = new Play({
      context: { n: 2 },
      delays: { soon: "1s" },
      after: { soon: {}, PT2S: {}, "context.n * 1500": {}, "duration('4s')": {}, "'5s'": {} },
    });
    const due = Object.values(play.last.snapshot.timers).map(({ dueAt }) => dueAt - 1000);
    expect(due.sort()).toEqual([1000, 2000, 3000, 4000, 5000]);
  });
});

describe("actions", () => {
  test("named guards and actions see their params, guards are variables in CEL, circles end", () => {
    const play = new Play({
      context: { log: [], n: 3 },
      guards: { over: "context.n > params.limit", big: "context.n > 2", a: "b", b: "a" },
      actions: { note: { assign: { log: "context.log + [params.text]" } }, twice: [mark("t"), mark("t")] },
      on: {
        go: [
          { guard: { type: "over", params: { limit: 5 } }, actions: mark("no") },
          { guard: "big && context.n == 3", actions: [{ type: "note", params: { text: "'yes'" } }, "twice"] },
        ],
        circle: { guard: "a", actions: mark("never") },
      },
    });
    expect(log(play.send("go"))).toBe("yes t t");
    expect(play.send("circle").outcome).toBe("ignored: guard-error");
  });
  test("8: a condition that fails is false: `else` runs, the block goes on, error.execution is queued", () => {
    const play = new Play({
      context,
      on: {
        go: {
          actions: [
            {
              if: "context.nope",
              then: mark("then"),
              else: { if: "1", then: mark("one"), else: mark("else") },
            },
            mark("on"),
          ],
        },
        "error.execution": { actions: { assign: { log: "context.log + [event.field]" } } },
      },
    }).send("go");
    expect(log(play)).toBe("else on on/go/0/actions/0/if on/go/0/actions/0/else/0/if");
  });
  test("if, foreach, emit, log, compensate", () => {
    const play = new Play({
      context: { rows: [{ q: 1 }, { q: 5 }], sum: 0 },
      settings: { scxmlDomain: true },
      on: {
        go: {
          actions: [
            {
              foreach: {
                in: "context.rows",
                item: "row",
                index: "i",
                do: [
                  {
                    if: "context.row.q > 2",
                    then: { assign: { sum: "context.sum + context.row.q" } },
                    else: { log: "context.i" },
                  },
                ],
              },
            },
            { emit: { type: "summed", data: { sum: "context.sum" } } },
            { log: ["'a text'", 1, { k: "context.sum" }], label: "all" },
            { compensate: true },
          ],
        },
      },
    }).send("go");
    expect(play.context).toMatchObject({ sum: 5, row: { q: 5 }, i: 1 });
    expect(play.last.effects).toEqual([
      { type: "log", value: 0 },
      { type: "emit", event: { type: "summed", data: { sum: 5 } } },
      { type: "log", label: "all", value: ["a text", 1, { k: 5 }] },
      { type: "compensate" },
    ]);
  });
  test("an SCXML import may not write what it did not declare, nor any chart a system variable", () => {
    const write = (scxmlDomain: boolean, location: string): string =>
      new Play({
        settings: { scxmlDomain, errors: "stop" },
        context: { known: {} },
        entry: { assign: { [location]: 1 } },
      }).status;
    expect([
      write(true, "known"),
      write(true, "known.x"),
      write(true, "other"),
      write(false, "other"),
    ]).toEqual(["running", "running", "failed", "running"]);
    for (const name of ["_event", "_sessionid", "_name", "_ioprocessors"])
      expect(write(false, name)).toBe("failed");
  });
  test("placeholders: a guard is false, an action only logs, a value is left alone", () => {
    const play = new Play({
      context: { n: 1 },
      on: {
        go: [
          { guard: { placeholder: "isRich" }, actions: { assign: { n: 2 } } },
          {
            actions: [
              { placeholder: "notify", text: "notify()" },
              { assign: { n: { placeholder: "calc" } } },
            ],
          },
        ],
      },
    }).send("go");
    expect(play.context.n).toBe(1);
    expect(play.last.microsteps[0]?.candidates.map(({ verdict }) => verdict)).toEqual([
      "placeholder",
      "true",
    ]);
    expect(play.last.effects).toEqual([
      { type: "log", label: "placeholder", value: "notify()" },
      { type: "log", label: "placeholder", value: "calc" },
    ]);
  });
  test("a step that runs too many actions fails deterministically", () => {
    const rows = Array.from({ length: 400 }, (_, index) => index);
    const loop = (item: string, inner: Action): Action => ({
      foreach: { in: "context.rows", item, do: inner },
    });
    const play = new Play({
      context: { rows, n: 0 },
      on: { go: { actions: loop("a", loop("b", { log: "1" })) } },
    }).send("go");
    expect([play.outcome, play.last.error?.code, play.status]).toEqual([
      "failed",
      "actions-exceeded",
      "running",
    ]);
  });
  test("a step whose expressions cost too much together fails deterministically, well within a second", () => {
    const grow = { assign: { log: "context.log + context.log.map(i, i) + ['x']" } };
    const play = new Play({
      context: { log: [1], n: 0 },
      settings: { microstepsMax: 1_000_000 },
      states: {
        a: {
          always: {
            target: "a",
            reenter: true,
            guard: "context.n > 0",
            actions: { assign: { log: "context.log + ['x']" } },
          },
        },
      },
      initial: "a",
      on: {
        go: { actions: { assign: { n: 1 } } },
        double: { actions: Array.from({ length: 30 }, () => grow) },
      },
    });
    expect([play.send("go").outcome, play.last.error?.code, play.status]).toEqual([
      "failed",
      "cost-exceeded",
      "running",
    ]);
    // One expression alone meets its own bound first: an action that fails, not a step.
    expect([play.send("double").outcome, play.last.error?.code]).toEqual(["handled", undefined]);
  });
});

describe("data", () => {
  test("context values of CEL are computed once, in the order they need each other", () => {
    const play = new Play(
      {
        context: {
          a: { cel: "context.b + 1" },
          b: { cel: "context.z * 2" },
          z: 5,
          who: { cel: "input.name" },
        },
      },
      { input: { name: "Ada" } },
    );
    expect(play.context).toEqual({ a: 11, b: 10, z: 5, who: "Ada" });
  });
  test("a context value that fails is null and queues error.execution", () => {
    const play = new Play({
      context: { a: { cel: "input.absent" }, log: [] },
      on: { "error.execution": { actions: mark("caught") } },
    });
    expect([play.context.a, log(play)]).toEqual([null, "caught"]);
  });
  test("late data are bound at the first entry only, before the entry actions", () => {
    const play = new Play({
      context: { x: null, n: 1, seen: [] },
      settings: { scxmlDomain: true },
      initial: "a",
      states: {
        a: { on: { go: "b" } },
        b: {
          data: { x: "context.n" },
          entry: { assign: { seen: "context.seen + [context.x]" } },
          on: { go: { target: "a", actions: { assign: { n: 9 } } } },
        },
      },
    });
    expect(play.last.snapshot.unbound).toEqual(["x"]);
    play.send("go", "go", "go");
    expect([play.context.x, play.context.seen]).toEqual([1, [1, 1]]);
    expect(play.last.snapshot.unbound).toBeUndefined();
  });
  test("event fields: type, data, at, id win over fields of the data; output only on platform events", () => {
    const play = new Play({
      context: { seen: null },
      on: {
        go: {
          actions: {
            assign: {
              seen: "{'t': event.type, 'n': event.n, 'd': event.data.type, 'at': event.at, 'id': event.id, 'o': has(event.output)}",
            },
          },
        },
      },
    });
    play.send({ type: "go", data: { type: "mine", n: 4, output: 1, at: 0 } });
    expect(play.context.seen).toEqual({ t: "go", n: 4, d: "mine", at: 1000, id: "2", o: false });
  });
  test("_event has every field, null for none; before the first event it is null", () => {
    const play = new Play({
      context: { first: null, seen: null },
      entry: { assign: { first: "_event == null && event == null" } },
      on: { go: { actions: { assign: { seen: "_event" } } } },
    }).send("go");
    expect(play.context).toEqual({
      first: true,
      seen: {
        name: "go",
        type: "external",
        sendid: null,
        origin: null,
        origintype: null,
        invokeid: null,
        data: null,
      },
    });
  });
  test("system variables", () => {
    const play = new Play(
      { context: { all: { cel: "[_sessionid, _name, _ioprocessors['scxml'].location]" } } },
      { name: "chart" },
    );
    expect(play.context.all).toEqual(["p1", "chart", "#_scxml_p1"]);
  });
});

describe("outcome", () => {
  const play = (): Play =>
    new Play({
      initial: "a",
      on: { both: { actions: { log: "1" } } },
      states: {
        a: {
          on: {
            go: "b",
            stay: { actions: { log: "1" } },
            self: "a",
            no: {},
            guarded: { guard: "false", target: "b" },
            broken: [{ guard: "context.x" }, { guard: "false" }],
            chain: { actions: { raise: { type: "go" } } },
          },
        },
        b: {},
      },
    });
  test.each([
    ["go", "moved"],
    ["stay", "handled"],
    ["self", "handled"],
    ["no", "ignored: forbidden"],
    ["guarded", "ignored: guards-false"],
    ["broken", "ignored: guard-error"],
    ["unknown", "ignored: no-handler"],
    // What follows is in the microsteps, never in the outcome.
    ["chain", "handled"],
  ])("%s is %s", (event, expected) => {
    expect(play().send(event).outcome).toBe(expected);
  });
  test("an ignored event leaves the very same snapshot", () => {
    const one = play();
    const before = one.last.snapshot;
    expect(one.send("unknown").last.snapshot).toBe(before);
  });
});

describe("traces", () => {
  test("a microstep records event, candidates with reads, exits, entries, actions and changes", () => {
    const play = new Play({
      context: { total: 5 },
      initial: "cart",
      states: {
        cart: {
          exit: { log: "'bye'" },
          on: {
            pay: [
              { guard: "event.card && context.total > 10", target: "vip" },
              {
                guard: { and: ["context.total > 1", { in: "cart" }] },
                target: "paid",
                actions: { assign: { total: 0 } },
              },
              { target: "cart" },
            ],
          },
        },
        vip: {},
        paid: {},
      },
    }).send({ type: "pay", data: { card: true } });
    expect(play.last.microsteps[0]).toEqual({
      index: 1,
      event: { type: "pay", data: { card: true } },
      candidates: [
        {
          atomic: "cart",
          transition: "cart#on/pay/0",
          guard: "event.card && context.total > 10",
          verdict: "false",
          reads: [
            ["event.card", true],
            ["context.total", 5],
          ],
          selected: false,
        },
        {
          atomic: "cart",
          transition: "cart#on/pay/1",
          guard: "(context.total > 1) && In('cart')",
          verdict: "true",
          reads: [["context.total", 5]],
          selected: true,
        },
        {
          atomic: "cart",
          transition: "cart#on/pay/2",
          guard: null,
          verdict: "not-evaluated",
          reads: [],
          selected: false,
        },
      ],
      taken: ["cart#on/pay/1"],
      exited: ["cart"],
      entered: ["paid"],
      actions: [
        { state: "cart", block: "exit", text: "log 'bye'" },
        { state: "cart", block: "transition", text: "assign total = 0" },
      ],
      changes: [{ path: "total", before: 5, after: 0 }],
    });
    expect([play.last.exited, play.last.entered]).toEqual([["cart"], ["paid"]]);
  });
  test("exit actions at the end belong to the microstep that ended it", () => {
    const play = new Play({
      initial: "a",
      exit: { log: "'bye'" },
      states: { a: { on: { end: "z" } }, z: { type: "final" } },
    });
    const [only, ...others] = play.send("end").last.microsteps;
    expect(others).toEqual([]);
    expect(only?.actions).toEqual([{ state: "", block: "exit", text: "log 'bye'" }]);
  });
});

describe("size", () => {
  test("an event that 1,000 regions answer takes well under a second", () => {
    const regions = Array.from({ length: 1_000 }, (_, index): [string, StateNode] => [
      `r${index}`,
      {
        initial: "a",
        states: {
          a: { on: { go: "b", out: "#end" }, after: { "1h": "b" } },
          b: { on: { go: "a", out: "#end" } },
        },
      },
    ]);
    const play = new Play({
      initial: "p",
      states: { p: { type: "parallel", states: Object.fromEntries(regions) }, end: { id: "end" } },
    });
    const began = performance.now();
    play.send("go");
    expect(play.last.entered).toHaveLength(1_000);
    // All regions want to leave the parallel: the first one wins.
    expect(play.send("go", "out").value).toBe("end");
    // Generous for a busy machine; a quadratic step took minutes.
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
