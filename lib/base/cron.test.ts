import fc from "fast-check";
import { expect, test } from "vitest";
import { nextTimes, readCron, type Cron } from "./cron";

function cron(expression: string, timeZone = "UTC"): Cron {
  const read = readCron(expression, timeZone);
  if ("problem" in read) throw new Error(read.problem);
  return read;
}
const times = (expression: string, timeZone: string, after: string, count: number) =>
  nextTimes(cron(expression, timeZone), Date.parse(after), count).map((time) =>
    new Date(time).toISOString().slice(5, 16),
  );

test("a time that the clock skips comes at the first moment after the gap", () => {
  // 2026-03-29 in Berlin has no 02:30.
  expect(times("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3)).toEqual([
    "03-28T01:30",
    "03-29T01:00",
    "03-30T00:30",
  ]);
  expect(times("30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 3)).toEqual([
    "03-29T00:30",
    "03-29T01:30",
    "03-29T02:30",
  ]);
});

test("a time that the clock shows twice comes once; with open hours or minutes, both times", () => {
  // 2026-10-25 in Berlin has 02:30 twice.
  expect(times("30 2 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", 2)).toEqual([
    "10-25T00:30",
    "10-26T01:30",
  ]);
  expect(times("30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", 3)).toEqual([
    "10-25T00:30",
    "10-25T01:30",
    "10-25T02:30",
  ]);
});

test.each([
  ["61 * * * *", "UTC", "cron", "Invalid value for minute: 61."],
  ["* * *", "UTC", "cron", "five fields"],
  ["", "UTC", "cron", "five fields"],
  ["* * * * * * *", "UTC", "cron", "five fields"],
  ["2026-12-01T00:00:00", "UTC", "cron", "five fields"],
  [`${"1,".repeat(200)}1 * * * *`, "UTC", "cron", "five fields"],
  ["* * * * *", "Middle/Earth", "timeZone", "no IANA time zone"],
  ["* * * * *", "+02:00", "timeZone", "no IANA time zone"],
  ["* * * * *", "", "timeZone", "no IANA time zone"],
])("%j in %j is refused at its field", (expression, timeZone, field, words) => {
  const read = readCron(expression, timeZone);
  expect(read).toMatchObject({ field });
  expect("problem" in read && read.problem).toContain(words);
});

test("what can never come has no next time", () => {
  expect(cron("0 0 31 2 *").next(Date.UTC(2026, 0, 1))).toBeNull();
});

test("the times before a moment are exactly those that come after one another, around every change of clocks", () => {
  const expressions = [
    "30 2 * * *",
    "*/20 * * * *",
    "0 0 L * *",
    "0 9 * * MON#1",
    "15 1-4 * * *",
    "0,30 2,3 * 3,10 *",
  ];
  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"];
  const changes = [
    "2026-03-29T01:00Z",
    "2026-10-25T01:00Z",
    "2026-03-08T07:00Z",
    "2026-11-01T06:00Z",
    "2026-04-04T15:00Z",
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...expressions),
      fc.constantFrom(...zones),
      fc.constantFrom(...changes),
      fc.integer({ min: -6 * 3_600_000, max: 6 * 3_600_000 }),
      (expression, zone, change, offMs) => {
        const read = cron(expression, zone);
        const at = Date.parse(change) + offMs;
        const before = read.before(at, 3);
        expect(before).toHaveLength(3);
        const oldest = before[2] ?? 0;
        expect(nextTimes(read, oldest - 1, 3)).toEqual([...before].reverse());
        const next = read.next(before[0] ?? 0);
        expect(next).toBeGreaterThanOrEqual(at);
        expect(read.next(at)).toBeGreaterThan(at);
      },
    ),
    { numRuns: 150 },
  );
});
