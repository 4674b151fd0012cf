import { expect, test } from "vitest";
import { readCron } from "@/lib/base/cron";
import type { ScheduleView } from "@/lib/contract/schedules";
import { emptyForm, formOf, readForm } from "./rule-form";
import { actionWords, missedWords, nextWords, statusOf } from "./schedule-words";

const schedule: ScheduleView = {
  id: "nightly-count",
  revision: 3,
  cron: "30 2 * * *",
  timeZone: "Europe/Berlin",
  action: {
    kind: "start",
    chartId: "count",
    version: 2,
    input: { zones: ["Z-14"] },
    businessKey: "K",
    labels: { site: "eu-1" },
    priority: 1,
  },
  misfire: "all",
  misfireMax: 7,
  paused: false,
  nextAt: 1_000_000,
  createdAt: 1,
  createdBy: "local",
  updatedAt: 1,
  updatedBy: "local",
  lastTicks: [],
};

test("the next time reads as a wait on whole seconds, or says why there is none", () => {
  expect(nextWords(schedule, 1_000_000 - 3 * 3_600_000 - 200)).toBe("in 3 h 00 m");
  expect(nextWords(schedule, 999_999)).toBe("in 1 s");
  expect(nextWords(schedule, 1_000_000)).toBe("due now");
  expect(nextWords({ paused: true, nextAt: null }, 0)).toBe("paused");
  expect(nextWords({ paused: false, nextAt: null }, 0)).toBe("no time ahead");
  expect([schedule, { paused: true, nextAt: null }, { paused: false, nextAt: null }].map(statusOf)).toEqual([
    "active",
    "paused",
    "over",
  ]);
  expect([0, 3, 99].map(missedWords)).toEqual([
    "",
    "and 3 missed before it",
    "and 99 or more missed before it",
  ]);
});

test("what it does reads as a verb and its object", () => {
  expect(actionWords(schedule.action)).toBe("start count v2");
  expect(actionWords({ kind: "send", to: { businessKey: "K" }, type: "tick", data: null })).toBe(
    "send tick to key K",
  );
});

test("a schedule shown in the form and sent back unchanged is the same rule", () => {
  expect(readForm(formOf(schedule))).toEqual({
    rule: {
      cron: schedule.cron,
      timeZone: schedule.timeZone,
      action: schedule.action,
      misfire: "all",
      misfireMax: 7,
    },
    problems: {},
    missing: [],
  });
  const sends = { kind: "send", to: { instanceId: "agv-07" }, type: "tick", data: { n: 1 } } as const;
  expect(readForm(formOf({ ...schedule, action: sends })).rule?.action).toEqual(sends);
});

test("what is wrong is told at its field, what is empty is missing", () => {
  const filled = {
    ...emptyForm("UTC"),
    id: "a b",
    cron: "61 * * * *",
    chartId: "c",
    input: "{",
    labels: "x",
  };
  const { rule, problems, missing } = readForm({ ...filled, misfire: "all", misfireMax: "0" });
  expect(rule).toBeNull();
  expect(missing).toEqual([]);
  expect(Object.keys(problems).sort()).toEqual(["cron", "id", "input", "labels", "misfireMax"]);
  expect(readForm(emptyForm("UTC"))).toMatchObject({ missing: ["id", "cron", "chartId"], problems: {} });
  const unknown = readCron("* * * * *", "Nowhere");
  expect("problem" in unknown && unknown.problem).toBe(
    readForm({ ...formOf(schedule), timeZone: "Nowhere" }).problems.timeZone,
  );
});

test("labels beyond what is taken are told at their field", () => {
  const told = (labels: string) => readForm({ ...emptyForm("UTC"), labels }).problems.labels;
  const many = Array.from({ length: 33 }, (_, n) => `k${n}=v`);
  expect(told(many.slice(1).join("\n"))).toBeUndefined();
  expect(told(many.join("\n"))).toBe("At most 32 labels are taken.");
  expect(told(`${"k".repeat(64)}=v`)).toMatch(/^A key has at most 63 characters/);
  expect(told(`k=${"v".repeat(256)}`)).toBe("The value of k has more than 255 characters.");
});
