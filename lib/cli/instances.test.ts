/**
 * `lockstep instances` against a real server, its verb called as the command calls it.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { counter, freshRuntime, local, publish, publishNext, type TestRuntime } from "@/lib/testing/runtime";
import { instances } from "./instances";

let at: TestRuntime;
let server: TestServer;
let said: { out: string; err: string };
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  await publish(at.runtime, "counter", counter);
  await at.runtime.startInstance(local, { chartId: "counter", id: "c" });
  said = { out: "", err: "" };
  const listen = (to: "out" | "err") => (text: unknown, done?: unknown) => {
    said[to] += String(text);
    if (typeof done === "function") (done as () => void)();
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(listen("out"));
  vi.spyOn(process.stderr, "write").mockImplementation(listen("err"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
  await at.end();
});
const run = async (...args: string[]) => {
  said = { out: "", err: "" };
  return instances([...args, "--url", server.baseUrl]);
};

test("instances are listed, suspended, resumed, forked and migrated from the command line", async () => {
  expect(await run()).toBe(0);
  expect(said.out).toBe("c\trunning\tcounting\tcounter v1\t#1\n");
  expect(await run("suspend", "c", "--reason", "mending")).toBe(0);
  expect(said.out).toBe("c is suspended, #2\n");
  expect(await run("suspend", "c", "--reason", "mending")).toBe(0);
  expect(said.out).toBe("c was already suspended, #2\n");
  expect(await run("list", "--status", "suspended", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ id: "c", status: "suspended" });
  expect(await run("resume", "c", "--reason", "mended")).toBe(0);
  expect(await run("fork", "c", "--seq", "1", "--reason", "to try")).toBe(0);
  expect(said.out).toMatch(/^counter-\w+\n$/);
  expect(await run("migrate", "c", "--version", "1", "--dry-run", "--reason", "look")).toBe(0);
  expect(said.out).toBe("c ok\n  counting → counting\n");
});

test("what the server refuses is said in its words; a missing reason never reaches it", async () => {
  expect(await run("redrive", "c", "--reason", "r")).toBe(1);
  expect(said.err).toBe("lockstep: Instance c is running: redrive is for one that is failed.\n");
  await expect(run("terminate", "c")).rejects.toThrow("needs --reason");
  await expect(run("dance", "c")).rejects.toThrow('There is no "lockstep instances dance"');
  await expect(run("dance")).rejects.toThrow('There is no "lockstep instances dance"');
  expect((await at.runtime.getInstance(local, { instanceId: "c" })).status).toBe("running");
});

test("a dry run of a migration tells all that would go, and ends as the migration would", async () => {
  const first = { lockstep: 1, initial: "a", states: { a: { after: { "1h": "b" } }, b: {} } };
  await publish(at.runtime, "move", first);
  await at.runtime.startInstance(local, { chartId: "move", id: "m" });
  await publishNext(at.runtime, "move", { ...first, context: { tries: 0 }, states: { a: {}, b: {} } });
  await publishNext(at.runtime, "move", { ...first, initial: "b", states: { b: {} } });
  const migrate = (version: number, ...more: string[]) =>
    run("migrate", "m", "--version", String(version), "--reason", "r", ...more);
  expect(await migrate(2, "--dry-run")).toBe(0);
  expect(said.out.split("\n")).toEqual([
    "m ok",
    "  a → a",
    "  timer 1h is dropped",
    "  context.tries is added",
    "",
  ]);
  expect(await migrate(3, "--dry-run")).toBe(1);
  expect(said.out).toMatch(/^m needs-mapping\n {2}a → \? {2}needs-mapping {2}./);
  expect(await migrate(3, "--dry-run", "--json")).toBe(1);
  expect(JSON.parse(said.out)).toMatchObject({ changed: false, plan: { verdict: "needs-mapping" } });
  expect(await migrate(3)).toBe(1);
  expect(await migrate(2)).toBe(0);
  expect(said.out).toContain("is of version 2 now, #2\n  a → a\n  timer 1h is dropped");
});
