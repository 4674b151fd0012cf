/**
 * The engine's figures, in one run beside XState 5's pure `transition()`: speed, replay, memory, cost of a trace.
 *
 * Both sides play the same events from snapshot to snapshot, in turns of some milliseconds; a figure is the median of all
 * turns, so that a busy moment of the machine touches both. Before anything is measured, both must reach the same
 * configurations. Run by scripts/bench.mjs (`BENCH_PRINT=json`: the last line is the figures as JSON).
 */
import { cpus } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { getHeapStatistics } from "node:v8";
import { initialTransition, transition, type AnyMachineSnapshot } from "xstate";
import { LockstepError } from "@/lib/base/errors";
import type { Json } from "@/lib/base/json";
import { compile } from "@/lib/statechart/compile";
import { macrostep } from "@/lib/statechart/macrostep";
import type { Machine } from "@/lib/statechart/machine";
import { replay } from "@/lib/statechart/replay";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { start } from "@/lib/statechart/start";
import { stateValue } from "@/lib/statechart/state-value";
import type { StepInput } from "@/lib/statechart/step";
import { coldFigure, isColdProcess } from "./cold-chart";
import { contests, type Contest } from "./machines";

// Started by coldFigure for one figure.
if (isColdProcess()) process.exit(0);

const rounds = 31;
const replayEvents = 100_000;

interface Figures {
  perSecond: number;
  xstatePerSecond: number;
  ratio: number;
  bytesPerEvent: number;
  bytesPerTransition: number;
  traceFactor: number;
}

function inputsOf({ events }: Contest): StepInput[] {
  return events.map(({ type, ...data }) => ({
    kind: "event",
    type,
    ...(Object.keys(data).length === 0 ? {} : { data }),
  }));
}

const begin = (machine: Machine): Snapshot => start(machine, { id: "bench" }, { at: 0, seq: 1 }).snapshot;

/** Plays `count` events; returns a function that goes on from where it stopped. */
function ourPlayer(machine: Machine, inputs: readonly StepInput[], trace: boolean): (count: number) => void {
  let snapshot = begin(machine);
  let seq = 1;
  return (count) => {
    for (let done = 0; done < count; done++) {
      const input = inputs[(seq - 1) % inputs.length] as StepInput;
      snapshot = macrostep(machine, snapshot, input, { at: seq, seq: ++seq, trace }).snapshot;
    }
  };
}

function xstatePlayer({ xstate, events }: Contest): (count: number) => void {
  let [snapshot] = initialTransition(xstate) as [AnyMachineSnapshot, unknown];
  let played = 0;
  return (count) => {
    for (let done = 0; done < count; done++) {
      const event = events[played++ % events.length];
      if (event !== undefined) [snapshot] = transition(xstate, snapshot, event);
    }
  };
}

/** The same events lead both to the same places with the same context; else the comparison would say nothing. */
function mustAgree(contest: Contest, machine: Machine): void {
  let ours = begin(machine);
  let [theirs] = initialTransition(contest.xstate) as [AnyMachineSnapshot, unknown];
  const inputs = inputsOf(contest);
  for (let step = 0; step < 10 * inputs.length; step++) {
    const input = inputs[step % inputs.length] as StepInput;
    const event = contest.events[step % inputs.length];
    ours = macrostep(machine, ours, input, { at: 0, seq: step + 2 }).snapshot;
    if (event !== undefined) [theirs] = transition(contest.xstate, theirs, event);
    const seen = { value: stateValue(machine, ours.configuration), context: ours.context };
    const expected = { value: theirs.value as Json, context: theirs.context as Json };
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(seen)), JSON.parse(JSON.stringify(expected))))
      throw new LockstepError(
        "internal",
        `${contest.name}, event ${step + 1}: ours ${JSON.stringify(seen)}, XState ${JSON.stringify(expected)}`,
      );
  }
}

const nsOf = (play: (count: number) => void, count: number): number => {
  const began = process.hrtime.bigint();
  play(count);
  return Number(process.hrtime.bigint() - began) / count;
};

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

/** How many transitions an event takes on average: several where regions answer together, none where it is ignored. */
function transitionsPerEvent(machine: Machine, inputs: readonly StepInput[]): number {
  let snapshot = begin(machine);
  let taken = 0;
  for (const [index, input] of inputs.entries()) {
    const result = macrostep(machine, snapshot, input, { at: 0, seq: index + 2, trace: true });
    for (const step of result.microsteps) taken += step.taken.length;
    snapshot = result.snapshot;
  }
  return taken / inputs.length;
}

