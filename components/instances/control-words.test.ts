import { expect, test } from "vitest";
import type { InstanceStatus } from "@/lib/contract/instances";
import { canMigrate, canReset, haltOf, possibleVerbs, waitsFor } from "./control-words";

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
