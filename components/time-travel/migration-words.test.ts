import { expect, test } from "vitest";
import { chartTree } from "@/lib/diagram/chart-tree";
import { migrationHint, migrationTitle, planRows, restable } from "./migration-words";

test("an instance is moved to states that it can rest in", () => {
  const tree = chartTree({
    lockstep: 1,
    initial: "a",
    states: {
      a: { initial: "b", states: { b: {}, h: { type: "history" } } },
      p: { type: "parallel", states: { l: {}, r: {} } },
      done: { type: "final" },
    },
  });
  expect(restable(tree)).toEqual(["a.b", "p.l", "p.r", "done"]);
});

test("the button says why it is off", () => {
  expect(migrationHint(null, "why")).toBe("Finding out…");
  expect(migrationHint("blocked", "why")).toBe("Blocked: see above");
  expect(migrationHint("needs-mapping", "why")).toBe("Choose where it goes first");
  expect(migrationHint("ok", "")).toBe("Give a reason first");
  expect(migrationHint("ok", "why")).toBeNull();
});

test("a dry run is said in one line", () => {
  const plan = (verdict: "ok" | "needs-mapping" | "blocked", open: number) =>
    migrationTitle({
      verdict,
      states: Array.from({ length: open }, (_, n) => ({
        state: `s${n}`,
        to: null,
        verdict: "needs-mapping" as const,
        why: "no such state",
      })),
      timersDropped: [],
      contextAdded: [],
    });
  expect(plan("ok", 0)).toBe("It can move as it is");
  expect(plan("needs-mapping", 1)).toBe("Say where 1 state goes");
  expect(plan("needs-mapping", 2)).toBe("Say where 2 states go");
  expect(plan("blocked", 1)).toBe("It can’t move like this");
});

test("what blocks an active state is said in its row, what blocks another thing in a row of its own", () => {
  const blocked = (state: string, why: string) => ({ state, to: null, verdict: "blocked" as const, why });
  const { rows, blocks } = planRows({
    verdict: "blocked",
    states: [
      { state: "shipping", to: "shipping", verdict: "ok", why: null },
      { state: "idle", to: "idle", verdict: "ok", why: null },
      blocked("shipping", "its invocation a is under way"),
      blocked("shipping", "its invocation b is under way"),
      blocked("order", "its invocation c is under way"),
    ],
    timersDropped: [],
    contextAdded: [],
  });
  expect(rows).toEqual([
    {
      state: "shipping",
      to: "shipping",
      verdict: "blocked",
      whys: ["its invocation a is under way", "its invocation b is under way"],
    },
    { state: "idle", to: "idle", verdict: "ok", whys: [] },
  ]);
  expect(blocks).toMatchObject([{ state: "order", whys: ["its invocation c is under way"] }]);
});
