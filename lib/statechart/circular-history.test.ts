import { expect, test } from "vitest";
import { diagnose } from "./diagnose";
import type { StateNode } from "./document";

const codes = (p: StateNode): string[] =>
  diagnose({ lockstep: 1, initial: "p", states: { p } })
    .filter(({ severity }) => severity === "error")
    .map(({ code, at }) => `${code} ${at.state}`);

test("a history state whose default leads back to itself is an error, never an endless entry", () => {
  const states = { a: {}, h: { type: "history" }, g: { type: "history", target: "h" } } as const;
  expect(codes({ initial: "h", states: { a: {}, h: { type: "history" } } })).toEqual([
    "circular-history p.h",
  ]);
  expect(codes({ initial: "g", states })).toEqual(["circular-history p.h", "circular-history p.g"]);
});

test("a history state may be where its parent starts, when its default is a state", () => {
  expect(codes({ initial: "h", states: { a: {}, h: { type: "history", target: "a" } } })).toEqual([]);
});
