import { expect, test } from "vitest";
import {
  formatAbsolute,
  formatAge,
  formatClock,
  formatCount,
  formatDuration,
  formatInZone,
  formatRelative,
} from "./time";

test.each([
  [0, "0 s"],
  [450, "0.4 s"],
  [2_000, "2 s"],
  [59_999, "59 s"],
  [60_000, "1 m 00 s"],
  [492_000, "8 m 12 s"],
  [3_600_000, "1 h 00 m"],
  [20_280_000, "5 h 38 m"],
  [90_000_000, "1 d 1 h"],
  [-5, "0 s"],
])("a duration of %i ms reads %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("an age has one unit, always rounded down", () => {
  expect([0, 59_999, 119_999, 7_199_999, 86_400_000].map(formatAge)).toEqual([
    "0 s",
    "59 s",
    "1 m",
    "1 h",
    "1 d",
  ]);
});

test("relative times speak of past and future, and of now below a second", () => {
  expect(formatRelative(1_000, 1_999)).toBe("just now");
  expect(formatRelative(0, 338_000)).toBe("5 m 38 s ago");
  expect(formatRelative(12_000, 0)).toBe("in 12 s");
});

test("absolute times are in the zone asked for, with milliseconds", () => {
  const at = Date.UTC(2026, 10, 29, 14, 8, 57, 233);
  expect(formatAbsolute(at, "utc")).toBe("29 Nov 2026 14:08:57.233");
  expect(formatClock(at, "utc")).toBe("14:08:57.233");
  expect(formatClock(at, "utc", "coarse")).toBe("14:08:57");
  expect(formatClock(Date.UTC(2026, 0, 1, 0, 0, 0, 7), "utc")).toBe("00:00:00.007");
});

test("counts are grouped", () => {
  expect(formatCount(5031)).toBe("5,031");
});

test("a time in a zone of its own names the zone's clock, also on both sides of a change", () => {
  expect(formatInZone(Date.UTC(2026, 9, 25, 0, 30), "Europe/Berlin")).toBe("Sun 25 Oct 2026 02:30:00 CEST");
  expect(formatInZone(Date.UTC(2026, 9, 25, 1, 30), "Europe/Berlin")).toBe("Sun 25 Oct 2026 02:30:00 CET");
  expect(formatInZone(Date.UTC(2026, 10, 30, 2, 30), "UTC")).toBe("Mon 30 Nov 2026 02:30:00 UTC");
});
