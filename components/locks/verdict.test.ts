import { expect, test } from "vitest";
import type { LockView } from "@/lib/contract/locks";
import { coolsFor, isCooling, verdictOf } from "./verdict";

const now = 1_000_000;
const lock = (over: Partial<LockView>): LockView => ({
  key: "zone:Z-14",
  status: "held",
  fence: 42,
  holder: "agv-12",
  session: "s1",
  acquiredAt: now - 60_000,
  renewedAt: now - 2_000,
  expiresAt: now + 28_000,
  ttlMs: 30_000,
  holdUntil: null,
  coolMs: null,
  coolUntil: null,
  waiters: 0,
  longestWaitMs: null,
  health: "healthy",
  instance: { id: "agv-12", status: "running", configuration: ["mission.drive.lowering"] },
  rejectedWrites: 0,
  queue: [],
  now,
  ...over,
});

test("a holder that renews is alive and the key must be typed", () => {
  const verdict = verdictOf(lock({}), now);
  expect(verdict).toMatchObject({ tone: "danger", holderLive: true });
  expect(verdict.title).toBe("The holder is alive: renewed 2 s ago, probably still writing");
  expect(verdict.detail).toBe("agv-12 is running, in lowering. Nobody waits for it.");
});

test("a late holder may still be alive: the key must be typed", () => {
  expect(verdictOf(lock({ health: "late", renewedAt: now - 26_000 }), now)).toMatchObject({
    tone: "warning",
    holderLive: true,
  });
});

test("an expired lease and a finished holder need no typed key", () => {
  const expired = verdictOf(lock({ health: "expired", status: "expired", expiresAt: now - 120_000 }), now);
  expect(expired.holderLive).toBe(false);
  expect(expired.title).toBe("The lease ran out 2 m 00 s ago");
  const finished = verdictOf(
    lock({ health: "holder-finished", instance: { id: "agv-12", status: "completed", configuration: [] } }),
    now,
  );
  expect(finished).toMatchObject({
    holderLive: false,
    title: "The holder has finished: agv-12 is completed",
  });
});

test("who waits and who is next is said", () => {
  const waiting = lock({
    waiters: 3,
    longestWaitMs: 492_000,
    queue: [
      {
        position: 1,
        session: "s2",
        holder: "agv-31",
        since: now - 492_000,
        givesUpAt: null,
        keys: ["zone:1"],
        waitsFor: "holder",
      },
    ],
  });
  expect(verdictOf(waiting, now).detail).toContain("3 wait, the longest for 8 m 12 s; next is agv-31.");
});

test("a holder that is no instance is named with its session", () => {
  expect(verdictOf(lock({ instance: null, holder: "cli-4" }), now).detail).toContain(
    "cli-4 holds it in session s1.",
  );
});

test("how long it cools after a release is said, counted from the end of the lease where that is over", () => {
  const held = lock({ coolMs: 30_000 });
  expect(coolsFor(held, now)).toBe(30_000);
  expect(verdictOf(held, now).detail).toContain("Once released it cools for 30 s.");
  // What was promised before its present grant goes on.
  expect(coolsFor(lock({ coolMs: 30_000, coolUntil: now + 45_000 }), now)).toBe(45_000);
  const expired = lock({ health: "expired", status: "expired", expiresAt: now - 10_000, coolMs: 30_000 });
  expect(verdictOf(expired, now).detail).toContain("no other session gets the lock for 20 s more.");
  expect(coolsFor(lock({}), now)).toBe(0);
});

test("a free lock that cools is told from an idle one, and that its release ends the cooling", () => {
  const free = lock({ status: "free", health: "free", holder: null, session: null, expiresAt: null });
  const cooling = { ...free, coolUntil: now + 12_000 };
  expect([isCooling(free), isCooling(cooling), isCooling(lock({ coolUntil: now + 1 }))]).toEqual([
    false,
    true,
    false,
  ]);
  expect(coolsFor(cooling, now)).toBe(0);
  expect(verdictOf(cooling, now)).toMatchObject({
    tone: "calm",
    title: "It cools for 12 s more: nobody holds it",
    detail: expect.stringContaining("Releasing it ends the cooling.") as string,
    holderLive: false,
  });
});
