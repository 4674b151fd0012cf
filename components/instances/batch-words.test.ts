import { expect, test } from "vitest";
import { batchVerb, type BatchView } from "@/lib/contract/batches";
import {
  batchVerbs,
  filterWords,
  instancesWords,
  numberProblem,
  progressWords,
  targetWords,
  unfit,
} from "./batch-words";

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

test("a batch says to which entry or version, and by which filters, each by itself", () => {
  const plain = { seq: null, version: null };
  expect(targetWords({ ...plain, verb: "reset", seq: 1 })).toBe("to #1");
  expect(targetWords({ ...plain, verb: "fork", seq: 1_412 })).toBe("from #1,412");
  expect(targetWords({ ...plain, verb: "fork" })).toBe("from each one’s newest");
  expect(targetWords({ ...plain, verb: "migrate", version: 3 })).toBe("to v3");
  expect(targetWords({ ...plain, verb: "suspend" })).toBeNull();
  expect(filterWords({})).toBe("all");
  expect(filterWords({ status: "failed", label: ["bulk:yes", "mod:0"] })).toBe(
    "status failed, label bulk:yes, label mod:0",
  );
});

test("a number that is none and one that is too large are told apart", () => {
  for (const fine of ["", "1", "10000"]) expect(numberProblem(fine, 10_000)).toBeNull();
  for (const none of ["0", "x", "1.5", "-1"])
    expect(numberProblem(none, 10_000)).toBe("A whole number from 1 to 10,000.");
  expect(numberProblem("10001", 10_000)).toBe("Too large: at most 10,000.");
  expect(numberProblem("9".repeat(20), Number.MAX_SAFE_INTEGER)).toBe(
    "Too large: at most 9,007,199,254,740,991.",
  );
});
