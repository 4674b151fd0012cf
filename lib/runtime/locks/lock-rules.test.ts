import fc from "fast-check";
import { expect, test } from "vitest";
import { must } from "@/lib/base/assert";
import type { LockLogRow, LockRow, WaiterRow } from "@/lib/store/locks";
import {
  acquire,
  deleteLock,
  foldLockLog,
  forceRelease,
  openLockBook,
  rejectWrite,
  release,
  renew,
  settle,
  withdraw,
  type LockBook,
} from "./lock-rules";

/** A lock kept in memory, every command run as the verbs do. */
class Bench {
  row: LockRow = foldLockLog("k", []);
  queue: WaiterRow[] = [];
  log: LockLogRow[] = [];
  now = 1_000;

  run<T>(rule: (book: LockBook) => T): T {
    const book = openLockBook(this.row, this.queue, this.now, "local");
    settle(book);
    const result = rule(book);
    this.row = book.row;
    this.queue = [...book.queue];
    this.log.push(...book.log);
    return result;
  }
  acquire(
    session: string,
    waitMs = 0,
    ttlMs = 1_000,
    more: { holdMaxMs?: number | null; coolMs?: number | null } = {},
  ) {
    return this.run((book) => {
      const limits = { holdMaxMs: null, coolMs: null, ...more };
      const done = acquire([book], { session, holder: `h-${session}`, ttlMs, waitMs, ...limits });
      const { key: _key, ...first } =
        done.result === "waiting" ? { key: "" } : must(done.locks[0], "one key");
      return { result: done.result, ...first };
    });
  }
  types(): string[] {
    return this.log.map((entry) => entry.type);
  }
}

test("a free lock is granted with the next fence; another session hears who has it and its place", () => {
  const bench = new Bench();
  expect(bench.acquire("a")).toEqual({ result: "acquired", fence: 1, expiresAt: 2_000 });
  expect(bench.acquire("b")).toEqual({
    result: "busy",
    holder: "h-a",
    expiresAt: 2_000,
    coolUntil: null,
    position: 1,
  });
  expect(bench.types()).toEqual(["REQUESTED", "ACQUIRED"]);
});

test("the same session keeps its fence, and a shorter lease never shortens what was promised", () => {
  const bench = new Bench();
  bench.acquire("a", 0, 5_000);
  expect(bench.acquire("a", 0, 1_000)).toEqual({ result: "acquired", fence: 1, expiresAt: 6_000 });
});

test("waiters are served first come first served, each with a higher fence", () => {
  const bench = new Bench();
  bench.acquire("a");
  for (const session of ["b", "c"])
    expect(bench.acquire(session, 9_000)).toMatchObject({ result: "waiting" });
  // Asking again keeps the place.
  expect(bench.acquire("b", 9_000)).toMatchObject({ result: "waiting" });
  expect(bench.run((book) => release(book, { session: "a", fence: 1 }))).toBe("released");
  expect(bench.row).toMatchObject({ session: "b", fence: 2 });
  // Nobody overtakes the queue.
  expect(bench.acquire("d")).toMatchObject({ result: "busy", position: 2 });
  bench.run((book) => release(book, { session: "b", fence: 2 }));
  expect(bench.row).toMatchObject({ session: "c", fence: 3 });
});

test("a waiter whose call is gone is passed over, one whose time is up leaves", () => {
  const bench = new Bench();
  bench.acquire("a", 0, 60_000);
  bench.acquire("gone", 60_000);
  bench.acquire("short", 5_000);
  bench.acquire("there", 60_000);
  bench.now += 20_000;
  bench.queue = bench.queue.map((waiter) =>
    waiter.session === "there" ? { ...waiter, heartbeatAt: bench.now } : waiter,
  );
  bench.run((book) => release(book, { session: "a", fence: 1 }));
  expect(bench.row).toMatchObject({ session: "there", fence: 2 });
  expect(bench.queue).toEqual([]);
  expect(bench.types().slice(-4)).toEqual(["WAIT_TIMEOUT", "RELEASED", "WAIT_TIMEOUT", "HANDOFF"]);
});

test("renewing: only who holds it, and only while the lease runs", () => {
  const bench = new Bench();
  bench.acquire("a");
  const ask = (session: string, fence: number) =>
    bench.run((book) => renew(book, { session, fence, ttlMs: 3_000 }));
  expect(ask("a", 1)).toEqual({ fence: 1, expiresAt: 4_000 });
  expect(ask("b", 1)).toEqual({ lost: "not-yours" });
  expect(ask("a", 2)).toEqual({ lost: "never-given" });
  bench.now = 4_000;
  expect(ask("a", 1)).toEqual({ lost: "expired" });
  bench.acquire("b");
  expect(ask("a", 1)).toEqual({ lost: "superseded" });
});

test("releasing twice says so, releasing a lock of someone else changes nothing", () => {
  const bench = new Bench();
  bench.acquire("a");
  const give = (session: string, fence: number) => bench.run((book) => release(book, { session, fence }));
  expect(give("b", 1)).toBe("stale");
  expect(give("a", 1)).toBe("released");
  expect(give("a", 1)).toBe("already-released");
  bench.acquire("b");
  const before = bench.row;
  expect(give("a", 1)).toBe("stale");
  expect(bench.row).toEqual(before);
});

