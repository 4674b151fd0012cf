import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { Store } from "@/lib/store/store";
import { freshDatabase, providers, type TestDatabase } from "../database";
import { notLinearizable, type Operation } from "./linearizable";
import { recordLockHistory } from "./lock-history";

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
});
const acquire = (session: string): Operation["ask"] => ({ verb: "acquire", session });

describe("the search", () => {
  test("finds an order for calls that overlap, whichever was first", () => {
    const history = [
      operation(1, 4, acquire("a"), { said: "busy" }),
      operation(2, 3, acquire("b"), { said: "acquired", fence: 1 }),
      operation(5, 8, { verb: "release", session: "b", fence: 1 }, { said: "released" }),
      operation(6, 7, acquire("a"), { said: "acquired", fence: 2 }),
    ];
    expect(notLinearizable(history)).toBeNull();
  });

  test("a call without an answer may have happened or not", () => {
    const lost = operation(1, Infinity, acquire("a"), { said: "nothing" });
    expect(notLinearizable([lost, operation(2, 3, acquire("b"), { said: "busy" })])).toBeNull();
    expect(notLinearizable([lost, operation(2, 3, acquire("b"), { said: "acquired", fence: 1 })])).toBeNull();
  });

  test("one lock given twice, or a stale view, has no order", () => {
    const twice = ["a", "b"].map((session, n) =>
      operation(n * 2, n * 2 + 1, acquire(session), { said: "acquired", fence: 1 + n }),
    );
    expect(notLinearizable(twice)).not.toBeNull();
    const stale = [
      operation(1, 2, acquire("a"), { said: "acquired", fence: 1 }),
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

  test("I3: 16 clients racing for a lock under crashes and lost answers see one lock", async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const history = await recordLockHistory(store, seed);
      expect(history.length).toBe(96);
      expect(`seed ${seed}: ${notLinearizable(history) ?? "an order"}`).toBe(`seed ${seed}: an order`);
    }
  }, 120_000);
});
