/**
 * What a large chart costs a process that has just started. The bench starts itself again for each figure, with the flags a
 * user's process has: a second reading of a chart in one process is no longer a cold one.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LockstepError } from "@/lib/base/errors";
import { compile } from "@/lib/statechart/compile";
import { diagnose } from "@/lib/statechart/diagnose";
import type { Chart } from "@/lib/statechart/document";
import { largeChart } from "./large-chart";

type Deed = "compile" | "diagnose";

const word = "cold-chart";
const rounds = 7;

/** Median ms of as many fresh processes. */
export function coldMs(states: number, deed: Deed): number {
  const times = Array.from({ length: rounds }, () => {
    const script = fileURLToPath(import.meta.url);
    const { stdout, stderr } = spawnSync(process.execPath, [script, word, deed, String(states)], {
      encoding: "utf8",
    });
    const ms = Number(stdout);
    if (stdout === "" || Number.isNaN(ms))
      throw new LockstepError("internal", `no figure: ${stdout}${stderr}`);
    return ms;
  });
  return times.sort((a, b) => a - b)[rounds >> 1] ?? NaN;
}

/** In such a process: does the deed, prints its ms. False: this is not one. */
export function isColdProcess(): boolean {
  const [given, deed, states] = process.argv.slice(2);
  if (given !== word) return false;
  const chart = JSON.parse(JSON.stringify(largeChart(Number(states)))) as Chart;
  const began = performance.now();
  const wrong = deed === "compile" ? compile(chart).problems : diagnose(chart);
  const ms = performance.now() - began;
  if (wrong.length > 0) throw new LockstepError("internal", `the large chart is wrong: ${wrong[0]?.message}`);
  process.stdout.write(String(ms));
  return true;
}
