/**
 * The soak, for scripts/soak.mjs: events, timers, tasks and locks on PostgreSQL, its fsync on, for a while, with worker
 * processes that are killed, stopped, let go on and restarted at random, each of them, now and then all at once.
 *
 * Holds at the end, or it says so: every acknowledged event is in the log once, under its seq; every event whose answer was
 * lost is there once after it was repeated; every task moved its instance once; every instance replays to what is
 * stored (I5); each lock's row is the fold of its log (I7); memory is flat: of the workers, whose peak of a minute does not
 * rise, and of this process, which steps what it sends and lives through.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { localActor as actor } from "@/lib/access/actor";
import { canonicalJson } from "@/lib/base/canonical";
import { LockstepError } from "@/lib/base/errors";
import type { JsonObject } from "@/lib/base/json";
import { foldLockLog } from "@/lib/runtime/locks/lock-rules";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import type { Store } from "@/lib/store/store";
import { startPostgres } from "../postgres-server";
import { Random } from "../random-chart";
import { makePostgres } from "../throwaway-database";

const instancesCount = 40;
const sendersCount = 8;
const taskWorkersCount = 2;
const locksCount = 4;
const workersCount = 3;
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

/** Resident memory, KiB: the highest of each minute, of any worker and of this process. */
interface Peaks {
  workers: number[];
  own: number[];
}

export async function soak(options: { minutes: number; seed: number; program: string }): Promise<number> {
  const { minutes, seed } = options;
  const random = new Random(seed);
  const server = await startPostgres({ durable: true });
  const database = await makePostgres(server.url);
  const store = await openSqlStore({ url: database.url, connections: 10 });
  const runtime = createRuntime({ store, report: () => undefined });
  const workers: Worker[] = [];
  const tally = { sent: 0, lost: 0, tasks: 0, locks: 0, kills: 0, stops: 0 };
  const peaks: Peaks = { workers: [], own: [] };
  const sent: Sent[] = [];
  try {
    await prepare(runtime);
    for (let n = 0; n < workersCount; n += 1) workers.push(startWorker(options.program, database.url));
    const endAt = Date.now() + minutes * minuteMs;
    const over = () => Date.now() >= endAt;
    say(`seed ${seed}: ${minutes} minutes, ${workersCount} workers, ${instancesCount} instances`);
    const load = [
      ...Array.from({ length: sendersCount }, (_, n) =>
        sendAll(runtime, new Random(seed + n), n, sent, tally, over),
      ),
      ...Array.from({ length: taskWorkersCount }, (_, n) =>
        goingOn(() => workAll(runtime, new Random(seed - n), n, tally, over), over),
      ),
      goingOn(() => lockAll(runtime, new Random(seed ^ 5), tally, over), over),
    ];
    await Promise.all([
      ...load,
      disturb(workers, options.program, database.url, random, tally, over),
      tellMinutes(workers, sent, tally, peaks, over),
    ]);
    for (const worker of workers) resume(worker);
    for (const one of sent) if (one.seq === null) await submit(runtime, one, 100);
    await atRest(store);
    // Timers tick on; nothing may change while it is looked at.
    for (const { process: worker } of workers) worker.kill("SIGKILL");
    await sleep(1_000);
    const wrong = await check(store, runtime, sent);
    for (const [whose, kib] of Object.entries(peaks) as [string, number[]][]) {
      const [, first] = kib;
      const last = kib.at(-1);
      // The first minute fills caches; after that a third more is growth.
      if (first !== undefined && last !== undefined && kib.length > 3 && last > first * 1.33)
        wrong.push(`memory (${whose}) grew from ${first} to ${last} KiB`);
    }
    say(
      `${wrong.length === 0 ? "nothing lost, nothing doubled, memory flat" : `${wrong.length} faults`}: ${sent.length} events, ${tally.lost} answers lost, ${tally.tasks} tasks, ${tally.locks} locks, ${tally.kills} kills, ${tally.stops} stops; peaks of RSS by minute, MiB: workers ${mibOf(peaks.workers)}, own ${mibOf(peaks.own)}`,
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

const mibOf = (peaks: readonly number[]): string => peaks.map((kib) => Math.round(kib / 1024)).join(">");
const say = (line: string) => process.stdout.write(`${line}\n`);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const instanceName = (n: number) => `soak-${n}`;
const lockName = (n: number) => `zone-${n}`;

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
      if (!(error instanceof LockstepError) || (error.retry !== "later" && error.code !== "lease-lost"))
        throw error;
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
      if (!(error instanceof LockstepError) || error.retry !== "later") throw error;
    }
  }
}

