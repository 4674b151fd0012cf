/**
 * What a large chart costs a process that has just started. The bench starts itself again for each figure, with the flags a
 * user's process has: a second reading of a chart in one process is no longer a cold one. Beside the time that passed stands
 * the time the thread ran, which other work on the machine does not stretch (Linux tells it).
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { LockstepError } from "@/lib/base/errors";
import { compile } from "@/lib/statechart/compile";
import { diagnose } from "@/lib/statechart/diagnose";
import type { Chart } from "@/lib/statechart/document";
import { largeChart } from "./large-chart";

type Deed = "compile" | "diagnose";

const word = "cold-chart";
const rounds = 7;

export interface ColdFigure {
  ms: number;
  /** NaN where the system does not tell. */
  cpuMs: number;
}

/** Medians of as many fresh processes. */
export function coldFigure(states: number, deed: Deed): ColdFigure {
  const figures = Array.from({ length: rounds }, () => {
    const script = fileURLToPath(import.meta.url);
    const { stdout, stderr } = spawnSync(process.execPath, [script, word, deed, String(states)], {
      encoding: "utf8",
    });
    const [ms = NaN, cpuMs = NaN] = stdout.split(" ").map(Number);
    if (Number.isNaN(ms)) throw new LockstepError("internal", `no figure: ${stdout}${stderr}`);
    return { ms, cpuMs };
  });
  const median = (of: keyof ColdFigure): number =>
    figures.map((one) => one[of]).sort((a, b) => a - b)[rounds >> 1] ?? NaN;
  return { ms: median("ms"), cpuMs: median("cpuMs") };
}

/** Ms that this process's main thread has run. */
function threadMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return NaN;
  }
}

/** In such a process: does the deed, prints its ms. False: this is not one. */
export function isColdProcess(): boolean {
  const [given, deed, states] = process.argv.slice(2);
  if (given !== word) return false;
  const chart = JSON.parse(JSON.stringify(largeChart(Number(states)))) as Chart;
  const ran = threadMs();
  const began = performance.now();
  const wrong = deed === "compile" ? compile(chart).problems : diagnose(chart);
  const ms = performance.now() - began;
  const cpuMs = threadMs() - ran;
  if (wrong.length > 0) throw new LockstepError("internal", `the large chart is wrong: ${wrong[0]?.message}`);
  process.stdout.write(`${ms} ${cpuMs}`);
  return true;
}
