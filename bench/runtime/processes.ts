/**
 * Figures that need other processes: workers on a full mailbox, and the server under HTTP clients.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { systemActor } from "@/lib/access/actor";
import { newMessageId } from "@/lib/runtime/new-id";
import type { MessageRow } from "@/lib/store/instances";
import type { Store } from "@/lib/store/store";
import { createRuntime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { noWrites } from "@/lib/store/steps";
import { startToys, timed, toyEvents } from "./toy";

function start(script: string, url: string, port = 0): ChildProcess {
  return spawn(process.execPath, [`scripts/${script}.mjs`], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, DATABASE_URL: url, PORT: String(port), LOCKSTEP_SEEDS: "off" },
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** Until the process says in its own words that it is there. */
async function ready(child: ChildProcess, words: string): Promise<void> {
  for await (const chunk of child.stdout ?? []) if (String(chunk).includes(words)) return;
  throw new Error("the process ended before it was ready");
}

/** Runs `work` while `count` worker processes serve the database. */
export async function withWorkers<T>(url: string, count: number, work: () => Promise<T>): Promise<T> {
  const processes = Array.from({ length: count }, () => start("worker", url));
  try {
    await Promise.all(processes.map((each) => ready(each, "A worker steps")));
    return await work();
  } finally {
    await Promise.all(processes.map(stop));
  }
}

/** Events per second of `workers` processes on mailboxes that hold two events for each of `count` instances. */
export async function workersEventsPerSecond(url: string, count: number, workers: number): Promise<number> {
  const store = await openSqlStore({ url, connections: 4 });
  const runtime = createRuntime({ store, report: (error) => console.error(error) });
  try {
    const ids = await startToys(runtime, count);
    const ms = await withWorkers(url, workers, async () => {
      await fillMailboxes(store, ids, toyEvents);
      const began = performance.now();
      while ((await store.findRunnable(await store.now(), "")).found.length > 0) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return performance.now() - began;
    });
    return (2 * count * 1000) / ms;
  } finally {
    await runtime.close();
  }
}

/** Each of `types` for each instance, in one transaction, so that the workers find all at once; the database's time, ms. */
export async function fillMailboxes(
  store: Store,
  ids: readonly string[],
  types: readonly string[],
): Promise<number> {
  return store.transaction(async (tx) => {
    const now = await tx.now();
    await tx.writeSteps({
      ...noWrites(),
      enqueued: types.flatMap((type) => ids.map((instanceId) => messageOf(instanceId, type, now))),
    });
    return now;
  });
}

const messageOf = (instanceId: string, type: string, now: number): MessageRow => ({
  instanceId,
  incarnation: 1,
  messageId: newMessageId(),
  type,
  input: JSON.stringify({ kind: "event", type }),
  actor: systemActor.id,
  cause: null,
  enqueuedAt: now,
  dedupeScope: null,
  dedupeKey: null,
  expectedSeq: null,
  fences: null,
});

/** Events per second over the server's own HTTP API, `clients` keep-alive connections. */
export async function httpEventsPerSecond(
  url: string,
  ids: readonly string[],
  clients: number,
): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const server = start("start", url, port);
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  try {
    await ready(server, "Lockstep is at");
    const post = (path: string, body: unknown) => send(agent, port, path, JSON.stringify(body));
    // The first requests compile the route.
    for (const id of ids.slice(0, 20)) await post(`/instances/${id}/events`, { type: "none" });
    let ms = 0;
    for (const type of toyEvents) {
      ms += await timed(ids, clients, (id) => post(`/instances/${id}/events`, { type }));
    }
    return (ids.length * 2 * 1000) / ms;
  } finally {
    agent.destroy();
    await stop(server);
  }
}

function send(agent: Agent, port: number, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const call = request(
      { agent, host: "127.0.0.1", port, path: `/api/v1${path}`, method: "POST", headers },
      (response) => {
        response.resume();
        response.on("end", () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${response.statusCode}`)),
        );
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}
