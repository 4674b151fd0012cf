/**
 * The named cases of locks that others' tests don't have. Where the rest is:
 *
 *   pause past the lease, then write          locks.test: an expired lease is refused too
 *   16 racers, one winner                     locks.test; histories: testing/sim/lock-history.test
 *   force-release while held                  locks.test; racing writes too
 *   lost acquire answer                       locks.test: I4; testing/sim
 *   renew after expiry, without/with a taker  locks.test: a lease that runs out
 *   fold(log) = row                           lock-rules.test, and after every test of locks.test and of this file
 *   checkpoint, then send                     retention.test
 *   dead waiter at the head, killed for real  testing/failure/locks.test; here: a process that has fallen silent
 *   a state's lock                            state-locks.test; delete during an open step: testing/sim (incarnation-ignored)
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { BeforeStatement } from "@/lib/store/sql/statement";
import { advance, providers, tamper } from "@/lib/testing/database";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { foldLockLog } from "./lock-rules";
import { createRuntime, type Runtime } from "../runtime";

const key = "zone/1";
const hourMs = 3_600_000;

describe.each(providers)("cases of locks on %s", (provider) => {
  let at: TestRuntime;
  beforeEach(async () => {
    at = await freshRuntime(provider);
  });
  afterEach(async () => {
    await foldsMatch(at);
    await at.end();
    expect(at.reported).toEqual([]);
  });
  const acquire = (session: string, args: object = {}, runtime = at.runtime) =>
    runtime.acquireLock(local, { key, session, holder: `h-${session}`, ...args });
  const release = (session: string, fence: number, args: object = {}) =>
    at.runtime.releaseLock(local, { key, session, fence, ...args });
  const renew = (session: string, fence: number) => at.runtime.renewLock(local, { key, session, fence });
  const lock = () => at.runtime.getLock(local, { key });
  const types = async () =>
    (await at.runtime.getLockLog(local, { key, limit: 50 })).items.map(({ type }) => type).reverse();
  const queued = (count: number) =>
    vi.waitFor(async () => expect(await at.store.listWaiters(key)).toHaveLength(count), 5_000);

  test("a release repeated after another has acquired: with its key it is the first answer, with a new key it is stale", async () => {
    await acquire("a");
    await release("a", 1, { idempotencyKey: "r1" });
    await acquire("b");
    expect(await release("a", 1, { idempotencyKey: "r1" })).toMatchObject({
      result: "released",
      replayed: true,
    });
    expect(await release("a", 1, { idempotencyKey: "r2" })).toMatchObject({ result: "stale", fence: 2 });
    expect(await lock()).toMatchObject({ status: "held", session: "b", fence: 2 });
  });

  test("two sessions of one holder's name are two: one waits for the other, and can't give its lock back", async () => {
    const as = (session: string) => acquire(session, { holder: "agv-7" });
    await as("first");
    expect(await as("second")).toMatchObject({ result: "busy", holder: "agv-7" });
    expect(await release("second", 1)).toMatchObject({ result: "stale" });
    await expect(renew("second", 1)).rejects.toMatchObject({ code: "lock-lost" });
    await publish(at.runtime, "counter", counter);
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    const send = (session: string) =>
      at.runtime.sendEvent(local, { instanceId: "c", type: "add", fences: [{ key, session, fence: 1 }] });
    await expect(send("second")).rejects.toMatchObject({ code: "stale-fence" });
    expect(await send("first")).toMatchObject({ outcome: "handled" });
  });

  test("I10: the database's clock set back makes no lease shorter, and an expiry that was logged stays one", async () => {
    await acquire("a", { ttlMs: 60_000 });
    const { expiresAt } = await lock();
    await advance(at.database.url, -30_000);
    expect((await renew("a", 1)).expiresAt).toBeGreaterThanOrEqual(expiresAt ?? Infinity);
    await advance(at.database.url, 30_000 + 120_000);
    await expect(renew("a", 1)).rejects.toMatchObject({ details: { reason: "expired" } });
    expect(await types()).toContain("EXPIRED");
    await advance(at.database.url, -120_000);
    await expect(renew("a", 1)).rejects.toMatchObject({ details: { reason: "expired" } });
    await publish(at.runtime, "counter", counter);
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    const fences = [{ key, session: "a", fence: 1 }];
    await expect(at.runtime.sendEvent(local, { instanceId: "c", type: "add", fences })).rejects.toMatchObject(
      { code: "stale-fence" },
    );
    expect(await acquire("b")).toMatchObject({ result: "acquired", fence: 2 });
  });

  test("a waiting call whose client hung up leaves the queue and is not granted the lock", async () => {
    await acquire("a");
    const hangs = new AbortController();
    const gone = acquire("b", { waitMs: 20_000, signal: hangs.signal });
    await queued(1);
    const stays = acquire("c", { waitMs: 20_000 });
    await queued(2);
    hangs.abort();
    expect(await gone).toMatchObject({ result: "busy" });
    await queued(1);
    await release("a", 1);
    expect(await stays).toMatchObject({ result: "acquired", fence: 2 });
    const { items } = await at.runtime.getLockLog(local, { key, limit: 50 });
    expect(items.find(({ type }) => type === "WAIT_TIMEOUT")).toMatchObject({
      session: "b",
      reason: "its call is gone",
    });
  });

  test("who lost its connection and asks again keeps its place, whatever becomes of the first call", async () => {
    await acquire("a");
    const hangs = new AbortController();
    const first = acquire("b", { waitMs: 20_000, signal: hangs.signal });
    await queued(1);
    const again = acquire("b", { waitMs: 20_000 });
    await acquire("c", { waitMs: 0 });
    hangs.abort();
    expect(await first).toMatchObject({ result: "busy" });
    await queued(1);
    await release("a", 1);
    expect(await again).toMatchObject({ result: "acquired", fence: 2 });
  });

  test("a waiter at the head whose process died is passed over", async () => {
    const other = await at.again();
    await acquire("a", { ttlMs: 60_000 });
    const dead = acquire("b", { waitMs: 60_000 }, other.runtime).catch(() => null);
    await queued(1);
    // Its process is no more there to say that it waits.
    vi.spyOn(other.store, "transaction").mockRejectedValue(new Error("gone"));
    const next = acquire("c", { waitMs: 20_000 });
    await queued(2);
    await advance(at.database.url, 11_000);
    // The one that lives says so again, at the clock's new time.
    await vi.waitFor(async () => {
      const [, c] = await at.store.listWaiters(key);
      expect(c?.heartbeatAt).toBeGreaterThan((await at.store.now()) - 9_000);
    }, 8_000);
    await release("a", 1);
    expect(await next).toMatchObject({ result: "acquired", fence: 2 });
    expect(await types()).toEqual(expect.arrayContaining(["WAIT_TIMEOUT", "HANDOFF"]));
    vi.restoreAllMocks();
    await other.runtime.close();
    await dead;
  });
});

/**
 * Not on SQLite, whose statements of one transaction nobody comes between and whose file is no connection that could be cut:
 * a force-release waits for the step's transaction because it waits for every writer; a call cut off is there a process killed
 * (testing/failure/locks.test: at every place of each verb's transaction); a renewal fails with its process, or is not begun.
 * And the machine's clock, by which a process is wrong, is the database's own there.
 */
