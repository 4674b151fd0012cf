import { describe, expect, test } from "vitest";
import type { Json } from "@/lib/base/json";
import { compile } from "@/lib/statechart/compile";
import { playTest, readTests, type TestFailure } from "./chart-test";

const machine = compile({
  lockstep: 1,
  context: { n: 0, who: { name: "Ada" } },
  initial: "a",
  states: {
    a: {
      on: { go: { target: "b", actions: [{ assign: { n: "context.n + event.data" } }, { log: "'went'" }] } },
      after: { "1m": "late" },
    },
    b: { invoke: { src: "work", onDone: "c" } },
    c: { type: "final" },
    late: {},
  },
});
const play = (test: Json): TestFailure | null => {
  const tests = readTests(test);
  if ("problem" in tests) throw new Error(tests.problem);
  const [only] = tests;
  if (only === undefined) throw new Error("no test");
  return playTest(machine, only);
};

describe("a test passes when every line holds what is expected of it", () => {
  test("parts of the line, the start included, stubs answering in virtual time", () => {
    const failure = play({
      name: "all the way",
      stubs: { work: [{ after: "2s", output: 1 }] },
      steps: [
        { expect: { configuration: ["a"], context: { who: {} } } },
        { type: "go", data: 3, expect: { outcome: "moved", context: { n: 3 }, log: [{ value: "went" }] } },
        { advance: 1999, expect: { outcome: "ignored", reason: "nothing-due" } },
        { advance: "1ms", expect: { status: "completed" } },
      ],
    });
    expect(failure).toBeNull();
  });

  test.each<[string, Json, Partial<TestFailure>]>([
    ["another value", { context: { n: 4 } }, { at: "context.n", expected: 4, found: 3 }],
    ["an absent field", { output: null }, { at: "output", found: undefined }],
    ["a longer list", { configuration: [] }, { at: "configuration", found: ["b"] }],
    ["inside a list", { log: [{ label: "x" }] }, { at: "log[0].label", found: undefined }],
  ])("%s is told with its place", (_, expected, failure) => {
    const found = play({
      name: "t",
      steps: [
        { type: "nothing", expect: { outcome: "ignored" } },
        { type: "go", data: 3, expect: expected },
      ],
    });
    expect(found).toMatchObject({ step: 2, ...failure });
  });
});

describe("what is no test is refused", () => {
  test.each<[Json, string]>([
    [[], "holds no test"],
    [7, "test 1 must be an object"],
    [{ name: "a", steps: [] }, 'test 1 ("a") needs a list of steps'],
    [{ steps: [{ type: "x" }] }, "needs a name"],
    [{ name: "a", step: [] }, 'unknown key "step"'],
    [
      { name: "a", steps: [{ type: "x", expect: { configuraton: [] } }] },
      'step 1: an output line has no "confi',
    ],
    [{ name: "a", steps: [{ type: "x" }, { expect: {} }] }, "step 2: "],
    [{ name: "a", stubs: { s: {} }, steps: [{ type: "x" }] }, 'the stubs of "s"'],
  ])("%j", (json, problem) => {
    const tests = readTests(json);
    expect("problem" in tests && tests.problem).toContain(problem);
  });
});
