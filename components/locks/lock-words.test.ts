import { expect, test } from "vitest";
import type { LockLogEntry } from "@/lib/contract/locks";
import { lockEntryText } from "./lock-words";

const text = (type: LockLogEntry["type"], details: LockLogEntry["details"], reason: string | null = null) =>
  lockEntryText({
    seq: 1,
    type,
    at: 1_000_000,
    fence: 3,
    holder: "agv-12",
    session: "s1",
    actor: "local",
    reason,
    details,
  });

test("a grant tells its lease, its longest hold and its cooling, also one that was handed on", () => {
  const terms = { ttlMs: 30_000, expiresAt: 1_030_000, holdUntil: 1_600_000, coolMs: 5_000 };
  const told = "agv-12, fence 3, ttl 30 s, held at most 10 m 00 s, cools 5 s after";
  expect(text("ACQUIRED", terms)).toBe(told);
  expect(text("HANDOFF", { ...terms, ticket: 2, waitedMs: 800 })).toBe(told);
  expect(text("ACQUIRED", { ttlMs: 30_000, expiresAt: 1_030_000 })).toBe("agv-12, fence 3, ttl 30 s");
  expect(text("ACQUIRED", { ttlMs: 0 })).toBe("agv-12, fence 3, until its state is left");
});

test("what ended a hold tells how long the lock cools; a grant before the end of another's cooling does not", () => {
  const cooling = { coolUntil: 1_005_000, coolSession: "s1" };
  expect(text("RELEASED", cooling)).toBe("agv-12, cools for 5 s");
  expect(text("EXPIRED", cooling)).toBe("agv-12, fence 3, cools for 5 s");
  expect(text("FORCE_RELEASED", cooling, "stuck")).toBe(
    "by local, from agv-12, fence now 3, cools for 5 s: “stuck”",
  );
  expect(text("RELEASED", {})).toBe("agv-12");
  expect(text("ACQUIRED", { ttlMs: 30_000, ...cooling })).toBe("agv-12, fence 3, ttl 30 s");
});
