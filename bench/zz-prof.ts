import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, type Runtime } from "@/lib/runtime/runtime";
import { openSqlStore } from "@/lib/store/sql/open-sql-store";
import { startPostgres } from "@/lib/testing/postgres-server";
import { startToys, timed, toyEvents, mustBeDone } from "./runtime/toy";
import { systemActor } from "@/lib/access/actor";
import { Session } from "node:inspector";
import { writeFileSync } from "node:fs";

async function withRuntime<T>(url: string, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const store = await openSqlStore({ url, connections: 10 });
  const runtime = createRuntime({ store, report: (error) => console.error(error) });
  runtime.startWorkers();
  try { return await work(runtime); } finally { await runtime.close(); }
}
function pgCpu(): number {
  let ticks = 0;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      if (!stat.includes("(postgres)")) continue;
      const cmd = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (!cmd.includes("prof_db")) continue;
      const f = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      ticks += Number(f[11]) + Number(f[12]);
    } catch {}
  }
  return ticks * 10_000;
}
const which = process.argv[2] ?? "pg";
const callers = Number(process.argv[3] ?? 64), count = Number(process.argv[4] ?? 2000);
const profile = process.argv[5] === "prof";
const server = which === "pg" ? await startPostgres({ durable: true }) : null;
if (server) { const pg = (await import("pg")).default; const c = new pg.Client(server.url); await c.connect(); await c.query("create database prof_db"); await c.end(); }
const url = server ? server.url.replace(/\/postgres$/, "/prof_db") : `file:${join(mkdtempSync(join(tmpdir(), "lockstep-bench-")), "a.db")}`;
await withRuntime(url, async (runtime) => {
  for (let n = 0; n < 3; n++) {
    const ids = await startToys(runtime, count);
    const session = new Session();
    if (profile && n === 2) { session.connect(); await new Promise((r) => session.post("Profiler.enable", () => session.post("Profiler.start", r))); }
    const c0 = process.cpuUsage(), p0 = pgCpu(); const t0 = performance.now();
    for (const type of toyEvents) await timed(ids, callers, (instanceId) => runtime.sendEvent(systemActor, { instanceId, type }));
    const ms = performance.now() - t0; const c = process.cpuUsage(c0);
    const ev = 2 * count;
    console.log(which, "ev/s", (ev * 1000 / ms).toFixed(0), "node us/ev", ((c.user + c.system) / ev).toFixed(1), "pg us/ev", ((pgCpu() - p0) / ev).toFixed(1));
    if (profile && n === 2) await new Promise<void>((r) => session.post("Profiler.stop", (_e, { profile }) => { writeFileSync("/tmp/prof.cpuprofile", JSON.stringify(profile)); r(); }));
    await mustBeDone(runtime, ids.slice(0, 50));
  }
});
await server?.stop();