async function workAll(
  runtime: Runtime,
  random: Random,
  name: number,
  tally: { tasks: number },
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
        tally.tasks += 1;
      }
    }
  }
}

async function lockAll(
  runtime: Runtime,
  random: Random,
  tally: { locks: number },
  over: () => boolean,
): Promise<void> {
  for (let n = 0; !over(); n += 1) {
    const key = lockName(random.below(locksCount));
    const session = `s${n}`;
    const told = await runtime.acquireLock(actor, {
      key,
      session,
      holder: "soak",
      ttlMs: 2_000,
      waitMs: 3_000,
    });
    if (told.result === "acquired") {
      tally.locks += 1;
      // Now and then it is left to run out.
      if (random.chance(0.9)) await runtime.releaseLock(actor, { key, session, fence: told.fence });
    }
    await sleep(random.below(60));
  }
}

async function tellMinutes(
  workers: Worker[],
  sent: readonly Sent[],
  tally: { tasks: number; locks: number; kills: number; stops: number },
  peaks: Peaks,
  over: () => boolean,
): Promise<void> {
  for (let minute = 1; !over(); minute += 1) {
    const until = Date.now() + minuteMs;
    let [highest, own] = [0, 0];
    while (!over() && Date.now() < until) {
      await sleep(500);
      highest = Math.max(highest, ...workers.map((worker) => rssOf(worker.process.pid)));
      own = Math.max(own, rssOf(process.pid));
    }
    peaks.workers.push(highest);
    peaks.own.push(own);
    say(
      `minute ${minute}: ${sent.length} events, ${tally.tasks} tasks, ${tally.locks} locks, ${tally.kills} kills, ${tally.stops} stops; at most ${mibOf([highest])} MiB a worker, ${mibOf([own])} here`,
    );
  }
}

function rssOf(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid ?? 0}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function check(store: Store, runtime: Runtime, sent: readonly Sent[]): Promise<string[]> {
  const wrong: string[] = [];
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
    const tasks = new Set<string>();
    for (const entry of log) {
      const one = entry.dedupeKey === null ? undefined : byKey.get(entry.dedupeKey);
      if (one) {
        found.set(one.key, (found.get(one.key) ?? 0) + 1);
        if (one.seq !== entry.seq || one.instanceId !== id)
          wrong.push(`I1: ${one.key} was told ${one.seq ?? "nothing"}, is ${entry.seq}`);
        if (one.type === "tell") toldSent += 1;
      }
      if (entry.type === "told") toldArrived += 1;
      if (entry.kind !== "task-answer") continue;
      if (tasks.has(entry.cause ?? "")) wrong.push(`I1: ${entry.cause ?? ""} moved ${id} twice`);
      tasks.add(entry.cause ?? "");
    }
    const state = await runtime.getState(actor, { instanceId: id });
    if (!state.hashMatches || state.rebuiltHash !== row?.stateHash)
      wrong.push(`I5: ${id} replays to another state`);
    const sum = sent
      .filter(({ instanceId, type }) => instanceId === id && type === "add")
      .reduce((total, { data }) => total + Number(data["n"]), 0);
    const context = state.context as { sum: number; told: number };
    if (context.sum !== sum) wrong.push(`I1: ${id} sums up to ${context.sum} instead of ${sum}`);
  }
  for (const { key } of sent)
    if (found.get(key) !== 1) wrong.push(`I1: ${key} is in the log ${found.get(key) ?? 0} times`);
  if (toldSent !== toldArrived)
    wrong.push(`I2: ${toldSent} messages between instances were sent, ${toldArrived} arrived`);
  for (let n = 0; n < locksCount; n += 1) {
    const key = lockName(n);
    const log = (await store.listLockLog(key, null, 10_000_000)).reverse();
    const [row] = await store.findLocks([key]);
    if (row && canonicalJson({ ...foldLockLog(key, log) }) !== canonicalJson({ ...row }))
      wrong.push(`I7: the row of ${key} is not the fold of its log`);
  }
  return wrong;
}

/** Until every mailbox is empty; timers go on ticking. */
async function atRest(store: Store): Promise<void> {
  for (const giveUpAt = Date.now() + 30_000; Date.now() < giveUpAt; await sleep(100)) {
    let waiting = 0;
    for (let n = 0; n < instancesCount; n += 1) waiting += await store.countMailbox(instanceName(n));
    if (waiting === 0) return;
  }
}
