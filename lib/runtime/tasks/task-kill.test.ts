import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { JsonObject } from "@/lib/base/json";
import type { InstanceSummary } from "../instances/instance-views";
import { advance, providers } from "@/lib/testing/database";
import { bundleProgram, nodeFlags } from "@/lib/testing/program";
import { freshRuntime, local, publish, type TestRuntime } from "@/lib/testing/runtime";

const rounds = 5;
/** Of the 120 tasks that a round begins, at most so many are completed before the kill: some are always left. */
const completedMax = 70;
/** Three tasks after each other, of four keys over all instances. */
const chart: JsonObject = {
  lockstep: 1,
  tasks: { count: {} },
  context: { answers: [] },
  initial: "counting",
  states: {
    counting: {
      invoke: {
        id: "one",
        src: "count",
        concurrencyKey: "string(input)",
        retry: { attempts: 50, delay: "10ms" },
      },
      on: {
        "done.invoke.one": [
          {
            guard: "size(context.answers) < 2",
            target: "counting",
            reenter: true,
            actions: { assign: { answers: "context.answers + [event.data]" } },
          },
          { target: "counted", actions: { assign: { answers: "context.answers + [event.data]" } } },
        ],
        "error.invoke.one": "failed",
      },
    },
    counted: {},
    failed: {},
  },
};

test.each(providers)(
  "I9: on %s, a process is killed 5 times among tasks begun, claimed, failed and completed: each moves its instance once",
  async (provider) => {
    const program = await bundleProgram("lib/testing/task-kill-process.ts", `task-kill-process-${provider}`);
    const at = await freshRuntime(provider);
    try {
      await publish(at.runtime, "kill", chart);
      for (let round = 0; round < rounds; round += 1) await runAndKill(program, at.database.url, round);
      expect(await left(at)).toBeGreaterThan(0);
      await finish(at);
      await check(at);
      expect(at.reported).toEqual([]);
    } finally {
      await at.end();
    }
  },
  120_000,
);

async function runAndKill(program: string, url: string, round: number): Promise<void> {
  const child = spawn(process.execPath, [...nodeFlags, program, url, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((done) => child.once("close", done));
  let wanted = 1 + Math.floor(Math.random() * completedMax);
  for await (const line of createInterface(child.stdout)) {
    if (line === "completed") wanted -= 1;
    if (wanted === 0) break;
  }
  // Not at the very moment of a completion.
  await new Promise((done) => setTimeout(done, Math.random() * 10));
  child.kill("SIGKILL");
  await ended;
}

async function all(at: TestRuntime): Promise<InstanceSummary[]> {
  const found: InstanceSummary[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await at.runtime.listInstances(local, { limit: 200, cursor: cursor ?? undefined });
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

/** How many instances are not done yet. */
const left = async (at: TestRuntime): Promise<number> =>
  (await all(at)).filter(({ configuration }) => configuration[0] === "counting").length;

/** Lets the dead ones' leases run out and carries out what is left. */
async function finish(at: TestRuntime): Promise<void> {
  at.runtime.startWorkers();
  await advance(at.database.url, 61_000);
  for (const giveUpAt = Date.now() + 40_000; (await left(at)) > 0 && Date.now() < giveUpAt;) {
    const args = { types: ["count"], workerId: "last", max: 50, waitMs: 200 };
    const { tasks } = await at.runtime.claimTasks(local, args);
    for (const { token, idempotencyKey } of tasks) {
      await at.runtime.completeTask(local, { token, output: idempotencyKey });
    }
  }
}

async function check(at: TestRuntime): Promise<void> {
  for (const { id: instanceId } of await all(at)) {
    const state = await at.runtime.getState(local, { instanceId });
    expect(state).toMatchObject({
      configuration: ["counted"],
      context: { answers: [1, 2, 3].map((generation) => `${instanceId}:${generation}:one`) },
      hashMatches: true,
    });
    const { items } = await at.runtime.getLog(local, { instanceId });
    expect(items.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      ...Array.from({ length: 3 }, () => "task-answer moved"),
      "start moved",
    ]);
    const tasks = (await at.runtime.listTasks(local, { instanceId })).items;
    expect(tasks.map(({ taskId, status }) => `${taskId} ${status}`)).toEqual(
      [3, 2, 1].map((generation) => `${generation}:one succeeded`),
    );
  }
}
