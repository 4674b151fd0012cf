/**
 * The kill test: a process is killed with SIGKILL in the middle of sends, again and again, and afterwards
 * - every acknowledged event is in the log exactly once, under the seq that was acknowledged;
 * - every event whose answer was lost is applied once when it is repeated with its key;
 * - seq has no gaps, and every instance's state is what replaying its log gives (I1, I2, I4, I5, I9).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { must } from "@/lib/base/assert";
import { hashJson } from "@/lib/base/canonical";
import type { JsonObject } from "@/lib/base/json";
import type { SendResult } from "@/lib/runtime/instances/instance-views";
import { foldLockLog } from "@/lib/runtime/locks/lock-rules";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { localActor } from "@/lib/access/actor";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { Store } from "@/lib/store/store";
import type { KillAnswer, KillCall } from "./kill-process";
import { nodeFlags } from "./program";

export interface KillReport {
  rounds: number;
  seed: number;
  acknowledged: number;
  /** Sent, and killed before the answer came. */
  unanswered: number;
  /** Of those: had been committed all the same. */
  committedUnanswered: number;
  restartMs: { median: number; max: number };
}

const instances = ["k1", "k2", "k3"];
const sendersMax = 6;
const chart: JsonObject = {
  lockstep: 1,
  context: { sum: 0, ticks: 0 },
  initial: "on",
  states: {
    on: {
      on: { add: { actions: { assign: { sum: "context.sum + event.n" } } } },
      // Timers run among the sends, so that kills hit them too.
      after: { "40ms": { target: "on", reenter: true, actions: { assign: { ticks: "context.ticks + 1" } } } },
    },
  },
};

interface Sent {
  key: string;
  instanceId: string;
  n: number;
  /** null: killed before the answer. */
  seq: number | null;
}

