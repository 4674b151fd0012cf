/**
 * `lockstep batch` against a real server with workers, its verb called as the command calls it.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { counter, freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";
import { batch } from "./batch";

let at: TestRuntime;
let server: TestServer;
let said: { out: string; err: string };
beforeEach(async () => {
  at = await freshRuntime("sqlite");
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  await publish(at.runtime, "counter", counter);
  for (const id of ["a", "b"]) await at.runtime.startInstance(local, { chartId: "counter", id });
  at.runtime.startWorkers();
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
  return batch([...args, "--url", server.baseUrl]);
};

test("a batch is counted first, done with --yes, and tells what became of each", async () => {
  const call = ["suspend", "--chart", "counter", "--reason", "fair"];
  await at.runtime.startInstance(local, { chartId: "counter", id: "c", labels: { site: "north" } });
  const labelled = ["terminate", "--label", "site=north", "--reason", "closed", "--yes", "--wait"];
  expect(await run(...labelled)).toBe(0);
  expect(said.out).toMatch(/1 ok, 0 refused, 0 skipped of 1\tterminate: label site:north\n$/);
  await at.runtime.deleteInstance(local, { instanceId: "c" });
  expect(await run(...call)).toBe(0);
  expect(said.out).toBe("suspend is about 2 instances (2 running). Nothing was done: say --yes to do it.\n");
  expect((await at.runtime.getInstance(local, { instanceId: "a" })).status).toBe("running");
  expect(await run(...call, "--yes", "--wait")).toBe(0);
  expect(said.out).toMatch(/^b-\w+\tdone\t2 ok, 0 refused, 0 skipped of 2\tsuspend: chartId counter\n$/);
  expect((await at.runtime.getInstance(local, { instanceId: "a" })).status).toBe("suspended");

  expect(await run("redrive", "a", "nobody", "--reason", "r", "--yes", "--wait", "--name", "try")).toBe(1);
  const [id = ""] = said.out.split("\t");
  expect(await run("items", id, "--outcome", "refused")).toBe(0);
  expect(said.out.split("\n")).toEqual([
    "a\trefused\tInstance a is suspended: redrive is for one that is failed, stuck.",
    "nobody\trefused\tThere is no instance nobody.",
    "",
  ]);
  expect(await run()).toBe(0);
  expect(said.out.split("\n")[0]).toBe(`${id}\tdone\t0 ok, 2 refused, 0 skipped of 2\ttry`);
  expect(await run("stop", id)).toBe(0);
  expect(said.out).toContain("\tdone\t");
});

test("without --yes a call is refused as it would be with it; what could be done is told, and nothing is made", async () => {
  await at.runtime.startInstance(local, { chartId: "counter", id: "c", labels: { "team:a": "x" } });
  const refusals = [
    [["migrate", "--chart", "counter"], "version"],
    [["migrate", "--chart", "counter", "--version", "9"], "has no version 9"],
    [["migrate", "--chart", "counter", "--version", "1", "--map", "counting=nowhere"], "nowhere"],
    [["reset", "a"], "reset needs the entry"],
    [["suspend", "a", "--seq", "1"], "other verbs take none"],
    [["suspend", "a", "--map", "x=y"], "only migrate"],
    [["suspend", "a", "--rate", "20000"], "10000"],
    [["suspend", "--status", "dancing"], "status"],
    [["suspend", "--chart", "nothing"], "nothing"],
  ] as const;
  for (const [args, words] of refusals) {
    expect(await run(...args, "--reason", "r")).toBe(1);
    expect(said).toMatchObject({ out: "", err: expect.stringContaining(words) as string });
    const first = said.err;
    expect(await run(...args, "--reason", "r", "--yes")).toBe(1);
    expect(said.err).toBe(first);
  }
  expect(await run("reset", "--label", "team:a=x", "--seq", "1", "--rate", "5", "--reason", "r")).toBe(0);
  expect(said.out).toBe(
    "reset to #1 is about 1 instance (1 running), at most 5 a second. Nothing was done: say --yes to do it.\n",
  );
  expect((await at.runtime.listBatches(local, {})).items).toEqual([]);
});

test("what is missing or contradicts itself never reaches the server", async () => {
  await expect(run("suspend", "--reason", "r")).rejects.toThrow("Say which instances");
  await expect(run("suspend", "a", "--all", "--reason", "r")).rejects.toThrow("Say which instances");
  await expect(run("suspend", "a")).rejects.toThrow("needs --reason");
  for (const ids of [["a"], [], ["a", "b"]]) {
    await expect(run("dance", ...ids)).rejects.toThrow(
      'There is no "lockstep batch dance". There are: suspend,',
    );
  }
  for (const rate of ["1e3", "0x10", " 5", "5.0", "", "-1"]) {
    await expect(run("suspend", "a", "--reason", "r", `--rate=${rate}`)).rejects.toThrow(
      "--rate takes a whole number",
    );
  }
  expect(await run("show", "none")).toBe(1);
  expect(said.err).toBe("lockstep: There is no batch none.\n");
});
