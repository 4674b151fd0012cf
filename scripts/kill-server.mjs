/**
 * SIGKILL against the real `npm start`: send events, kill the whole process group at a random moment, start again, and
 * compare what was acknowledged with what the log holds.
 *
 * Holds (else exit 1): every acknowledged event is in the log exactly once; a repeat of an unanswered one under its
 * idempotency key lands exactly once too; seq has no gap; state rebuilt by replay has the stored hash.
 *
 * node scripts/kill-server.mjs [rounds=5] [seed]
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, say } from "./steps.mjs";

const rounds = Number(process.argv[2] ?? 5);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const port = 3450 + (process.pid % 40);
const base = `http://127.0.0.1:${port}/api/v1`;
const folder = mkdtempSync(join(tmpdir(), "lockstep-kill-"));
const random = mulberry32(seed);

const chart = {
  lockstep: 1,
  context: { count: 0 },
  initial: "on",
  states: { on: { on: { tick: { actions: { assign: { count: "context.count + 1" } } } } } },
};

let server = null;
process.on("exit", () => {
  if (server) killGroup();
  rmSync(folder, { recursive: true, force: true });
});

const restarts = [];
const acknowledged = new Map();
let key = 0;
await start();
await call("POST", "/charts", { id: "counter", text: JSON.stringify(chart) });
await call("POST", "/charts/counter/versions", { revision: 1 });
await call("POST", "/instances", { chartId: "counter", id: "c1" });

for (let round = 1; round <= rounds; round += 1) {
  const killAfterMs = 50 + Math.floor(random() * 700);
  const unanswered = await sendUntilKilled(killAfterMs);
  await start();
  for (const lost of unanswered) acknowledged.set(lost, (await send(lost)).seq);
  await verify(round, unanswered.length);
}
say(
  `${rounds} rounds of SIGKILL against npm start held (seed ${seed}); ready again after ${restarts.slice(1).join(", ")} ms`,
);
process.exit(0);

async function sendUntilKilled(afterMs) {
  let alive = true;
  const unanswered = [];
  const timer = setTimeout(() => {
    alive = false;
    killGroup();
  }, afterMs);
  const lane = async () => {
    while (alive) {
      const mine = `k${(key += 1)}`;
      try {
        acknowledged.set(mine, (await send(mine)).seq);
      } catch {
        unanswered.push(mine);
        if (alive) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  clearTimeout(timer);
  return unanswered;
}

async function verify(round, lost) {
  const seen = new Map();
  const seqs = [];
  let before;
  do {
    const page = await call("GET", `/instances/c1/log?limit=200${before ? `&before=${before}` : ""}`);
    for (const entry of page.items) {
      seqs.push(entry.seq);
      if (entry.dedupeKey) seen.set(entry.dedupeKey, (seen.get(entry.dedupeKey) ?? 0) + 1);
    }
    before = page.items.at(-1)?.seq;
  } while (before > 1);
  const newest = Math.max(...seqs);
  if (new Set(seqs).size !== seqs.length || seqs.length !== newest)
    fail(round, `seq has gaps or repeats: ${seqs.length} entries up to ${newest}`);
  for (const mine of acknowledged.keys()) {
    if (seen.get(mine) !== 1)
      fail(round, `${mine} was acknowledged and is in the log ${seen.get(mine) ?? 0} times`);
  }
  const state = await call("GET", `/instances/c1/state?seq=${newest}`);
  if (!state.hashMatches) fail(round, `replay gives ${state.rebuiltHash}, stored is ${state.storedHash}`);
  if (state.context.count !== newest - 1)
    fail(round, `count is ${state.context.count} after ${newest - 1} events`);
  say(
    `round ${round}: ${acknowledged.size} events acknowledged, ${lost} repeated after the kill, log ${newest}: held`,
  );
}

function fail(round, what) {
  say(`round ${round}, seed ${seed}: ${what}`);
  process.exit(1);
}

function send(mine) {
  return call("POST", "/instances/c1/events", { type: "tick" }, mine);
}

async function call(method, path, body, idempotencyKey) {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(body ? { "Content-Type": "application/json" } : {}),
      ...(idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.error?.message ?? response.status}`);
  return answer;
}

async function start() {
  const began = Date.now();
  server = spawn("npm", ["start"], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, PORT: String(port), DATABASE_URL: `file:${join(folder, "lockstep.db")}` },
  });
  for (;;) {
    if (server.exitCode !== null) throw new Error(`npm start ended with ${server.exitCode}`);
    if (Date.now() - began > 240_000) throw new Error("npm start did not answer within 4 minutes");
    const up = await fetch(`${base}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  restarts.push(Date.now() - began);
}

function killGroup() {
  try {
    process.kill(-server.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
  server = null;
}

function mulberry32(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
