/**
 * `lockstep worker` as people run it, against a real server.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

const root = join(import.meta.dirname, "../..");
let at: TestRuntime;
let server: TestServer;
let folder: string;
let children: ChildProcess[];

beforeEach(async () => {
  execFileSync(process.execPath, [join(root, "scripts/build-bin.mjs")]);
  folder = mkdtempSync(join(tmpdir(), "lockstep-worker-"));
  at = await freshRuntime("sqlite");
  at.runtime.startWorkers();
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await server.close();
  await at.end();
  rmSync(folder, { recursive: true, force: true });
});

function lockstep(args: string[]) {
  const child = spawn(process.execPath, [join(root, "dist/lockstep.js"), ...args]);
  children.push(child);
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, said, ended };
}

test("a module's exported functions carry out tasks until the worker is told to stop", async () => {
  const file = join(folder, "tasks.mjs");
  writeFileSync(
    file,
    `export const double = ({ n }) => ({ twice: n * 2 });
     export default { "add-one": async ({ n }) => n + 1 };`,
  );
  await publish(at.runtime, "sums", {
    lockstep: 1,
    tasks: { double: {}, "add-one": {} },
    context: { twice: 0, more: 0 },
    initial: "doubling",
    states: {
      doubling: {
        invoke: { id: "a", src: "double", input: { n: "21" } },
        on: { "done.invoke.a": { target: "adding", actions: { assign: { twice: "event.data.twice" } } } },
      },
      adding: {
        invoke: { id: "b", src: "add-one", input: { n: "context.twice" } },
        on: { "done.invoke.b": { target: "done", actions: { assign: { more: "event.data" } } } },
      },
      done: {},
    },
  });
  const { child, said, ended } = lockstep([
    "worker",
    file,
    "--url",
    server.baseUrl,
    "--id",
    "w1",
    "--slots",
    "2",
  ]);
  await at.runtime.startInstance(local, { chartId: "sums", id: "s" });
  await vi.waitFor(
    async () =>
      expect(await at.runtime.getInstance(local, { instanceId: "s" })).toMatchObject({
        configuration: ["done"],
        context: { twice: 42, more: 43 },
      }),
    10_000,
  );
  expect(said.out).toContain("w1 takes add-one, double");
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  expect(said.err).toBe("");
});

test("a module without functions, and a second worker of one name, end with a reason", async () => {
  const file = join(folder, "none.mjs");
  writeFileSync(file, "export const n = 1;");
  const none = lockstep(["worker", file]);
  expect(await none.ended).toBe(2);
  expect(none.said.err).toContain("exports no function");
  const some = join(folder, "some.mjs");
  writeFileSync(some, "export const work = () => 1;");
  const args = ["worker", some, "--url", server.baseUrl, "--id", "w1"];
  lockstep(args);
  await vi.waitFor(
    async () => expect((await at.runtime.listWorkers(local, {})).items).toHaveLength(2),
    5_000,
  );
  const second = lockstep(args);
  expect(await second.ended).toBe(1);
  expect(second.said.err).toContain("There is a worker w1 already");
});
