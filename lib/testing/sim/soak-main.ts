/**
 * The soak, for scripts/soak.mjs: events, timers, tasks and locks on PostgreSQL, its fsync on, for a while, with worker
 * processes that are killed, stopped, let go on and restarted at random, each of them, now and then all at once.
 *
 * Holds at the end, or it says so: every acknowledged event is in the log once, under its seq; every event whose answer was
 * lost is there once after it was repeated; every task begun is answered once and moved its instance once; every timer armed
 * fired once, but the one that runs; all comes to rest: no mailbox, no overdue timer, no task left; every instance replays to
 * what is stored (I5); each lock's row is the fold of its log (I7), and no two of its holders had it at once (soak-locks);
 * memory is flat (soak-memory): the workers' resident one, and what this process, which steps what it sends, keeps after a
 * collection; the list of what was sent is part of that, some MiB in ten minutes.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { localActor as actor } from "@/lib/access/actor";
import { isPassing, LockstepError } from "@/lib/base/errors";
import type { JsonObject } from "@/lib/base/json";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { taskIdempotencyKey } from "@/lib/runtime/tasks/task-rules";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { Store } from "@/lib/store/store";
import { startPostgres } from "../postgres-server";
import { Random } from "../random-chart";
import { makePostgres } from "../throwaway-database";
import { checkLocks, lockAll, type Hold } from "./soak-locks";
import { growthOf, type Sample } from "./soak-memory";

const instancesCount = 40;
const sendersCount = 8;
const taskWorkersCount = 2;
const lockClientsCount = 3;
const workersCount = 3;
/** Of the samples of the workers' memory, every so many one of this process's: a collection stops it for a moment. */
const ownEvery = 10;
/** Between two deeds to the workers. */
const disturbMs = 3_000;
const minuteMs = 60_000;

/** Adds up, ticks by a timer, and after every seventh event asks for a task that adds up too. */
const chart: JsonObject = {
  lockstep: 1,
  context: { sum: 0, ticks: 0, tasks: 0, told: 0 },
  tasks: { count: {} },
  type: "parallel",
  states: {
    adding: {
      on: {
        add: { actions: [{ assign: { sum: "context.sum + event.n" } }, { raise: { type: "added" } }] },
        told: { actions: { assign: { told: "context.told + 1" } } },
        tell: { actions: { send: { to: { cel: "'instance:' + event.to" }, type: "told" } } },
      },
    },
    ticking: {
      initial: "on",
      states: {
        on: {
          after: {
            "2s": { target: "on", reenter: true, actions: { assign: { ticks: "context.ticks + 1" } } },
          },
        },
      },
    },
    working: {
      initial: "idle",
      states: {
        idle: { on: { added: { guard: "context.sum % 7 == 0", target: "busy" } } },
        busy: {
          invoke: {
            src: "count",
            retry: { attempts: 1000, delay: 100 },
            onDone: { target: "idle", actions: { assign: { tasks: "context.tasks + 1" } } },
          },
        },
      },
    },
  },
};

interface Sent {
  key: string;
  instanceId: string;
  type: "add" | "tell";
  data: JsonObject;
  seq: number | null;
}

interface Worker {
  process: ChildProcess;
  stopped: boolean;
}

/** Resident memory: the highest of any worker, and of this process. */
interface Memory {
  workers: Sample[];
  own: Sample[];
}

