import { expect, test } from "vitest";
import type { InstanceStatus } from "@/lib/contract/instances";
import {
  canMigrate,
  canReset,
  haltOf,
  namesIn,
  possibleVerbs,
  shortReasonOf,
  splitNames,
  waitsFor,
} from "./control-words";

test("an instance is offered what makes sense in its status, and nothing once it has ended", () => {
  expect(possibleVerbs("running")).toEqual(["suspend", "cancel", "terminate"]);
  expect(possibleVerbs("suspended")).toEqual(["resume", "cancel", "terminate"]);
  expect(possibleVerbs("failed")).toEqual(["redrive", "cancel", "terminate"]);
  expect(possibleVerbs("cancelling")).toEqual(["terminate"]);
  expect(possibleVerbs("completed")).toEqual([]);
});

test("what has not ended can be moved to another version; what runs or halted can be reset", () => {
  expect(["running", "queued", "stuck", "completed", "terminated"].map(canMigrate)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(["running", "queued", "stuck", "failed", "completed"].map(canReset)).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
});

test("a halt names its cause, how much waits, and the verb that helps", () => {
  const plain = { pending: 0, error: null, conditions: [] };
  const at = (status: InstanceStatus, pending = 0) => haltOf({ ...plain, status, pending });
  expect(at("running")).toBeNull();
  expect(at("suspended", 1)).toEqual({
    title: "Suspended.",
    text: "Events wait, timers do not fire. 1 message waits.",
    verb: "resume",
  });
  const error = { code: "error.execution", message: "division by zero" };
  expect(haltOf({ ...plain, status: "failed", pending: 2, error })).toEqual({
    title: "Failed.",
    text: "error.execution: division by zero. 2 messages wait.",
    verb: "redrive",
  });
  expect(haltOf({ ...plain, status: "stuck", error })).toMatchObject({
    title: "Stuck.",
    verb: "redrive",
  });
  const key = { for: "key" as const, taskId: null, of: "crane-1", by: "job-7", until: null };
  const conditions = [{ ...key, reason: "the concurrency key crane-1, which job-7 has" }];
  expect(haltOf({ ...plain, status: "queued", conditions })).toEqual({
    title: "Queued.",
    text: "It waits for the concurrency key crane-1, which job-7 has. It begins when its turn comes.",
    verb: "cancel",
  });
});

test("what an instance waits for is one sentence, however much it is", () => {
  const task = { for: "task" as const, taskId: "1:pay", of: "charge", by: null, until: null };
  const conditions = [{ ...task, reason: "a worker that takes pay (charge)" }];
  expect(waitsFor({ conditions: [] })).toBeNull();
  expect(waitsFor({ conditions })).toBe("It waits for a worker that takes pay (charge).");
  expect(waitsFor({ conditions: [...conditions, ...conditions, ...conditions] })).toMatch(
    / And for 2 more\.$/,
  );
});

test("children are told by their invocation, locks by their keys before who holds them", () => {
  const child = { for: "child" as const, taskId: "1:kids", of: "each", by: null, until: null, reason: "" };
  expect(waitsFor({ conditions: [child] })).toBe("It waits for the children of kids.");
  expect(shortReasonOf({ ...child, of: "chart" })).toBe("the child of kids");
  const reason = "the locks zone:A1, which agv-1 holds; zone:B2, which agv-1 holds";
  const lock = { ...child, for: "lock" as const, of: "zone:A1, zone:B2", by: "agv-1", reason };
  expect(shortReasonOf(lock)).toBe("the locks zone:A1, zone:B2");
  expect(shortReasonOf({ ...lock, of: "lock", by: null, reason: "the locks of zone" })).toBe(
    "the locks of zone",
  );
  expect(splitNames(reason, namesIn(lock)).filter((_, place) => place % 2 === 1)).toEqual([
    "zone:A1",
    "agv-1",
    "zone:B2",
    "agv-1",
  ]);
});

test("a name is found as it stands alone, not inside another word", () => {
  expect(splitNames("a worker that takes pay (a.b)", ["pay", "a.b"])).toEqual([
    "a worker that takes ",
    "pay",
    " (",
    "a.b",
    ")",
  ]);
  expect(splitNames("payment", ["pay"])).toEqual(["payment"]);
  expect(splitNames("nothing", [])).toEqual(["nothing"]);
});
