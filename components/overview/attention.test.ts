import { expect, test } from "vitest";
import type { InstanceSummary } from "@/lib/contract/instances";
import type { LockSummary, LockView } from "@/lib/contract/locks";
import { attentionRows, longWaitedFree, type WatchedLock } from "./attention";

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

test("a free lock that is long waited for is said to be free, with what its first waits for, never to be held by nobody", () => {
  const free = lock({
    key: "a",
    ...{ status: "free", health: "free", holder: null, session: null, acquiredAt: null },
    ...{ waiters: 1, longestWaitMs: 260_000 },
  });
  const waits = (waitsFor: LockView["queue"][number]["waitsFor"]): LockView["queue"] => [
    {
      position: 1,
      session: "w",
      holder: "agv-3",
      since: now - 260_000,
      givesUpAt: null,
      keys: ["a", "b"],
      waitsFor,
    },
  ];
  const textOf = (watched: WatchedLock) => attentionRows([], [watched], now)[0]?.text;
  expect(textOf(free)).toBe("is free");
  expect(textOf({ ...free, queue: waits("keys") })).toBe(
    "is free: agv-3, first in line, waits for another of its keys: b",
  );
  const cools = { ...free, coolUntil: now + 11_400 };
  expect(textOf(cools)).toBe("is free and cools for 12 s more");
  expect(textOf({ ...cools, queue: waits("cooling") })).toBe(
    "is free and cools for 12 s more: agv-3, first in line, waits until it has cooled",
  );
  expect(textOf(lock({ waiters: 1, longestWaitMs: 260_000 }))).toBe("is held by agv-2");
  const brief = lock({ key: "brief", status: "free", health: "free", holder: null, longestWaitMs: 5_000 });
  expect(longWaitedFree([free, brief, lock({ longestWaitMs: 260_000 })])).toEqual([free]);
});
