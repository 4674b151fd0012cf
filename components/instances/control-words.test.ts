import { expect, test } from "vitest";
import { haltOf, possibleVerbs } from "./control-words";

test("an instance is offered what makes sense in its status, and nothing once it has ended", () => {
  expect(possibleVerbs("running")).toEqual(["suspend", "cancel", "terminate"]);
  expect(possibleVerbs("suspended")).toEqual(["resume", "cancel", "terminate"]);
  expect(possibleVerbs("failed")).toEqual(["redrive", "cancel", "terminate"]);
  expect(possibleVerbs("cancelling")).toEqual(["terminate"]);
  expect(possibleVerbs("completed")).toEqual([]);
});

test("a halt names its cause, how much waits, and the verb that helps", () => {
  const at = (status: string, pending = 0) => haltOf({ status, pending, error: null });
  expect(at("running")).toBeNull();
  expect(at("suspended", 1)).toEqual({
    title: "Suspended.",
    text: "Events wait, timers do not fire. 1 message waits.",
    verb: "resume",
  });
  const error = { code: "error.execution", message: "division by zero" };
  expect(haltOf({ status: "failed", pending: 2, error })).toEqual({
    title: "Failed.",
    text: "error.execution: division by zero. 2 messages wait.",
    verb: "redrive",
  });
});
