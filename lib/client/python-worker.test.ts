/**
 * examples/worker.py: a worker in another language, with nothing of ours.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { handle } from "@/lib/api/handle";
import { must } from "@/lib/base/assert";
import { advance, providers, type Provider } from "@/lib/testing/database";
import { serveHttp, type TestServer } from "@/lib/testing/http-server";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

const hasPython = spawnSync("python3", ["--version"]).status === 0;

let at: TestRuntime;
let server: TestServer;
let children: Map<string, ChildProcess>;
let said: string;
async function begin(provider: Provider): Promise<void> {
  at = await freshRuntime(provider);
  at.runtime.startWorkers();
  server = await serveHttp((request, path) => handle(request, path, () => Promise.resolve(at.runtime)));
  children = new Map();
  said = "";
}
afterEach(async () => {
  for (const child of children.values()) child.kill("SIGKILL");
  await server.close();
  await at.end();
});

function python(): void {
  const child = spawn("python3", [
    join(import.meta.dirname, "../../examples/worker.py"),
    server.baseUrl,
    "charge",
  ]);
  children.set(`python-${must(child.pid, "a started process has a pid")}`, child);
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
}

describe.skipIf(!hasPython)("without python3 this is skipped", () => {
  test.each(providers)(
    "I9: on %s, of two Python workers one is killed in the middle of a task, and the other finishes it",
    async (provider) => {
      await begin(provider);
      await publish(at.runtime, "order", {
        lockstep: 1,
        tasks: { charge: {} },
        context: { answer: null },
        initial: "paying",
        states: {
          paying: {
            invoke: { id: "pay", src: "charge", input: { seconds: "2" } },
            on: { "done.invoke.pay": { target: "paid", actions: { assign: { answer: "event.data" } } } },
          },
          paid: {},
        },
      });
      python();
      python();
      await at.runtime.startInstance(local, { chartId: "order", id: "a" });
      const first = await vi.waitFor(
        () => must(/^(python-\d+) works on a:1:pay, attempt 1$/m.exec(said), said),
        10_000,
      );
      const killed = must(first[1], "the worker's name");
      must(children.get(killed), "one of ours").kill("SIGKILL");
      // Its lease runs out, nobody waits for a minute.
      await advance(at.database.url, 61_000);
      const instance = await vi.waitFor(async () => {
        const found = await at.runtime.getInstance(local, { instanceId: "a" });
        expect(found.configuration).toEqual(["paid"]);
        return found;
      }, 15_000);
      expect(instance.context).toMatchObject({ answer: { attempt: 2, key: "a:1:pay" } });
      expect(instance.context).not.toMatchObject({ answer: { worker: killed } });
      const { items } = await at.runtime.getLog(local, { instanceId: "a" });
      expect(items.map((entry) => entry.kind)).toEqual(["task-answer", "start"]);
    },
  );
});
