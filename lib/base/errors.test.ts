import { expect, test, vi } from "vitest";
import { LockstepError } from "./errors";

test("an error made by another instance of this module is still a LockstepError", async () => {
  vi.resetModules();
  const other = await import("./errors");
  expect(other.LockstepError).not.toBe(LockstepError);
  const error: unknown = new other.LockstepError("stale-fence", "fence 1 of zone:Z-14 is no longer good");
  expect(error instanceof LockstepError).toBe(true);
  expect(new Error("plain") instanceof LockstepError).toBe(false);
  expect(error instanceof Error).toBe(true);
});
