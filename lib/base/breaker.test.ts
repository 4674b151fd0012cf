import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Breaker, TurnedAway } from "./breaker";

class Down extends Error {}
let breaker: Breaker;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  breaker = new Breaker((error) => error instanceof Down);
});
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
/** What became of a call: `away` when it was not made. */
const call = (end: "good" | "failed" | "refused") =>
  breaker
    .through(() =>
      end === "good"
        ? Promise.resolve("good")
        : Promise.reject(end === "failed" ? new Down("down") : new Error("no")),
    )
    .catch((error: unknown) => (error instanceof TurnedAway ? "away" : "thrown"));
const all = async (...ends: Parameters<typeof call>[0][]) => {
  for (const end of ends) await call(end);
};
const isOpen = () => breaker.state.state === "open";

test("five failures in a row open it; what is called and says no is no failure", async () => {
  await all("failed", "failed", "failed", "failed", "refused", "failed");
  expect(isOpen()).toBe(false);
  await all("failed", "failed", "failed");
  expect(isOpen()).toBe(false);
  await all("failed");
  expect(breaker.state).toEqual({ state: "open", until: 1_005_000 });
  expect(await call("good")).toBe("away");
});

test("half of ten calls within ten seconds open it, not less, and not fewer calls", async () => {
  await all("failed", "good", "failed", "good", "failed", "good", "failed", "good");
  expect(isOpen()).toBe(false);
  await all("good", "failed");
  expect(isOpen()).toBe(true);
  breaker.reset();
  await all("good", "good", "good", "failed", "good", "failed", "good", "failed", "good", "failed");
  expect(isOpen()).toBe(false);
});

test("calls that are far apart are not counted together", async () => {
  for (let n = 0; n < 20; n += 1) {
    await all(n % 2 ? "good" : "failed");
    pass(1_200);
  }
  expect(isOpen()).toBe(false);
  for (let n = 0; n < 20 && !isOpen(); n += 1) {
    await all(n % 2 ? "good" : "failed");
    pass(900);
  }
  expect(isOpen()).toBe(true);
});

test("after its pause one call probes, the others are turned away; each failed probe doubles the pause, up to a minute", async () => {
  await all("failed", "failed", "failed", "failed", "failed");
  for (const pauseMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    expect(breaker.state.until).toBe(Date.now() + pauseMs);
    pass(pauseMs - 1);
    expect(await call("good")).toBe("away");
    pass(1);
    let fail: () => void = () => undefined;
    const probe = breaker.through(() => new Promise((_, reject) => (fail = () => reject(new Down("down")))));
    expect(breaker.state.state).toBe("half-open");
    expect(await call("good")).toBe("away");
    fail();
    await expect(probe).rejects.toThrow("down");
  }
  pass(60_000);
  expect(await call("good")).toBe("good");
  expect(breaker.state).toEqual({ state: "closed", until: null });
  await all("failed", "failed", "failed", "failed", "failed");
  expect(breaker.state.until).toBe(Date.now() + 5_000);
});

test("reset, it is as if nothing had ever been called", async () => {
  await all("failed", "failed", "failed", "failed", "failed");
  breaker.reset();
  expect(await call("good")).toBe("good");
  await all("failed", "failed", "failed", "failed");
  expect(isOpen()).toBe(false);
});
