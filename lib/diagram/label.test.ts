import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Action, Invoke, TransitionObject } from "@/lib/statechart/document";
import type { When } from "./chart-tree";
import { editedSpec, labelText, parseLabel, printLabel } from "./label";

const invokes: Invoke[] = [{ src: "lift", id: "up" }, { src: "lower" }, { src: "lower" }];

const read = (text: string) => {
  const parsed = parseLabel(text, invokes);
  if ("problem" in parsed) throw new Error(parsed.problem.message);
  return parsed;
};

describe("reading a label", () => {
  test("event, guard and actions", () => {
    expect(read("pay [context.total > 0] / charge, notify")).toEqual({
      when: { kind: "event", event: "pay" },
      guard: "context.total > 0",
      actions: ["charge", "notify"],
    });
  });

  test("the words after, always, done, done(id) and error(id) switch its kind", () => {
    expect(read("after 5s").when).toEqual({ kind: "after", delay: "5s" });
    expect(read("always [x]").when).toEqual({ kind: "always" });
    expect(read("done").when).toEqual({ kind: "done" });
    expect(read("done(up)").when).toEqual({ kind: "invoke", index: 0, on: "onDone" });
    expect(read("error(2) / note").when).toEqual({ kind: "invoke", index: 2, on: "onError" });
    expect(read('"always"').when).toEqual({ kind: "event", event: "always" });
  });

  test("the bracket ends where CEL's tokens say, not at the first ]", () => {
    expect(read("go [context.rows[2].name == ']' && r'\\]' != \"]\"] / x").guard).toBe(
      "context.rows[2].name == ']' && r'\\]' != \"]\"",
    );
  });

  test("a text that can't be read says what to do", () => {
    const problem = (text: string): string => {
      const parsed = parseLabel(text, invokes);
      return "problem" in parsed ? parsed.problem.message : "none";
    };
    expect(parseLabel("go [a > 1", invokes)).toEqual({
      problem: { message: "the guard's bracket is not closed: add ]", at: 3 },
    });
    expect(problem("done(none)")).toContain("no invocation none");
    expect(problem("two words")).toContain("quotes");
    expect(problem("  ")).toContain("name an event");
    expect(problem("go [x] nonsense")).toContain("/");
    expect(problem("pay / / a")).toContain("one / is enough");
    expect(read('pay / "/ a"').actions).toEqual(["/ a"]);
  });

  test("a key that no document can hold is refused, wherever it is typed", () => {
    const message = 'the key "__proto__" is not allowed';
    for (const text of ["__proto__", '"__proto__"', "after __proto__"])
      expect(parseLabel(text, invokes)).toEqual({ problem: { message, at: 0 } });
    expect(parseLabel("go / note, assign __proto__ = 1", invokes)).toEqual({ problem: { message, at: 3 } });
    expect(read("go / assign proto__ = 1").actions).toEqual(["assign proto__ = 1"]);
  });

  test("an action with commas inside brackets is one action", () => {
    expect(read("go / assign x = max(1, 2), note").actions).toEqual(["assign x = max(1, 2)", "note"]);
  });
});

// --- printing and reading back

const word = fc.stringMatching(/^[a-zA-Z_][\w.-]{0,8}$/);
const anyEvent = fc.oneof(
  word,
  fc.constantFrom("always", "done", "after", "done(up)", "a b", "*", "x[1]", 'say "hi"', "a/b", "после"),
);
const when: fc.Arbitrary<When> = fc.oneof(
  anyEvent.map((event): When => ({ kind: "event", event })),
  fc.constantFrom<When>({ kind: "always" }, { kind: "done" }),
  fc
    .constantFrom("5s", "1h30m", "PT5S", "1000", "context.wait * 2", "gr[ace")
    .map((delay): When => ({ kind: "after", delay })),
  fc
    .tuple(fc.nat(2), fc.constantFrom("onDone", "onError", "onEvent"))
    .map(([index, on]): When => ({ kind: "invoke", index, on: on as "onDone" })),
);
const guard = fc.option(
  fc.oneof(
    fc.constantFrom("a > 1", "x[0] == ']'", "In('a.b') && y", "'it''s'", "named", "m['k'] in [1, 2]"),
    fc.constantFrom(
      { type: "fits", params: { n: 1 } },
      { and: ["a", { not: "b" }] },
      { in: "x" },
      { placeholder: "p", text: "x => y" },
    ),
  ),
  { nil: undefined },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  word,
  fc.constantFrom<Action>(
    { assign: { x: "1" } },
    { assign: { x: "1", y: "2" } },
    { send: { type: "PING", to: "#_parent", data: { a: "1" } } },
    { raise: { type: "x" } },
    { cancel: "t" },
    { log: "context.x", label: "now, here" },
    { if: "a, b", then: "x", else: "y" },
    { type: "named", params: { k: 1 } },
    { compensate: true },
    { placeholder: "f(a, b)" },
  ),
);

test("printing and reading back gives the same transition, whatever it holds", () => {
  fc.assert(
    fc.property(when, guard, fc.array(action, { maxLength: 4 }), (start, condition, actions) => {
      const spec = {
        ...(condition === undefined ? {} : { guard: condition }),
        ...(actions.length === 0 ? {} : { actions }),
        description: "stays",
      } as TransitionObject;
      const label = labelText(start, spec, invokes);
      const text = printLabel(label);
      const parsed = parseLabel(text, invokes);
      expect(parsed, text).not.toHaveProperty("problem");
      if ("problem" in parsed) return;
      expect(parsed.when, text).toEqual(start);
      expect(editedSpec(spec, label, parsed), text).toEqual(spec);
    }),
    { numRuns: 1000 },
  );
});