/** Throws with the seed when anything was lost or doubled. */
export async function runKillRounds(options: {
  url: string;
  rounds: number;
  seed: number;
  /** The bundled kill-process. */
  program: string;
}): Promise<KillReport> {
  const { url, rounds, seed } = options;
  const random = randomFrom(seed);
  const store = await openSqlStore({ url, connections: 4 });
  const runtime = createRuntime({ store, report: () => undefined });
  try {
    await prepare(runtime);
    const sent: Sent[] = [];
    const restarts: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const began = performance.now();
      const child = await startChild(options.program, url);
      restarts.push(performance.now() - began);
      await floodAndKill(child, random, sent);
      await checkAcknowledged(store, sent);
      await forgetSuspects(store);
    }
    const committedUnanswered = await countCommitted(store, sent);
    const unanswered = sent.filter((each) => each.seq === null).length;
    const acknowledged = sent.length - unanswered;
    await repeatUnanswered(options.program, url, sent);
    await checkEverything(store, runtime, sent);
    restarts.sort((a, b) => a - b);
    return {
      rounds,
      seed,
      acknowledged,
      unanswered,
      committedUnanswered,
      restartMs: {
        median: Math.round(must(restarts[Math.floor(restarts.length / 2)], "a round")),
        max: Math.round(must(restarts.at(-1), "a round")),
      },
    };
  } catch (error) {
    throw new Error(
      `the kill test with seed ${seed} failed: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    await runtime.close();
  }
}

async function prepare(runtime: Runtime): Promise<void> {
  await runtime.createChart(localActor, { id: "kill", text: JSON.stringify(chart) });
  await runtime.publishVersion(localActor, { chartId: "kill", revision: 1 });
  for (const id of instances) await runtime.startInstance(localActor, { chartId: "kill", id });
}

interface Child {
  process: ChildProcess;
  ended: Promise<void>;
  /** Resolves to null when the process was killed before it answered. */
  call(verb: KillCall["verb"], args: object): Promise<KillAnswer | null>;
}

async function startChild(program: string, url: string): Promise<Child> {
  const process = spawn(globalThis.process.execPath, [...nodeFlags, program, url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map<number, (answer: KillAnswer | null) => void>();
  let ids = 0;
  let ready: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => (ready = resolve));
  const lines = createInterface({ input: must(process.stdout, "stdout is a pipe") });
  lines.on("line", (line) => {
    const answer = JSON.parse(line) as KillAnswer | { ready: true };
    if ("ready" in answer) ready();
    else {
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    }
  });
  // Answers still in the pipe count: `close` comes after the last line.
  const ended = new Promise<void>((resolve) => lines.once("close", () => resolve()));
  let over = false;
  void ended.then(() => {
    over = true;
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
  });
  process.stdin?.on("error", () => undefined);
  await Promise.race([
    isReady,
    ended.then(() => Promise.reject(new Error("the process ended before it was ready"))),
  ]);
  return {
    process,
    ended,
    call: (verb, args) =>
      new Promise((resolve) => {
        if (over) return resolve(null);
        const id = (ids += 1);
        waiting.set(id, resolve);
        process.stdin?.write(`${JSON.stringify({ id, verb, args })}\n`);
      }),
  };
}

async function floodAndKill(child: Child, random: () => number, sent: Sent[]): Promise<void> {
  let killed = false;
  let answered: () => void = () => undefined;
  const firstAnswer = new Promise<void>((resolve) => (answered = resolve));
  const sender = async (name: number): Promise<void> => {
    while (!killed) {
      const one: Sent = {
        key: `e${sent.length}`,
        instanceId: must(instances[Math.floor(random() * instances.length)], "an instance"),
        n: 1 + Math.floor(random() * 9),
        seq: null,
      };
      sent.push(one);
      await send(child, one);
      answered();
      if (name === 0) await takeAndGiveLock(child);
    }
  };
  const senders = Promise.all(Array.from({ length: sendersMax }, (_, name) => sender(name)));
  // A process just started is slow at first: the clock runs from its first answer.
  await firstAnswer;
  await new Promise((resolve) => setTimeout(resolve, random() * 150));
  killed = true;
  child.process.kill("SIGKILL");
  await child.ended;
  await senders;
}

async function send(child: Child, one: Sent): Promise<void> {
  const { instanceId, key, n } = one;
  const args = { instanceId, type: "add", data: { n }, idempotencyKey: key, waitMs: 20_000 };
  const answer = await child.call("sendEvent", args);
  if (!answer) return;
  if ("code" in answer) throw new Error(`the send ${key} was refused: ${answer.code}`);
  const result = answer.result as SendResult;
  if (result.state !== "applied")
    throw new Error(`the send ${key} was left queued, ${instanceId} is ${result.status}`);
  one.seq = result.seq;
}

async function takeAndGiveLock(child: Child): Promise<void> {
  const granted = await child.call("acquireLock", { key: "zone", session: "s", holder: "h" });
  if (!granted || "code" in granted) return;
  const { fence } = granted.result as { fence: number };
  await child.call("releaseLock", { key: "zone", session: "s", fence });
}

/** Every answer given lately is true. */
async function checkAcknowledged(store: Store, sent: readonly Sent[]): Promise<void> {
  const newest = await Promise.all(instances.map((id) => store.listLog(id, null, 1_000)));
  const read = new Map(newest.flat().map((entry) => [`${entry.instanceId}#${entry.seq}`, entry.dedupeKey]));
  for (const { key, instanceId, seq } of sent.slice(-500)) {
    if (seq === null) continue;
    const place = `${instanceId}#${seq}`;
    const found = read.has(place) ? read.get(place) : (await store.findLogEntry(instanceId, seq))?.dedupeKey;
    if (found !== key) throw new Error(`${key} was acknowledged as ${place} and is not there`);
  }
}

/** No message killed the process: blamed in three rounds, it would be set aside, as is meant for those that do. */
const forgetSuspects = (store: Store): Promise<void> =>
  store.transaction(async (tx) => {
    for (const id of instances) await tx.removeSuspect(id);
  });

async function countCommitted(store: Store, sent: readonly Sent[]): Promise<number> {
  const applied = new Set((await wholeLog(store)).map((entry) => entry.dedupeKey));
  return sent.filter((each) => each.seq === null && applied.has(each.key)).length;
}

async function repeatUnanswered(program: string, url: string, sent: Sent[]): Promise<void> {
  const child = await startChild(program, url);
  for (const one of sent) if (one.seq === null) await send(child, one);
  child.process.kill("SIGKILL");
  await child.ended;
}

async function checkEverything(store: Store, runtime: Runtime, sent: readonly Sent[]): Promise<void> {
  const log = await wholeLog(store);
  const times = new Map<string, number>();
  for (const { dedupeKey } of log) {
    if (dedupeKey !== null) times.set(dedupeKey, (times.get(dedupeKey) ?? 0) + 1);
  }
  for (const { key } of sent) {
    if (times.get(key) !== 1) throw new Error(`${key} is in the log ${times.get(key) ?? 0} times`);
  }
  for (const instanceId of instances) {
    const seqs = log.filter((entry) => entry.instanceId === instanceId).map((entry) => entry.seq);
    seqs.forEach((seq, index) => {
      if (seq !== index + 1) throw new Error(`${instanceId} has ${seq} where ${index + 1} should be`);
    });
    const row = must(await store.findInstance(instanceId), instanceId);
    if (row.seq !== seqs.length) throw new Error(`${instanceId} is at ${row.seq}, its log at ${seqs.length}`);
    const state = await runtime.getState(localActor, { instanceId });
    if (!state.hashMatches || state.rebuiltHash !== row.stateHash) {
      throw new Error(
        `${instanceId} replays to another state than it had, first ${await firstDifference(runtime, instanceId, row.seq)}`,
      );
    }
    const sum = sent.filter((each) => each.instanceId === instanceId).reduce((total, { n }) => total + n, 0);
    const found = (state.context as { sum: number }).sum;
    if (found !== sum) throw new Error(`${instanceId} sums up to ${found} instead of ${sum}`);
    if ((await store.countMailbox(instanceId)) > 0) throw new Error(`${instanceId} has messages left`);
  }
  const lockLog = (await store.listLockLog("zone", null, 1_000_000)).reverse();
  const [lock] = await store.findLocks(["zone"]);
  const folded = foldLockLog("zone", lockLog);
  // No row: every round was over before the lock was asked for.
  if (hashJson({ ...folded }) !== hashJson({ ...(lock ?? foldLockLog("zone", [])) })) {
    throw new Error("the lock's row is not the fold of its log");
  }
}

/** Where replay and history part: for whoever has to find out why. */
async function firstDifference(runtime: Runtime, instanceId: string, last: number): Promise<string> {
  for (let seq = 1; seq <= last; seq += 1) {
    const state = await runtime.getState(localActor, { instanceId, seq });
    if (state.hashMatches) continue;
    const entry = await runtime.getLogEntry(localActor, { instanceId, seq });
    return `at seq ${seq}: ${JSON.stringify({ entry, state })}`;
  }
  return "in the instance's row alone";
}

/** Oldest first, per instance. */
async function wholeLog(store: Store) {
  const logs = await Promise.all(instances.map((id) => store.listLog(id, null, 10_000_000)));
  return logs.flatMap((log) => log.reverse());
}

/** mulberry32: small, seeded. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
