import { expect, test, vi } from "vitest";
import { isLasting, isPassing, LockstepError } from "./errors";

test("a refusal made by another instance of this module is still one", async () => {
  vi.resetModules();
  const other = await import("./errors");
  expect(other.LockstepError).not.toBe(LockstepError);
  const error: unknown = new other.LockstepError("not-found", "There is no chart x.", {
    details: { id: "x" },
  });
  expect(error instanceof LockstepError).toBe(true);
});

test("other errors are none", () => {
  expect(new Error("x") instanceof LockstepError).toBe(false);
  expect(Object.assign(new Error("x"), { code: "ENOENT", retry: "never" }) instanceof LockstepError).toBe(
    false,
  );
  expect(({ name: "LockstepError", code: "x", retry: "never" } as unknown) instanceof LockstepError).toBe(
    false,
  );
});

test("a refusal lasts or passes; a defect does neither", () => {
  const told = (error: unknown) => [isLasting(error), isPassing(error)];
  expect(told(new LockstepError("not-found", "There is no chart x."))).toEqual([true, false]);
  expect(told(new LockstepError("database-busy", "Try again.", { retry: "later" }))).toEqual([false, true]);
  expect(told(Object.assign(new Error("x"), { retry: "never" }))).toEqual([false, false]);
  expect(told(null)).toEqual([false, false]);
});
