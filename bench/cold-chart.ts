/**
 * What a large chart costs a process that has just started: `cold-chart STATES compile|diagnose` prints one line of JSON.
 * engine.ts starts it, once for each figure: the second reading of a chart in one process is no longer a cold one.
 */
import { compile } from "@/lib/statechart/compile";
import { diagnose } from "@/lib/statechart/diagnose";
import { largeChart } from "./large-chart";

const [states = "2000", what = "compile"] = process.argv.slice(2);
const chart = JSON.parse(JSON.stringify(largeChart(Number(states)))) as ReturnType<typeof largeChart>;
const cpu = process.cpuUsage();
const began = performance.now();
if (what === "compile") compile(chart);
else diagnose(chart);
const ms = performance.now() - began;
const used = process.cpuUsage(cpu);
console.log(JSON.stringify({ states: compile(chart).ordered.length, problems: diagnose(chart).length, ms, cpuMs: (used.user + used.system) / 1000 }));
