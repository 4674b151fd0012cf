import { expect, test } from "vitest";
import { batchVerb, type BatchView } from "@/lib/contract/batches";
import { batchVerbs, instancesWords, progressWords, unfit } from "./batch-words";

const batch = { status: "running", total: 12, ok: 3, refused: 1, skipped: 1 } as BatchView;

test("every verb of the API but fork is offered, gentlest first", () => {
  expect([...batchVerbs, "fork"].sort()).toEqual([...batchVerb.options].sort());
  expect(batchVerbs.slice(-2)).toEqual(["terminate", "delete"]);
});

test("how many a verb does not fit is told by their statuses", () => {
  const byStatus = [
    { status: "running", count: 5 },
    { status: "failed", count: 2 },
  ] as const;
  const count = { count: 7, capped: false, byStatus: [...byStatus] };
  expect(unfit("redrive", count)).toBe(5);
  expect(unfit("suspend", count)).toBe(2);
  expect(unfit("terminate", count)).toBe(0);
  expect(unfit("retry-dead-letters", count)).toBeNull();
});

test("counts and progress in words", () => {
  expect(instancesWords({ count: 1, capped: false })).toBe("1 instance");
  expect(instancesWords({ count: 100_000, capped: true })).toBe("100,000+ instances");
  expect(progressWords(batch)).toBe("5 of 12");
  expect(progressWords({ ...batch, status: "listing" })).toBe("listing, 12 so far");
  expect(progressWords({ ...batch, status: "cancelled" })).toBe("stopped at 5 of 12");
  expect(progressWords({ ...batch, status: "done" })).toBe("all 12");
});
