import { expect, test } from "vitest";
import type { InstanceSummary } from "@/lib/contract/instances";
import type { LockSummary } from "@/lib/contract/locks";
import { attentionRows } from "./attention";

const now = 10_000_000;
const instance = (over: Partial<InstanceSummary>): InstanceSummary => ({
  id: "agv-1",
  chartId: "agv-mission",
  version: 2,
  status: "running",
  configuration: ["mission.idle"],
  seq: 3,
  priority: 0,
  businessKey: null,
  labels: {},
  createdAt: 0,
  updatedAt: now - 1_000,
  concurrencyKey: null,
  blockedBy: null,
  conditions: [],
  lastEvent: null,
  error: null,
  ...over,
});
const lock = (over: Partial<LockSummary>): LockSummary => ({
  key: "zone:1",
  status: "held",
  fence: 1,
  holder: "agv-2",
  session: "s",
  acquiredAt: now - 5_000,
  renewedAt: now - 1_000,
  expiresAt: now + 1_000,
  ttlMs: 30_000,
  holdUntil: null,
  coolMs: null,
  coolUntil: null,
  waiters: 0,
  longestWaitMs: null,
  health: "healthy",
  instance: null,
  rejectedWrites: 0,
  ...over,
});

test("a healthy house needs nobody", () => {
  expect(attentionRows([instance({})], [lock({}), lock({ health: "late" })], now)).toEqual([]);
});

test("worst first: stuck, failed, then locks nobody will free, then long waits; oldest first among equals", () => {
  const rows = attentionRows(
    [
      instance({ id: "f-new", status: "failed", updatedAt: now - 1 }),
      instance({
        id: "f-old",
        status: "failed",
        updatedAt: now - 9,
        error: { code: "x", message: "no handler" },
      }),
      instance({ id: "s", status: "stuck" }),
    ],
    [
      lock({ key: "w", waiters: 2, longestWaitMs: 260_000 }),
      lock({ key: "e", health: "expired" }),
      lock({ key: "h", health: "holder-finished" }),
      lock({ key: "short", waiters: 1, longestWaitMs: 1_000 }),
    ],
    now,
  );
  expect(rows.map((row) => row.subject)).toEqual(["s", "f-old", "f-new", "h", "e", "w"]);
  expect(rows[1]?.why).toBe("no handler");
  expect(rows.at(-1)?.why).toBe("2 wait, the longest for 4 m 20 s");
});