/**
 * Bytes that the heap grows by per event. The young generation is so large that most windows see no collection, and the
 * median leaves out those that do. (A forced collection before each would also throw compiled code away.)
 */
function bytesOf(play: (count: number) => void): number {
  const windows = Array.from({ length: 61 }, () => {
    const before = getHeapStatistics().used_heap_size;
    play(2_000);
    return (getHeapStatistics().used_heap_size - before) / 2_000;
  });
  return median(windows);
}

function measure(contest: Contest): Figures {
  const machine = compile(contest.chart);
  mustAgree(contest, machine);
  const inputs = inputsOf(contest);
  const ours = ourPlayer(machine, inputs, false);
  const traced = ourPlayer(machine, inputs, true);
  const theirs = xstatePlayer(contest);
  ours(30_000);
  traced(10_000);
  theirs(10_000);
  const [own, other, withTrace, ratios, factors]: number[][] = [[], [], [], [], []];
  for (let round = 0; round < rounds; round++) {
    const plain = nsOf(ours, 10_000);
    const xstate = nsOf(theirs, 2_000);
    const trace = nsOf(traced, 5_000);
    own?.push(plain);
    other?.push(xstate);
    withTrace?.push(trace);
    ratios?.push(xstate / plain);
    factors?.push(trace / plain);
  }
  const perEvent = bytesOf(ours);
  return {
    perSecond: 1e9 / median(own ?? []),
    xstatePerSecond: 1e9 / median(other ?? []),
    ratio: median(ratios ?? []),
    bytesPerEvent: perEvent,
    bytesPerTransition: perEvent / transitionsPerEvent(machine, inputs),
    traceFactor: median(factors ?? []),
  };
}

function measureReplay(contest: Contest): number {
  const machine = compile(contest.chart);
  const inputs = inputsOf(contest);
  const entries = Array.from({ length: replayEvents }, (_, index) => ({
    input: inputs[index % inputs.length] as StepInput,
    at: index,
    seq: index + 2,
  }));
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    replay(machine, begin(machine), entries);
    return performance.now() - began;
  });
  return median(times);
}

const all = contests();
const figures = new Map(all.map((contest) => [contest.name, measure(contest)]));
const longest = all.find(({ name }) => name === "guarded");
const replayMs = longest === undefined ? NaN : measureReplay(longest);

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const row = (cells: string[]): string =>
  cells.map((cell, index) => cell.padEnd(index === 0 ? 10 : 18)).join("");
console.log(
  `Node ${process.version}, ${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores; medians of ${rounds} turns\n`,
);
console.log(row(["", "events/s", "XState 5", "ratio", "bytes/event", "bytes/transition", "with trace"]));
for (const [name, one] of figures)
  console.log(
    row([
      name,
      whole(one.perSecond),
      whole(one.xstatePerSecond),
      `${one.ratio.toFixed(1)}×`,
      whole(one.bytesPerEvent),
      whole(one.bytesPerTransition),
      `${one.traceFactor.toFixed(2)}×`,
    ]),
  );
console.log(`\nreplay of ${whole(replayEvents)} events (guarded): ${whole(replayMs)} ms`);
for (const states of [2_000, 5_000]) {
  const told = (["compile", "diagnose"] as const).map((deed) => {
    const { ms, cpuMs } = coldFigure(states, deed);
    return `${deed}d in ${whole(ms)} ms${Number.isNaN(cpuMs) ? "" : ` (${whole(cpuMs)} ms of its thread)`}`;
  });
  console.log(`a chart of ${whole(states)} states in a fresh process: ${told.join(", ")}`);
}

if (process.env.BENCH_PRINT === "json") {
  const rounded = (value: number): number => Math.round(value * 100) / 100;
  const worst = (pick: (one: Figures) => number): number =>
    rounded(Math.max(...[...figures.values()].map(pick)));
  const ratio = (name: Contest["name"]): number => rounded(figures.get(name)?.ratio ?? NaN);
  console.log(
    JSON.stringify({
      toy: ratio("toy"),
      guarded: ratio("guarded"),
      parallel: ratio("parallel"),
      replayMs: rounded(replayMs),
      // The worst of the three machines.
      bytesPerTransition: worst((one) => one.bytesPerTransition),
      traceFactor: worst((one) => one.traceFactor),
    }),
  );
}
