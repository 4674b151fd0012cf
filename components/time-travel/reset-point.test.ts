import { expect, test } from "vitest";
import { readPoint, whyNotFrom } from "./reset-point";

test("a point is a seq, as it is written anywhere on the page", () => {
  expect(readPoint("412", 5_031)).toEqual({ seq: 412, error: null });
  expect(readPoint(" #5,031 ", 5_031)).toEqual({ seq: 5_031, error: null });
  expect(readPoint("", 9)).toEqual({ seq: null, error: null });
  for (const wrong of ["0", "5032", "-1", "1.5", "four", "9".repeat(40)]) {
    expect(readPoint(wrong, 5_031)).toEqual({
      seq: null,
      error: "There is no such event: give a number from 1 to 5,031.",
    });
  }
});

test("nothing goes on from where it had failed, had ended, or was on another version", () => {
  const instance = { version: 2 };
  expect(whyNotFrom({ seq: 3, status: "running", version: 2 }, instance)).toBeNull();
  expect(whyNotFrom({ seq: 3, status: "failed", version: 2 }, instance)).toBe(
    "At #3 it had failed: nothing goes on from there. Take an earlier event.",
  );
  expect(whyNotFrom({ seq: 3, status: "done", version: 2 }, instance)).toContain("had ended");
  expect(whyNotFrom({ seq: 3, status: "running", version: 1 }, instance)).toBe(
    "At #3 it was on v1, now it is on v2. Fork it from there instead.",
  );
});
