import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCron, type Cron } from "@/lib/base/cron";
import { decideTicks, graceMs, type Decision, type Misfire } from "./schedule-rules";

function cron(expression: string): Cron {
  const read = readCron(expression, "UTC");
  if ("problem" in read) throw new Error(read.problem);
  return read;
}
const hourly = cron("0 * * * *");
const at = (text: string): number => Date.parse(`2026-11-29T${text}Z`);
const decide = (misfire: Misfire, nextAt: string, now: string, misfireMax = 2) =>
  decideTicks(hourly, { nextAt: at(nextAt), misfire, misfireMax }, at(now));

describe.each(["skip", "once", "all"] as const)("with %s", (misfire) => {
  test("a tick in time fires alone, also some seconds late", () => {
    expect(decide(misfire, "10:00", "10:00:00.000")).toEqual({
      fire: [at("10:00")],
      standsFor: 0,
      skipped: null,
      nextAt: at("11:00"),
    });
    expect(decide(misfire, "10:00", "10:00:29").fire).toEqual([at("10:00")]);
  });
});

test("skip: missed ticks are skipped, one in time beside them fires", () => {
  expect(decide("skip", "08:00", "10:00:05")).toEqual({
    fire: [at("10:00")],
    standsFor: 0,
    skipped: { at: at("09:00"), before: 1 },
    nextAt: at("11:00"),
  });
  expect(decide("skip", "08:00", "10:30")).toMatchObject({
    fire: [],
    skipped: { at: at("10:00"), before: 2 },
  });
});

test("once: the newest due tick fires for all of them", () => {
  expect(decide("once", "08:00", "10:30")).toEqual({
    fire: [at("10:00")],
    standsFor: 2,
    skipped: null,
    nextAt: at("11:00"),
  });
});

test("all: the newest ones are made up, oldest first, the others skipped; one in time comes on top", () => {
  expect(decide("all", "07:00", "10:00:05")).toEqual({
    fire: [at("08:00"), at("09:00"), at("10:00")],
    standsFor: 0,
    skipped: { at: at("07:00"), before: 0 },
    nextAt: at("11:00"),
  });
});

test("however long nobody was there, a decision is bounded and made at once", () => {
  const everySecond = cron("* * * * * *");
  const year = { nextAt: Date.UTC(2025, 0, 1), misfireMax: 100 };
  const began = performance.now();
  const skip = decideTicks(everySecond, { ...year, misfire: "skip" }, at("10:00"));
  expect(skip).toMatchObject({ skipped: { before: 68 }, nextAt: at("09:59:50") });
  expect(skip.fire).toHaveLength(20);
  const once = decideTicks(everySecond, { ...year, misfire: "once" }, at("10:00"));
  expect(once).toMatchObject({ fire: [at("10:00")], standsFor: 99, nextAt: at("10:00:01") });
  const all = decideTicks(everySecond, { ...year, misfire: "all" }, at("10:00"));
  expect(all.fire[0]).toBe(at("09:58:21"));
  expect(all.fire).toHaveLength(20);
  expect(all.skipped).toEqual({ at: at("09:58:20"), before: 0 });
  expect(performance.now() - began).toBeLessThan(2_000);
});

test("each tick is decided once, in order, wherever workers look from, and none is lost", () => {
  const expressions = ["*/7 * * * *", "0,1,2,30 * * * *", "*/5 * * * * *", "0 3 * * *"];
  fc.assert(
    fc.property(
      fc.constantFrom(...expressions),
      fc.constantFrom<Misfire>("skip", "once", "all"),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 1, max: 20 * 60_000 }), { minLength: 1, maxLength: 6 }),
      (expression, misfire, misfireMax, pausesMs) => {
        const read = cron(expression);
        const start = at("00:00");
        let now = start;
        let nextAt = read.next(start) ?? 0;
        const fired: number[] = [];
        let decided = 0;
        const look = (): Decision | null => {
          if (nextAt > now) return null;
          const decision = decideTicks(read, { nextAt, misfire, misfireMax }, now);
          expect(decision.nextAt).toBeGreaterThan(nextAt);
          const { fire, standsFor, skipped } = decision;
          decided += fire.length + standsFor + (skipped ? skipped.before + 1 : 0);
          fired.push(...fire);
          nextAt = decision.nextAt ?? Infinity;
          return decision;
        };
        for (const pauseMs of pausesMs) {
          now += pauseMs;
          while (look());
        }
        const due: number[] = [];
        for (let tick = read.next(start); tick !== null && tick <= now; tick = read.next(tick))
          due.push(tick);
        expect(new Set(fired).size).toBe(fired.length);
        expect([...fired].sort((a, b) => a - b)).toEqual(fired);
        for (const tick of fired) expect(due).toContain(tick);
        // Counted exactly as long as no look finds more than are counted one by one.
        const most = Math.max(...pausesMs) / 5_000;
        if (most < 90) expect(decided).toBe(due.length);
        const last = due.at(-1);
        if (last !== undefined && last > now - graceMs) expect(fired.at(-1)).toBe(last);
      },
    ),
    { numRuns: 20 },
  );
});
