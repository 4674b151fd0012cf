import { expect, test } from "vitest";
import type { LockLogEntry } from "@/lib/contract/locks";
import { foldRenewals, grantsOf } from "./lock-history";

let seq = 0;
const entry = (type: LockLogEntry["type"], at: number, over: Partial<LockLogEntry> = {}): LockLogEntry => ({
  seq: ++seq,
  type,
  at,
  fence: 1,
  holder: "agv-12",
  session: "s1",
  actor: "local",
  reason: null,
  details: {},
  ...over,
});
/** Newest first, as the server sends them. */
const log = [
  entry("WRITE_REJECTED", 60, { fence: 3, holder: "agv-12" }),
  entry("ACQUIRED", 50, { fence: 3, holder: "agv-31" }),
  entry("FORCE_RELEASED", 49, { fence: 2 }),
  entry("RENEWED", 40),
  entry("RENEWED", 30),
  entry("RENEWED", 20),
  entry("ACQUIRED", 10),
  entry("RELEASED", 5, { holder: "agv-04" }),
];

test("renewals in a row become one line with their count and span; nothing else is folded", () => {
  const lines = foldRenewals(log);
  expect(lines.map((line) => (line.kind === "entry" ? line.entry.type : `RENEWED × ${line.count}`))).toEqual([
    "WRITE_REJECTED",
    "ACQUIRED",
    "FORCE_RELEASED",
    "RENEWED × 3",
    "ACQUIRED",
    "RELEASED",
  ]);
  expect(lines[3]).toMatchObject({ from: 20, to: 40, holder: "agv-12" });
});

test("a grant lasts from its acquisition to what ended it; the newest is open", () => {
  expect(grantsOf(log)).toEqual([
    { holder: "agv-12", fence: 1, from: 10, to: 49, end: "forced" },
    { holder: "agv-31", fence: 3, from: 50, to: null, end: null },
  ]);
});

test("a rejected write ends nothing", () => {
  expect(grantsOf(log.slice(0, 2)).at(-1)).toMatchObject({ holder: "agv-31", to: null });
});

test("a waiter's grant begins with its handoff, once", () => {
  const handed = [
    entry("ACQUIRED", 21, { fence: 3, holder: "agv-31" }),
    entry("HANDOFF", 20, { fence: 3, holder: "agv-31" }),
    entry("RELEASED", 19, { fence: 2 }),
    entry("ACQUIRED", 10, { fence: 2 }),
  ];
  expect(grantsOf(handed)).toEqual([
    { holder: "agv-12", fence: 2, from: 10, to: 19, end: "released" },
    { holder: "agv-31", fence: 3, from: 20, to: null, end: null },
  ]);
  expect(grantsOf(handed.slice(1))).toHaveLength(2);
});
