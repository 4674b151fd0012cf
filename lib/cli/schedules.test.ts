/**
 * `lockstep schedules` against a real server, its verb called as the command calls it.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { schedules } from "./schedules";

let at: TestRuntime;
let server: TestServer;
let said: { out: string; err: string };
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  await publish(at.runtime, "counter", counter);
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
  return schedules([...args, "--url", server.baseUrl]);
};

test("schedules are created, listed, changed, paused, run and deleted from the command line", async () => {
  const rule = ["--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--chart", "counter", "--label", "a=b"];
  expect(await run("create", "nightly", ...rule, "--input", '{"n":1}')).toBe(0);
  expect(said.out).toMatch(/^nightly 20\d\d-\d\d-\d\dT\d\d:30:00.000Z\n$/);
  expect(await run("update", "nightly", "--misfire", "all", "--priority", "2")).toBe(0);
  expect(await at.runtime.getSchedule(local, { scheduleId: "nightly" })).toMatchObject({
    revision: 2,
    cron: "30 2 * * *",
    timeZone: "Europe/Berlin",
    misfire: "all",
    action: { kind: "start", input: { n: 1 }, labels: { a: "b" }, priority: 2, version: null },
  });
  expect(await run("pause", "nightly")).toBe(0);
  expect(said.out).toBe("nightly paused\n");
  expect(await run("run", "nightly")).toBe(0);
  expect(said.out).toMatch(/\tstarted\tcounter-\w+\n$/);
  expect(await run("--status", "paused")).toBe(0);
  expect(said.out).toBe("nightly\tpaused\t30 2 * * * Europe/Berlin\tstart counter newest\tstarted\n");
  expect(await run("ticks", "nightly", "--json")).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ outcome: "started", actor: "local" });
  expect(await run("update", "nightly", "--send", "add", "--to-key", "K", "--data", "[1]")).toBe(0);
  expect(await run("list")).toBe(0);
  expect(said.out).toContain("\tsend add to K\t");
  expect(await run("delete", "nightly")).toBe(0);
  expect(said.out).toBe("nightly is deleted\n");
});

test("what the server refuses is said in its words; what is missing never reaches it", async () => {
  expect(await run("create", "s", "--cron", "61 * * * *", "--chart", "counter")).toBe(1);
  expect(said.err).toBe("lockstep: --cron: Invalid value for minute: 61.\n");
  await expect(run("create", "s", "--chart", "counter")).rejects.toThrow("needs --cron");
  await expect(run("create", "s", "--cron", "* * * * *")).rejects.toThrow("--chart ID, or --send");
  await expect(run("create", "s", "--cron", "* * * * *", "--send", "e")).rejects.toThrow("--to INSTANCE");
  await expect(run("dance", "s")).rejects.toThrow('There is no "lockstep schedules dance"');
  expect((await at.runtime.listSchedules(local, {})).items).toEqual([]);
});
