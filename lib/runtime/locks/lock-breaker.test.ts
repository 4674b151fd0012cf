import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LockstepError } from "@/lib/base/errors";
import { providers } from "@/lib/testing/database";
import { freshRuntime, local, type TestRuntime } from "@/lib/testing/runtime";
import { lockBreakerName } from "./lock-breaker";

const key = "Z";
const down = () => new LockstepError("database-unavailable", "cut off", { retry: "later" });
const busy = () => new LockstepError("database-busy", "a row is held", { retry: "later" });

describe.each(providers)("the breaker around locks on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const acquire = (session: string, args: object = {}) =>
    at.runtime.acquireLock(local, { key, session, holder: session, ...args });
  const renew = () => at.runtime.renewLock(local, { key, session: "a", fence: 1 });
  const fail = (error: () => Error) =>
    vi.spyOn(at.store, "transaction").mockImplementation(() => Promise.reject(error()));
  const tries = async (count: number) => {
    for (let n = 0; n < count; n += 1)
      await expect(acquire("b")).rejects.toMatchObject({ code: "database-unavailable" });
  };

  test("five commands in a row that the database failed open it: the next are refused at once, and told when to try", async () => {
    await acquire("a");
    const asked = fail(down);
    await tries(5);
    expect(asked).toHaveBeenCalledTimes(5);
    const refused = await acquire("b").catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "database-unavailable",
      retry: "later",
      message: expect.stringContaining("try again in 5 s") as string,
      details: { breaker: lockBreakerName },
    });
    const circles = vi.spyOn(at.store, "sessionsBlocking");
    await expect(acquire("b", { waitMs: 1_000 })).rejects.toMatchObject({
      details: { breaker: lockBreakerName },
    });
    await expect(
      at.runtime.acquireLocks(local, { keys: ["X", "Y"], session: "b", holder: "b" }),
    ).rejects.toMatchObject({ details: { breaker: lockBreakerName } });
    await expect(at.runtime.releaseLock(local, { key, session: "a", fence: 1 })).rejects.toMatchObject({
      details: { breaker: lockBreakerName },
    });
    expect(asked).toHaveBeenCalledTimes(5);
    expect(circles).not.toHaveBeenCalled();
    // Not asked for by those, the database is there again: a renewal finds it.
    vi.restoreAllMocks();
    expect(await renew()).toMatchObject({ valid: true });
    await expect(acquire("b")).rejects.toMatchObject({ details: { breaker: lockBreakerName } });
  });

  test("a lock that is busy or lost, and a row that another holds, are no failures", async () => {
    await acquire("a");
    for (let n = 0; n < 12; n += 1) {
      expect(await acquire("b")).toMatchObject({ result: "busy" });
      await expect(at.runtime.renewLock(local, { key, session: "b", fence: 1 })).rejects.toMatchObject({
        code: "lock-lost",
      });
    }
    const asked = fail(busy);
    for (let n = 0; n < 12; n += 1)
      await expect(acquire("b")).rejects.toMatchObject({ code: "database-busy" });
    expect(asked).toHaveBeenCalledTimes(12);
  });

  test("after its pause a command probes; when it goes well locks are as ever", async () => {
    fail(down);
    await tries(5);
    vi.restoreAllMocks();
    const opened = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => opened + 5_100);
    expect(await acquire("a")).toMatchObject({ result: "acquired" });
    expect(await acquire("b")).toMatchObject({ result: "busy" });
  });

  test("it is shown on the process's worker when the database is there again, and is reset like a host's", async () => {
    at.runtime.startWorkers();
    const workers = async () => (await at.runtime.listWorkers(local, {})).items;
    await vi.waitFor(async () => expect(await workers()).toHaveLength(1), 5_000);
    const transaction = at.store.transaction.bind(at.store);
    let isDown = true;
    vi.spyOn(at.store, "transaction").mockImplementation((...given) =>
      isDown ? Promise.reject(down()) : transaction(...given),
    );
    await tries(5);
    isDown = false;
    await vi.waitFor(
      async () =>
        expect(await workers()).toMatchObject([{ breakers: [{ name: lockBreakerName, state: "open" }] }]),
      5_000,
    );
    const [worker] = await workers();
    const call = { workerId: worker?.id ?? "", name: lockBreakerName, reason: "it is back" };
    await at.runtime.resetBreaker(local, call);
    await vi.waitFor(async () => expect(await acquire("a")).toMatchObject({ result: "acquired" }), 3_000);
    await vi.waitFor(async () => expect(await workers()).toMatchObject([{ breakers: [] }]), 5_000);
    // The loops that looked for work meanwhile.
    for (const error of at.reported.splice(0)) expect(error).toMatchObject({ message: "cut off" });
  });
});
