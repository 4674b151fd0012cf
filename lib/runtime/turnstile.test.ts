import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Turnstile } from "./turnstile";

const busy = () => new Error("busy");

test("calls of one name go one after another, in the order they came; those of another go beside them", async () => {
  const gate = new Turnstile(1_000);
  const seen: string[] = [];
  const call = (name: string, n: number) =>
    gate.pass(name, busy, async () => {
      seen.push(`${name}${n} begins`);
      await pause(n === 1 ? 20 : 1);
      seen.push(`${name}${n} ends`);
    });
  await Promise.all([call("a", 1), call("a", 2), call("a", 3), call("b", 2)]);
  expect(seen.filter((each) => each.startsWith("a"))).toEqual(
    [1, 2, 3].flatMap((n) => [`a${n} begins`, `a${n} ends`]),
  );
  expect(seen.indexOf("b2 ends")).toBeLessThan(seen.indexOf("a1 ends"));
});

test("one that fails lets the next go", async () => {
  const gate = new Turnstile(1_000);
  const failing = gate.pass("a", busy, () => Promise.reject(new Error("no")));
  const next = gate.pass("a", busy, () => Promise.resolve(7));
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe(7);
});

test("who waits too long goes away, and nobody waits for it", async () => {
  const gate = new Turnstile(20);
  let finish = () => {};
  const first = gate.pass("a", busy, () => new Promise<void>((resolve) => (finish = resolve)));
  const done: string[] = [];
  const impatient = gate.pass("a", busy, () => Promise.resolve(done.push("impatient")));
  await expect(impatient).rejects.toThrow("busy");
  const last = gate.pass("a", busy, () => Promise.resolve(done.push("last")));
  finish();
  await Promise.all([first, last]);
  expect(done).toEqual(["last"]);
});
