/**
 * Fan-out with workers killed on the way: `count` children at most `cap` at once, joined by a quorum of all; whoever works is
 * killed again and again before the join.
 */
import { localActor as local } from "@/lib/access/actor";
import type { JsonObject } from "@/lib/base/json";
import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { startChild } from "./child";

export interface FanOutReport {
  children: number;
  kills: number;
  seconds: number;
  /** Children begun when a worker was killed. */
  begunAtKills: number[];
}

/** Ends after a timer of 20 ms with its number; one in a hundred fails. (All errors are in the join, which may have 256 KiB.) */
const child: JsonObject = {
  lockstep: 1,
  settings: { errors: "stop" },
  context: {},
  output: "input",
  initial: "busy",
  states: {
    busy: {
      after: {
        "20ms": [{ guard: "input % 100 == 3", target: "broken" }, { target: "done" }],
      },
    },
    broken: { entry: { assign: { x: "context.nothing.at.all" } } },
    done: { type: "final" },
  },
};
const parent = (cap: number, quorum: number): JsonObject => ({
  lockstep: 1,
  context: { joined: null },
  initial: "waiting",
  states: {
    waiting: {
      invoke: {
        id: "each",
        src: "each",
        input: `{'chart': 'fan-child', 'items': input, 'cap': ${cap}, 'join': {'quorum': ${quorum}}, 'onFailed': 'continue'}`,
      },
      on: {
        "done.invoke.each": { target: "joined", actions: { assign: { joined: "event.data" } } },
        "error.invoke.each": "broken",
      },
    },
    joined: {},
    broken: {},
  },
});

/** Throws when the join is not exact, or a child is left over. */
export async function runFanOut(options: {
  url: string;
  count: number;
  cap: number;
  kills: number;
}): Promise<FanOutReport> {
  const { url, count, cap, kills } = options;
  const failing = Array.from({ length: count }, (_, n) => n).filter((n) => n % 100 === 3).length;
  const quorum = count - failing;
  const store = await openSqlStore({ url, connections: 4 });
  const runtime = createRuntime({ store, report: () => undefined });
  try {
    await publish("fan-child", child);
    await publish("fan-parent", parent(cap, quorum));
    const items = Array.from({ length: count }, (_, n) => n);
    await runtime.startInstance(local, { chartId: "fan-parent", id: "p", input: items });
    const began = performance.now();
    const begunAtKills: number[] = [];
    let worker = await startChild("fan-out", { url });
    const joined = async () => (await store.findInstance("p"))?.configuration !== '["waiting"]';
    for (let kill = 1; kill <= kills; kill += 1) {
      while ((await store.countChildren("p")) < (kill * count) / (kills + 1) && !(await joined()))
        await new Promise((done) => setTimeout(done, 20));
      worker.kill("SIGKILL");
      await worker.ended;
      begunAtKills.push(await store.countChildren("p"));
      worker = await startChild("fan-out", { url });
    }
    const giveUpAt = Date.now() + 300_000;
    const atRest = async () => (await joined()) && (await liveChildren()) === 0;
    while (!(await atRest())) {
      if (Date.now() > giveUpAt) throw new Error(`no join: ${await store.countChildren("p")} children begun`);
      await new Promise((done) => setTimeout(done, 50));
    }
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    worker.kill("SIGTERM");
    await worker.ended;
    await check();
    return { children: count, kills, seconds, begunAtKills };
  } finally {
    await runtime.close();
  }

  async function publish(id: string, chart: JsonObject): Promise<void> {
    const { revision } = await runtime.createChart(local, { id, text: JSON.stringify(chart) });
    await runtime.publishVersion(local, { chartId: id, revision });
  }

  async function liveChildren(): Promise<number> {
    let live = 0;
    for (const status of ["running", "queued", "suspended"] as const)
      live += (await store.listInstances({ parent: "p", status }, null, 10)).length;
    return live + (await store.findOrphans(10)).length;
  }

  async function check(): Promise<void> {
    const state = await runtime.getState(local, { instanceId: "p" });
    if (state.configuration[0] !== "joined" || !state.hashMatches) {
      const entry = await store.findLogEntry("p", state.seq);
      throw new Error(
        `the parent is in ${state.configuration.join()} by ${entry?.input ?? ""}, hash matches: ${state.hashMatches}`,
      );
    }
    const { joined } = state.context as { joined: { succeeded: number; results: (number | null)[] } };
    if (joined.succeeded !== quorum) throw new Error(`${joined.succeeded} joined instead of ${quorum}`);
    joined.results.forEach((result, place) => {
      if (result !== null && result !== place) throw new Error(`place ${place} has the result ${result}`);
    });
    const answered = joined.results.filter((result) => result !== null).length;
    if (answered !== quorum) throw new Error(`${answered} results instead of ${quorum}`);
    const begun = await store.countChildren("p");
    if (begun > count) throw new Error(`${begun} children begun instead of at most ${count}`);
    const answers = (await store.listLog("p", null, 100)).filter(({ kind }) => kind === "task-answer");
    if (answers.length !== 1) throw new Error(`the parent was answered ${answers.length} times`);
    // Each child took part in one life only: nothing was begun twice.
    const tally: Record<string, number> = {};
    let after: { createdAt: number; id: string } | null = null;
    do {
      const rows: { id: string; status: string; createdAt: number; seq: number }[] =
        await store.listInstances({ parent: "p" }, after, 500);
      for (const { status } of rows) tally[status] = (tally[status] ?? 0) + 1;
      const last = rows.at(-1);
      after = last && rows.length === 500 ? { createdAt: last.createdAt, id: last.id } : null;
    } while (after);
    const { completed = 0, failed = 0, terminated = 0, ...others } = tally;
    if (completed !== quorum || completed + failed + terminated !== begun || Object.keys(others).length > 0)
      throw new Error(`the children ended as ${JSON.stringify(tally)}`);
    if ((await store.findOrphans(10)).length > 0) throw new Error("there are orphans");
  }
}