export async function soak(options: { minutes: number; seed: number; program: string }): Promise<number> {
  const { minutes, seed } = options;
  const random = new Random(seed);
  const server = await startPostgres({ durable: true });
  const database = await makePostgres(server.url);
  const store = await openSqlStore({ url: database.url, connections: 10 });
  const runtime = createRuntime({ store, report: () => undefined });
  const workers: Worker[] = [];
  const tally = { lost: 0, kills: 0, stops: 0 };
  const memory: Memory = { workers: [], own: [] };
  const sent: Sent[] = [];
  const done: string[] = [];
  const holds: Hold[] = [];
  let answered = false;
  const atRest = () => answered;
  try {
    await prepare(runtime);
    for (let n = 0; n < workersCount; n += 1) workers.push(startWorker(options.program, database.url));
    const endAt = Date.now() + minutes * minuteMs;
    const over = () => Date.now() >= endAt;
    say(`seed ${seed}: ${minutes} minutes, ${workersCount} workers, ${instancesCount} instances`);
    const answering = Promise.all(
      Array.from({ length: taskWorkersCount }, (_, n) =>
        goingOn(() => workAll(runtime, new Random(seed - n), n, done, atRest), atRest),
      ),
    );
    answering.catch(() => undefined);
    await Promise.race([
      answering,
      Promise.all([
        ...Array.from({ length: sendersCount }, (_, n) =>
          sendAll(runtime, new Random(seed + n), n, sent, tally, over),
        ),
        ...Array.from({ length: lockClientsCount }, (_, n) =>
          goingOn(() => lockAll(runtime, new Random(seed ^ (5 + n)), holds, over), over),
        ),
        disturb(workers, options.program, database.url, random, tally, over),
        tellMinutes(workers, { sent, done, holds, tally }, memory, over),
      ]),
    ]);
    for (const worker of workers) resume(worker);
    for (const one of sent) if (one.seq === null) await submit(runtime, one, 100);
    const left = await rest(store);
    answered = true;
    await answering;
    // Timers tick on; nothing may change while it is looked at.
    for (const { process: worker } of workers) worker.kill("SIGKILL");
    await sleep(1_000);
    const wrong = [
      ...left,
      ...(await check(store, runtime, sent, done)),
      ...(await checkLocks(store, holds)),
    ];
    const told = [];
    for (const [whose, samples] of Object.entries(memory) as [string, Sample[]][]) {
      const { flat, text } = growthOf(samples);
      told.push(`${whose} ${text}`);
      if (!flat) wrong.push(`memory (${whose}) grows: ${text}`);
    }
    say(
      `${wrong.length === 0 ? "nothing lost, nothing doubled, memory flat" : `${wrong.length} faults`}: ${sent.length} events, ${tally.lost} answers lost, ${done.length} tasks, ${holds.length} locks held by ${lockClientsCount} clients, ${tally.kills} kills, ${tally.stops} stops; memory: ${told.join("; ")}`,
    );
    for (const each of wrong.slice(0, 20)) say(`  ${each}`);
    return wrong.length;
  } finally {
    for (const { process: worker } of workers) worker.kill("SIGKILL");
    await runtime.close();
    await database.drop();
    await server.stop();
  }
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const instanceName = (n: number) => `soak-${n}`;

async function prepare(runtime: Runtime): Promise<void> {
  const { revision } = await runtime.createChart(actor, { id: "soak", text: JSON.stringify(chart) });
  await runtime.publishVersion(actor, { chartId: "soak", revision });
  for (let n = 0; n < instancesCount; n += 1) {
    await runtime.startInstance(actor, { chartId: "soak", id: instanceName(n) });
  }
}

function startWorker(program: string, url: string): Worker {
  const env = {
    ...process.env,
    DATABASE_URL: url,
    NODE_ENV: "production" as const,
    LOCKSTEP_SEEDS: "off",
  };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "inherit"] });
  return { process: child, stopped: false };
}

function resume(worker: Worker): void {
  if (worker.stopped) worker.process.kill("SIGCONT");
  worker.stopped = false;
}

/** None is spared: one at a time, and one time in ten all of them. */
async function disturb(
  workers: Worker[],
  program: string,
  url: string,
  random: Random,
  tally: { kills: number; stops: number },
  over: () => boolean,
): Promise<void> {
  const stop = (worker: Worker) => {
    worker.process.kill("SIGSTOP");
    worker.stopped = true;
    tally.stops += 1;
  };
  const kill = (place: number) => {
    workers[place]?.process.kill("SIGKILL");
    workers[place] = startWorker(program, url);
    tally.kills += 1;
  };
  while (!over()) {
    await sleep(disturbMs * (0.5 + random.below(1_000) / 1_000));
    if (random.chance(0.1)) {
      if (random.chance(0.5)) workers.forEach((_, place) => kill(place));
      else {
        for (const worker of workers) stop(worker);
        await sleep(disturbMs);
        for (const worker of workers) resume(worker);
      }
      continue;
    }
    const place = random.below(workers.length);
    const worker = workers[place];
    if (!worker) continue;
    if (worker.stopped) resume(worker);
    else if (random.chance(0.5)) stop(worker);
    else kill(place);
  }
}

