import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { Store } from "@/lib/store/store";
import { freshDatabase, providers, type TestDatabase } from "../database";
import { notLinearizable, type Operation } from "./linearizable";
import { historyKey, recordLockHistory } from "./lock-history";

const operation = (
  began: number,
  ended: number,
  ask: Operation["ask"],
  answer: Operation["answer"],
): Operation => ({
  ask,
  answer,
  began,
  ended,
  // The clock goes on by a second with each place.
  beganAt: began * secondMs,
  endedAt: ended * secondMs,
});
const secondMs = 1_000;
const acquire = (session: string, ttlMs = 60_000): Operation["ask"] => ({
  verb: "acquire",
  session,
  ttlMs,
  key: `k-${session}`,
});
const acquired = (fence: number, expiresAt: number): Operation["answer"] => ({
  said: "acquired",
  fence,
  expiresAt,
});

describe("the search", () => {
  test("finds an order for calls that overlap, whichever was first", () => {
    const history = [
      operation(1, 4, acquire("a"), { said: "busy" }),
      operation(2, 3, acquire("b"), acquired(1, 62_500)),
      operation(5, 8, { verb: "release", session: "b", fence: 1 }, { said: "released" }),
      operation(6, 7, { ...acquire("a"), key: "k-again" } as Operation["ask"], acquired(2, 67_000)),
    ];
    expect(notLinearizable(history)).toBeNull();
  });

  test("a call without an answer may have happened or not", () => {
    const lost = operation(1, Infinity, acquire("a"), { said: "nothing" });
    expect(notLinearizable([lost, operation(2, 3, acquire("b"), { said: "busy" })])).toBeNull();
    expect(notLinearizable([lost, operation(2, 3, acquire("b"), acquired(1, 63_000))])).toBeNull();
  });

  test("a lost call repeated with its key is the one grant: its fence again, or the first now; never another", () => {
    const lost = operation(1, Infinity, acquire("a"), { said: "nothing" });
    const again = (answer: Operation["answer"]) => [lost, operation(2, 3, acquire("a"), answer)];
    expect(notLinearizable(again({ said: "replayed", fence: 1, valid: true }))).toBeNull();
    expect(notLinearizable(again(acquired(1, 63_000)))).toBeNull();
    expect(notLinearizable(again(acquired(2, 63_000)))).not.toBeNull();
    expect(notLinearizable(again({ said: "replayed", fence: 1, valid: false }))).not.toBeNull();
  });

  test("a lease ends when its time is over, and not a moment before", () => {
    const given = operation(1, 2, acquire("a", 5_000), acquired(1, 6_500));
    const taken = (began: number, ended: number) => [
      given,
      operation(began, ended, acquire("b"), acquired(2, ended * secondMs + 60_000)),
    ];
    expect(notLinearizable(taken(7, 8))).toBeNull();
    expect(notLinearizable(taken(6, 7))).toBeNull();
    expect(notLinearizable(taken(4, 6))).not.toBeNull();
    const renew: Operation["ask"] = { verb: "renew", session: "a", fence: 1, ttlMs: 5_000 };
    const kept = (began: number, ended: number) => [
      given,
      operation(began, ended, renew, { said: "renewed", expiresAt: 5_000 + began * secondMs }),
    ];
    expect(notLinearizable(kept(6, 7))).toBeNull();
    expect(notLinearizable(kept(7, 8))).not.toBeNull();
    expect(notLinearizable([given, operation(7, 8, renew, { said: "lost" })])).toBeNull();
    expect(notLinearizable([given, operation(3, 4, renew, { said: "lost" })])).not.toBeNull();
    const busy = (began: number, ended: number) => [
      given,
      operation(began, ended, acquire("b"), { said: "busy" }),
    ];
    expect(notLinearizable(busy(4, 6))).toBeNull();
    expect(notLinearizable(busy(7, 8))).not.toBeNull();
  });

  test("one lock given twice, or a stale view, has no order", () => {
    const twice = ["a", "b"].map((session, n) =>
      operation(n * 2, n * 2 + 1, acquire(session), acquired(1 + n, 60_000 + n * 2 * secondMs)),
    );
    expect(notLinearizable(twice)).not.toBeNull();
    const stale = [
      operation(1, 2, acquire("a"), acquired(1, 61_500)),
      operation(3, 4, { verb: "release", session: "a", fence: 1 }, { said: "released" }),
      operation(5, 6, acquire("b"), { said: "busy" }),
    ];
    expect(notLinearizable(stale)).not.toBeNull();
  });
});

describe.each(providers)("on %s", (provider) => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await freshDatabase(provider);
    store = await openSqlStore({ url: database.url, connections: 12 });
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  test("I3: 16 clients racing for a lock under crashes, lost answers and leases that run out see one lock", async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= 30; seed += 1) {
      const history = await recordLockHistory(store, seed);
      expect(history.length).toBe(96);
      expect(`seed ${seed}: ${notLinearizable(history) ?? "an order"}`).toBe(`seed ${seed}: an order`);
      for (const { answer } of history) seen.set(answer.said, (seen.get(answer.said) ?? 0) + 1);
      for (const { type } of await store.listLockLog(historyKey(seed), null, 1_000))
        seen.set(type, (seen.get(type) ?? 0) + 1);
    }
    for (const one of ["acquired", "replayed", "nothing", "lost", "EXPIRED"])
      expect(seen.get(one) ?? 0, one).toBeGreaterThan(10);
  }, 120_000);
});
