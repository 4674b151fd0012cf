import { expect, test } from "vitest";
import { changedSince } from "./changed-since";

const seen = { id: "order-1", incarnation: 1, seq: 5, status: "running" } as const;

test("what moved on since it was looked at, and what got its id since, are told apart", () => {
  expect(changedSince(seen, { ...seen, seq: 1_007 })).toBe(
    "order-1 has moved on, from #5 to #1,007, and is running. Nothing was deleted. Look again; if it is still to go, type its id once more.",
  );
  expect(changedSince(seen, { ...seen, incarnation: 2, seq: 7, status: "queued" })).toContain(
    "was deleted and made anew meanwhile: this is another instance, at #7, and is queued.",
  );
});