test("an expired lease that nobody took over can still be given back", () => {
  const bench = new Bench();
  bench.acquire("a");
  bench.now = 9_000;
  expect(bench.run((book) => release(book, { session: "a", fence: 1 }))).toBe("released");
  expect(bench.types()).toEqual(["REQUESTED", "ACQUIRED", "EXPIRED", "RELEASED"]);
});

test("a force-release raises the fence at once, whatever the state, and serves the next", () => {
  const bench = new Bench();
  expect(bench.run((book) => forceRelease(book, "why"))).toMatchObject({
    fence: 1,
    previousFence: 0,
    nextHolder: null,
  });
  bench.acquire("a");
  bench.acquire("b", 9_000);
  expect(bench.run((book) => forceRelease(book, "why"))).toEqual({
    fence: 4,
    previousFence: 2,
    previousHolder: "h-a",
    nextHolder: "h-b",
  });
  expect(bench.log.map((entry) => entry.fence)).toEqual([1, 1, 2, 2, 2, 3, 4]);
});

test("a lease is renewed up to its longest hold, and then lost for that reason", () => {
  const bench = new Bench();
  expect(bench.acquire("a", 0, 1_000, { holdMaxMs: 2_500 })).toMatchObject({ expiresAt: 2_000 });
  const renewed = () => bench.run((book) => renew(book, { session: "a", fence: 1, ttlMs: 1_000 }));
  bench.now = 1_900;
  expect(renewed()).toEqual({ fence: 1, expiresAt: 2_900 });
  bench.now = 2_800;
  expect(renewed()).toEqual({ fence: 1, expiresAt: 3_500 });
  // Not by asking for it anew, nor by asking for longer.
  expect(bench.acquire("a", 0, 9_000, { holdMaxMs: 9_000 })).toMatchObject({ fence: 1, expiresAt: 3_500 });
  bench.now = 3_500;
  expect(renewed()).toEqual({ lost: "hold-over" });
  expect(bench.acquire("b")).toMatchObject({ result: "acquired", fence: 2 });
  expect(bench.row).toMatchObject({ holdUntil: null });
});

test("a lock cools after its release, its expiry and its force-release: no other session has it meanwhile", () => {
  for (const end of ["release", "expire", "force"] as const) {
    const bench = new Bench();
    bench.acquire("a", 0, 1_000, { coolMs: 500 });
    bench.acquire("w", 60_000);
    if (end === "release") bench.run((book) => release(book, { session: "a", fence: 1 }));
    if (end === "force") bench.run((book) => forceRelease(book, "why"));
    if (end === "expire") bench.now = 2_000;
    const until = bench.now + 500;
    expect(bench.acquire("b")).toMatchObject({
      result: "busy",
      holder: null,
      expiresAt: null,
      coolUntil: until,
      position: 2,
    });
    bench.now = until - 1;
    expect(bench.acquire("b")).toMatchObject({ result: "busy" });
    bench.now = until;
    expect(bench.acquire("b")).toMatchObject({ result: "busy", holder: "h-w", coolUntil: null });
    expect(bench.row).toMatchObject({ session: "w", coolUntil: null, coolSession: null });
    expect(bench.types().slice(-2)).toEqual(["COOLED", "HANDOFF"]);
  }
});

test("a cooling is of the last grant alone, and the session that had it may have it again at once", () => {
  const bench = new Bench();
  bench.acquire("a", 0, 1_000, { coolMs: 500 });
  bench.run((book) => release(book, { session: "a", fence: 1 }));
  expect(bench.acquire("b")).toMatchObject({ result: "busy" });
  expect(bench.acquire("a", 0, 1_000, { coolMs: 50 })).toMatchObject({ result: "acquired", fence: 2 });
  bench.now = 1_600;
  bench.run((book) => release(book, { session: "a", fence: 2 }));
  bench.now = 1_650;
  expect(bench.acquire("b")).toMatchObject({ result: "acquired", fence: 3 });
});

test("I7: a cooling goes on behind its last session's next grant, however that ends, and can't be got round by it", () => {
  for (const end of ["release", "expire", "force"] as const) {
    const bench = new Bench();
    bench.acquire("a", 0, 1_000, { coolMs: 5_000 });
    bench.run((book) => release(book, { session: "a", fence: 1 }));
    bench.now = 1_500;
    expect(bench.acquire("a")).toMatchObject({ result: "acquired", fence: 2 });
    expect(bench.acquire("b")).toMatchObject({ result: "busy", holder: "h-a", coolUntil: null });
    if (end === "release") bench.run((book) => release(book, { session: "a", fence: 2 }));
    if (end === "force") bench.run((book) => forceRelease(book, "why"));
    if (end === "expire") bench.now = 2_500;
    for (bench.now of [2_500, 5_999])
      expect(bench.acquire("b")).toMatchObject({ result: "busy", holder: null, coolUntil: 6_000 });
    expect(foldLockLog("k", bench.log)).toEqual(bench.row);
    bench.now = 6_000;
    expect(bench.acquire("b")).toMatchObject({ result: "acquired" });
  }
});