describe("cases of locks on postgresql, statement by statement", () => {
  let at: TestRuntime;
  const opened: Runtime[] = [];
  beforeEach(async () => {
    at = await freshRuntime("postgresql");
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await foldsMatch(at);
    for (const runtime of opened.splice(0)) await runtime.close();
    await at.end();
    expect(at.reported).toEqual([]);
  });
  /** A process whose transactions' statements pass through `before`. */
  const watched = async (beforeStatement: BeforeStatement): Promise<Runtime> => {
    let opening = true;
    const store = await openSqlStore({
      url: at.database.url,
      connections: 4,
      beforeStatement: (pid, text) => (opening ? Promise.resolve(text) : beforeStatement(pid, text)),
    });
    opening = false;
    const runtime = createRuntime({ store, report: (error) => at.reported.push(error) });
    opened.push(runtime);
    return runtime;
  };

  test("I3: a force-release waits for a step that has passed its check, and every later one is refused", async () => {
    await publish(at.runtime, "counter", counter);
    await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
    await at.runtime.acquireLock(local, { key, session: "a", holder: "a" });
    let reached: () => void = () => undefined;
    let letGo: () => void = () => undefined;
    const atCommit = new Promise<void>((resolve) => (reached = resolve));
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const slow = await watched(async (_pid, text) => {
      if (text === "COMMIT") {
        reached();
        await held;
      }
      return text;
    });
    const add = { instanceId: "c", type: "add", fences: [{ key, session: "a", fence: 1 }] };
    const sent = slow.sendEvent(local, add);
    await atCommit;
    let forced = false;
    const forcing = at.runtime
      .forceReleaseLock(local, { key, expectedFence: 1, reason: "test" })
      .then(() => (forced = true));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(forced).toBe(false);
    letGo();
    expect(await sent).toMatchObject({ outcome: "handled", seq: 2 });
    await forcing;
    await expect(at.runtime.sendEvent(local, add)).rejects.toMatchObject({ code: "stale-fence" });
    expect(await at.runtime.getInstance(local, { instanceId: "c" })).toMatchObject({ seq: 2 });
  });

  test.each(["acquire", "acquire-several", "wait", "renew", "release", "force-release"] as const)(
    "I9: %s cut off before any of its statements is repeated with its key and has happened once",
    async (verb) => {
      const progress = { cutAt: Infinity, statements: 0 };
      const doomed = await watched(async (pid, text) => {
        progress.statements += 1;
        if (progress.statements === progress.cutAt)
          await tamper(at.database.url, `SELECT pg_terminate_backend(${pid})`);
        return text;
      });
      for (let cutAt = 1; ; cutAt += 1) {
        const name = `${verb}-${cutAt}`;
        // Failures alone would open its breaker.
        for (const well of ["a", "b"])
          await doomed.acquireLock(local, { key: well, session: "w", holder: "w" });
        const about = { key: name, session: "a" };
        if (!verb.startsWith("acquire"))
          await at.runtime.acquireLock(local, {
            ...about,
            session: verb === "wait" ? "b" : "a",
            holder: "h",
          });
        const call = (runtime: Runtime): Promise<unknown> => {
          const keyed = { ...about, idempotencyKey: "once" };
          switch (verb) {
            case "acquire":
              return runtime.acquireLock(local, { ...keyed, holder: "h" });
            case "acquire-several":
              return runtime.acquireLocks(local, { ...keyed, keys: [name, `${name}-b`], holder: "h" });
            case "wait":
              return runtime.acquireLock(local, { ...keyed, holder: "h", waitMs: 150 });
            case "renew":
              return runtime.renewLock(local, { ...keyed, fence: 1 });
            case "release":
              return runtime.releaseLock(local, { ...keyed, fence: 1 });
            case "force-release":
              return runtime.forceReleaseLock(local, {
                key: name,
                expectedFence: 1,
                reason: "test",
                idempotencyKey: "once",
              });
          }
        };
        Object.assign(progress, { cutAt, statements: 0 });
        const first = await call(doomed).catch((error: unknown) => error);
        const cut = progress.statements >= cutAt;
        progress.cutAt = Infinity;
        if (cut && verb !== "wait")
          expect(first).toMatchObject({
            retry: "later",
            code: expect.stringMatching(/^(outcome|database)-/) as string,
          });
        const again = await call(at.runtime);
        const log = await at.store.listLockLog(name, null, 100);
        const count = (type: string) => log.filter((entry) => entry.type === type).length;
        switch (verb) {
          case "acquire":
            expect(again).toMatchObject({ result: "acquired", fence: 1 });
            expect(count("ACQUIRED")).toBe(1);
            break;
          case "acquire-several":
            expect(again).toMatchObject({ result: "acquired", locks: [{ fence: 1 }, { fence: 1 }] });
            expect(count("ACQUIRED")).toBe(1);
            break;
          case "wait":
            expect(again).toMatchObject({ result: "busy" });
            // Who was cut off is still in the queue, or its repetition has left it.
            expect(count("HANDOFF")).toBe(0);
            break;
          case "renew":
            expect(again).toMatchObject({ fence: 1 });
            expect(count("RENEWED")).toBe(1);
            break;
          case "release":
            expect(again).toMatchObject({ result: "released" });
            expect(count("RELEASED")).toBe(1);
            break;
          case "force-release":
            expect(again).toMatchObject({ fence: 2, previousFence: 1 });
            expect(count("FORCE_RELEASED")).toBe(1);
            break;
        }
        if (!cut) break;
      }
    },
    60_000,
  );

  test("one renewal that fails is nothing: the next one keeps the lock under the same fence", async () => {
    const fails = { now: false };
    const runtime = await watched(async (pid, text) => {
      if (fails.now && text.startsWith("SELECT")) {
        fails.now = false;
        await tamper(at.database.url, `SELECT pg_terminate_backend(${pid})`);
      }
      return text;
    });
    const mine = { key, session: "a" };
    await runtime.acquireLock(local, { ...mine, holder: "a", ttlMs: 30_000 });
    await advance(at.database.url, 10_000);
    fails.now = true;
    await expect(runtime.renewLock(local, { ...mine, fence: 1 })).rejects.toMatchObject({ retry: "later" });
    await advance(at.database.url, 10_000);
    const { expiresAt } = await runtime.renewLock(local, { ...mine, fence: 1 });
    expect(expiresAt - (await at.store.now())).toBeGreaterThan(25_000);
    expect(await runtime.getLock(local, { key })).toMatchObject({ status: "held", fence: 1 });
  });

  test.each([-hourMs, hourMs])(
    "I10: a process whose clock is off by %d ms holds and loses locks by the database's",
    async (offMs) => {
      const now = Date.now.bind(Date);
      vi.spyOn(Date, "now").mockImplementation(() => now() + offMs);
      const mine = { key, session: "a" };
      const { expiresAt } = (await at.runtime.acquireLock(local, {
        ...mine,
        holder: "a",
        ttlMs: 30_000,
      })) as {
        expiresAt: number;
      };
      const leftMs = expiresAt - (await at.store.now());
      expect(leftMs).toBeGreaterThan(25_000);
      expect(leftMs).toBeLessThanOrEqual(30_000);
      await advance(at.database.url, 20_000);
      await at.runtime.renewLock(local, { ...mine, fence: 1 });
      await advance(at.database.url, 31_000);
      await expect(at.runtime.renewLock(local, { ...mine, fence: 1 })).rejects.toMatchObject({
        code: "lock-lost",
      });
      expect(await at.runtime.acquireLock(local, { key, session: "b", holder: "b" })).toMatchObject({
        fence: 2,
      });
    },
  );
});

/** I7 */
async function foldsMatch({ store }: TestRuntime): Promise<void> {
  for (const { key: name } of await store.listLocks({ status: "all" }, null, 1_000, 0)) {
    const log = (await store.listLockLog(name, null, 10_000)).reverse();
    const [row] = await store.findLocks([name]);
    expect(foldLockLog(name, log)).toEqual(row);
  }
}