async function sendAll(
  runtime: Runtime,
  random: Random,
  name: number,
  sent: Sent[],
  tally: { lost: number },
  over: () => boolean,
): Promise<void> {
  for (let n = 0; !over(); n += 1) {
    const tell = random.chance(0.2);
    const one: Sent = {
      key: `${name}-${n}`,
      instanceId: instanceName(random.below(instancesCount)),
      type: tell ? "tell" : "add",
      data: tell ? { to: instanceName(random.below(instancesCount)) } : { n: 1 + random.below(3) },
      seq: null,
    };
    sent.push(one);
    // Half of them wait for nobody: the workers step them.
    await submit(runtime, one, 1, random.chance(0.5) ? 0 : 5_000);
    if (one.seq === null) tally.lost += 1;
    await sleep(random.below(40));
  }
}

/** The database may cut a process off that was itself held up: what it was doing then is lost, and it goes on. */
async function goingOn(work: () => Promise<void>, over: () => boolean): Promise<void> {
  while (!over()) {
    try {
      await work();
    } catch (error) {
      const leaseLost = error instanceof LockstepError && error.code === "lease-lost";
      if (!isPassing(error) && !leaseLost) throw error;
      await sleep(100);
    }
  }
}

/** Until its seq is known, at most `tries` times. */
async function submit(runtime: Runtime, one: Sent, tries: number, waitMs = 5_000): Promise<void> {
  const { instanceId, type, data, key } = one;
  for (let n = 0; n < tries && one.seq === null; n += 1) {
    try {
      const told = await runtime.sendEvent(actor, { instanceId, type, data, idempotencyKey: key, waitMs });
      one.seq = told.seq;
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
  }
}

/** `done`: the keys of tasks that were said to be done, and that was taken. */
async function workAll(
  runtime: Runtime,
  random: Random,
  name: number,
  done: string[],
  over: () => boolean,
): Promise<void> {
  while (!over()) {
    const { tasks } = await runtime.claimTasks(actor, {
      types: ["count"],
      workerId: `soak-${name}`,
      max: 4,
      waitMs: 500,
    });
    for (const { token, idempotencyKey } of tasks) {
      await sleep(random.below(20));
      if (random.chance(0.1)) {
        await runtime.failTask(actor, { token, error: { code: "chance", message: "by chance" } });
      } else {
        await runtime.completeTask(actor, { token, output: idempotencyKey });
        done.push(idempotencyKey);
      }
    }
  }
}

async function tellMinutes(
  workers: Worker[],
  {
    sent,
    done,
    holds,
    tally,
  }: {
    sent: readonly Sent[];
    done: readonly string[];
    holds: readonly Hold[];
    tally: { kills: number; stops: number };
  },
  memory: Memory,
  over: () => boolean,
): Promise<void> {
  for (let minute = 1; !over(); minute += 1) {
    const until = Date.now() + minuteMs;
    for (let look = 0; !over() && Date.now() < until; look += 1) {
      await sleep(500);
      const at = Date.now();
      memory.workers.push({ at, mib: Math.max(...workers.map((worker) => rssOf(worker.process.pid))) });
      if (look % ownEvery === 0) memory.own.push({ at, mib: keptHere() });
    }
    const [worker, own] = [memory.workers.at(-1), memory.own.at(-1)].map((last) =>
      Math.round(last?.mib ?? 0),
    );
    say(
      `minute ${minute}: ${sent.length} events, ${done.length} tasks, ${holds.length} locks, ${tally.kills} kills, ${tally.stops} stops; ${worker ?? 0} MiB a worker, ${own ?? 0} kept here`,
    );
  }
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** MiB that are alive. */
function keptHere(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
/** MiB. */
function rssOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid ?? 0}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function check(
  store: Store,
  runtime: Runtime,
  sent: readonly Sent[],
  done: readonly string[],
): Promise<string[]> {
  const wrong: string[] = [];
  const succeeded = new Set<string>();
  let toldSent = 0;
  let toldArrived = 0;
  const byKey = new Map(sent.map((one) => [one.key, one]));
  const found = new Map<string, number>();
  for (let n = 0; n < instancesCount; n += 1) {
    const id = instanceName(n);
    const row = await store.findInstance(id);
    const log = (await store.listLog(id, null, 10_000_000)).reverse();
    log.forEach(({ seq }, index) => {
      if (seq !== index + 1) wrong.push(`I1: ${id} has ${seq} where ${index + 1} should be`);
    });
    for (const entry of log) {
      const one = entry.dedupeKey === null ? undefined : byKey.get(entry.dedupeKey);
      if (one) {
        found.set(one.key, (found.get(one.key) ?? 0) + 1);
        if (one.seq !== entry.seq || one.instanceId !== id)
          wrong.push(`I1: ${one.key} was told ${one.seq ?? "nothing"}, is ${entry.seq}`);
        if (one.type === "tell") toldSent += 1;
      }
      if (entry.type === "told") toldArrived += 1;
    }
    const state = await runtime.getState(actor, { instanceId: id });
    if (!state.hashMatches || state.rebuiltHash !== row?.stateHash)
      wrong.push(`I5: ${id} replays to another state`);
    const sum = sent
      .filter(({ instanceId, type }) => instanceId === id && type === "add")
      .reduce((total, { data }) => total + Number(data["n"]), 0);
    const context = state.context as { sum: number; told: number; tasks: number; ticks: number };
    if (context.sum !== sum) wrong.push(`I1: ${id} sums up to ${context.sum} instead of ${sum}`);

    const { generations, timers } = JSON.parse(row?.snapshot ?? "{}") as Snapshot;
    // Each entry of its state begins a task, and arms a timer: what is behind us is answered, and fired.
    const tasks = await store.listTasks(id, null, 10_000_000);
    const begun = generations["working.busy"] ?? 0;
    if (tasks.length !== begun) wrong.push(`I2: ${id} began ${begun} tasks, ${tasks.length} are there`);
    if (context.tasks !== begun) wrong.push(`I1: ${begun} tasks of ${id} moved it ${context.tasks} times`);
    for (const task of tasks) {
      const key = taskIdempotencyKey(task);
      if (task.status === "succeeded") succeeded.add(key);
      else wrong.push(`I9: task ${key} is ${task.status}`);
      const answers = log.filter(({ kind, cause }) => kind === "task-answer" && cause === key);
      const moves = answers.filter(({ outcome }) => outcome === "moved").length;
      if (answers.length !== 1 || moves !== 1)
        wrong.push(`I1: task ${key} was answered ${answers.length} times and moved ${id} ${moves} times`);
    }
    const fired = log.filter(({ kind }) => kind === "timer").length;
    const armed = generations["ticking.on"] ?? 0;
    const running = Object.keys(timers).length;
    if (running !== 1 || fired + running !== armed || context.ticks !== fired)
      wrong.push(
        `I1: ${id} armed ${armed} timers, ${fired} fired, ${running} run, it ticked ${context.ticks} times`,
      );
  }
  for (const key of done) if (!succeeded.has(key)) wrong.push(`I2: task ${key} was taken as done and is not`);
  if (new Set(done).size !== done.length) wrong.push("I3: a task was taken as done twice");
  for (const { key } of sent)
    if (found.get(key) !== 1) wrong.push(`I1: ${key} is in the log ${found.get(key) ?? 0} times`);
  if (toldSent !== toldArrived)
    wrong.push(`I2: ${toldSent} messages between instances were sent, ${toldArrived} arrived`);
  return wrong;
}

/** A timer that is due is fired within this (I8). */
const lateMaxMs = 1_000;
/** A lease that a killed call left behind, and what follows. */
const restMaxMs = 90_000;
/** So that what should have become due meanwhile would show. */
const restForMs = 3_000;

/** Until nothing is left to do but timers to come, for a while; else what is left then. */
async function rest(store: Store): Promise<string[]> {
  let left: string[] = [];
  let since = Date.now();
  for (const giveUpAt = Date.now() + restMaxMs; Date.now() < giveUpAt; await sleep(100)) {
    left = await leftToDo(store);
    if (left.length > 0) since = Date.now();
    else if (Date.now() - since > restForMs) return [];
  }
  return left.length > 0 ? left : ["I8: it did not stay at rest"];
}

async function leftToDo(store: Store): Promise<string[]> {
  const left: string[] = [];
  const now = await store.now();
  for (const { type, count } of await store.countClaimable(["count"], now, 100))
    left.push(`I8: ${count} tasks ${type} may be claimed`);
  for (let n = 0; n < instancesCount; n += 1) {
    const id = instanceName(n);
    const waiting = await store.countMailbox(id);
    if (waiting > 0) left.push(`I8: ${waiting} messages wait in the mailbox of ${id}`);
    const { invocations, timers } = JSON.parse((await store.findInstance(id))?.snapshot ?? "{}") as Snapshot;
    for (const name of Object.keys(invocations)) left.push(`I8: task ${name} of ${id} is under way`);
    for (const [name, { dueAt }] of Object.entries(timers))
      if (dueAt < now - lateMaxMs) left.push(`I8: timer ${name} of ${id} is due for ${now - dueAt} ms`);
  }
  return left;
}