test("a force-release of a lock that cools ends its cooling, and serves who waits", () => {
  const bench = new Bench();
  bench.acquire("a", 0, 1_000, { coolMs: 5_000 });
  bench.acquire("w", 60_000);
  bench.run((book) => forceRelease(book, "gone"));
  expect(bench.row).toMatchObject({ session: null, coolUntil: 6_000 });
  expect(bench.run((book) => forceRelease(book, "safe"))).toMatchObject({ nextHolder: "h-w" });
  expect(bench.row).toMatchObject({ session: "w", coolUntil: null, coolSession: null });
  expect(foldLockLog("k", bench.log)).toEqual(bench.row);
});

test("of the cooling that was promised and that of the new grant the longer counts; one over meanwhile is none", () => {
  const bench = new Bench();
  const again = (coolMs: number | null) => {
    bench.acquire("a", 0, 60_000, { coolMs });
    bench.run((book) => release(book, { session: "a", fence: book.row.fence }));
    return bench.row.coolUntil;
  };
  expect(again(5_000)).toBe(6_000);
  bench.now = 2_000;
  expect(again(1_000)).toBe(6_000);
  expect(again(9_000)).toBe(11_000);
  bench.acquire("a", 0, 60_000);
  bench.now = 11_000;
  bench.run((book) => release(book, { session: "a", fence: book.row.fence }));
  expect(bench.row).toMatchObject({ coolUntil: null, coolSession: null });
  expect(bench.acquire("b")).toMatchObject({ result: "acquired" });
});

test("an expired lease given back late cools from its expiry, not from then", () => {
  const bench = new Bench();
  bench.acquire("a", 0, 1_000, { coolMs: 5_000 });
  bench.now = 4_000;
  bench.run((book) => release(book, { session: "a", fence: 1 }));
  expect(bench.row).toMatchObject({ session: null, coolUntil: 7_000, coolSession: "a" });
  bench.now = 9_000;
  expect(bench.acquire("b")).toMatchObject({ result: "acquired" });
});

test("I7: whatever is done, folding the log gives the row, and the fence never falls", () => {
  const sessions = ["a", "b", "c"];
  const fence = fc.integer({ min: 0, max: 8 });
  const session = fc.constantFrom(...sessions);
  const command = fc.oneof(
    fc.record({
      kind: fc.constant("acquire" as const),
      session,
      waitMs: fc.constantFrom(0, 500, 5_000),
      holdMaxMs: fc.constantFrom(null, 1_500),
      coolMs: fc.constantFrom(null, 700, 4_000),
    }),
    fc.record({ kind: fc.constant("renew" as const), session, fence }),
    fc.record({ kind: fc.constant("release" as const), session, fence }),
    fc.record({ kind: fc.constant("release-own" as const) }),
    fc.record({ kind: fc.constant("force" as const) }),
    fc.record({ kind: fc.constant("delete" as const) }),
    fc.record({ kind: fc.constant("give-up" as const), session }),
    fc.record({ kind: fc.constant("reject" as const), session, fence }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
      const bench = new Bench();
      for (const each of commands) {
        const fenceBefore = bench.row.fence;
        switch (each.kind) {
          case "acquire":
            bench.acquire(each.session, each.waitMs, 1_000, each);
            break;
          case "renew":
            bench.run((book) => renew(book, { session: each.session, fence: each.fence, ttlMs: undefined }));
            break;
          case "release":
            bench.run((book) => release(book, each));
            break;
          case "release-own":
            bench.run((book) => release(book, { session: book.row.session ?? "", fence: book.row.fence }));
            break;
          case "force":
            bench.run((book) => forceRelease(book, "because"));
            break;
          case "delete":
            bench.run((book) => deleteLock(book, "gone"));
            break;
          case "give-up":
            bench.run((book) => withdraw(book, each.session));
            break;
          case "reject":
            bench.run((book) =>
              rejectWrite(book, {
                fence: each.fence,
                session: each.session,
                actor: "x",
                instanceId: "i",
                type: "go",
              }),
            );
            break;
          case "wait":
            bench.now += each.ms;
            break;
        }
        expect(bench.row.fence).toBeGreaterThanOrEqual(fenceBefore);
        expect(foldLockLog("k", bench.log)).toEqual(bench.row);
        expect(bench.log.map((entry) => entry.seq)).toEqual(bench.log.map((_, index) => index + 1));
        // One holder at a time: hands changed only with a new fence.
        const hands = new Map<number, string>();
        for (const entry of bench.log.filter(({ type }) => type === "ACQUIRED" || type === "HANDOFF")) {
          expect(hands.has(entry.fence)).toBe(false);
          hands.set(entry.fence, must(entry.session, "a grant names its session"));
        }
      }
    }),
    { numRuns: 300 },
  );
});
