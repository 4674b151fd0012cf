import { expect, test } from "vitest";
import { readAction } from "./action-text";

test("an action's JSON is read as every JSON field is: what a draft can't hold is refused in place", () => {
  expect(readAction('{"assign": {"__proto__": "1"}}')).toEqual({
    problem: 'At line 1, column 13: the key "__proto__" is not allowed.',
  });
  expect(readAction("assign __proto__ = 1")).toEqual({ problem: 'the key "__proto__" is not allowed' });
  expect(readAction('{"log": 1e999}')).toEqual({
    problem: "At line 1, column 9: 1e999 is too large for a number.",
  });
  expect(readAction('{"log": 9007199254740992}')).toHaveProperty("problem");
  expect(readAction('{"log": "context.x"}')).toEqual({ action: { log: "context.x" } });
});
