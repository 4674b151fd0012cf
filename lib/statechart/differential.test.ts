/**
 * The engine against XState 5 on random charts of their common subset: equal status, state value and context (which holds
 * a log of every action in order) after every event, and equal armed timers.
 *
 * Charts here set `selection: "xstate"` and `errors: "stop"`, as an XState import does; where no state is parallel, both
 * selections must agree and the SCXML one is used. Known differences, kept out by the generator, all in the README:
 * `*` never matches an `after` timer here (rule 5); XState leaves out the initial arrow's actions of a compound state that
 * is entered as a region beside a target, or by history; it asks regions in the order in which they were entered; and it
 * enters active states a second time when a history target is taken from inside the history's own parent.
 *
 * LOCKSTEP_DIFF_CHARTS, LOCKSTEP_DIFF_EVENTS: a bigger campaign; LOCKSTEP_DIFF_SEED: the first seed.
 */
import { expect, test } from "vitest";
import * as xstate from "xstate";
import type { AnyMachineSnapshot } from "xstate";
import { Random, randomEvents, randomOptions, randomRoot, toChart } from "@/lib/testing/random-chart";
import { toXState, xstateInDocumentOrder, type XState } from "@/lib/testing/random-chart-xstate";
import { compile } from "./compile";
import { macrostep } from "./macrostep";
import { start } from "./start";
import { stateValue } from "./state-value";
import type { StepInput, StepResult } from "./step";

const charts = Number(process.env.LOCKSTEP_DIFF_CHARTS ?? 200);
const events = Number(process.env.LOCKSTEP_DIFF_EVENTS ?? 20);
const firstSeed = Number(process.env.LOCKSTEP_DIFF_SEED ?? 1);

interface XStateAction {
  type: string;
  params?: { id?: string; sendId?: string; delay?: number; event?: { type: string } };
}

test(
  `${charts} random charts × ${events} events run as in XState`,
  async () => {
    const sorted = await xstateInDocumentOrder();
    const seen = { steps: 0, moved: 0, ended: 0, failed: 0, timers: 0 };
    for (let seed = firstSeed; seed < firstSeed + charts; seed++) compare(seed, sorted, seen);
    // A generator that stopped generating would pass everything.
    expect(seen.steps).toBeGreaterThan((charts * events) / 4);
    expect(seen.moved).toBeGreaterThan(seen.steps / 5);
    if (charts >= 200)
      for (const key of ["ended", "failed", "timers"] as const) expect(seen[key]).toBeGreaterThan(5);
  },
  20 * 60_000,
);

function compare(seed: number, sorted: XState, seen: Record<string, number>): void {
  const random = new Random(seed);
  const options = randomOptions(random);
  const root = randomRoot(random, options);
  const machine = compile(toChart(root, options.parallel ? "xstate" : "scxml"));
  // Without parallel states XState as it is; with them, the copy that asks regions in document order.
  const library = options.parallel ? sorted : xstate;
  const oracle = toXState(library, root);
  const where = (step: number): string => `seed ${seed}, step ${step}`;

  const theirTimers = new Map<string, { type: string }>();
  let theirs = attempt(() => library.initialTransition(oracle));
  let ours = start(machine, { id: "d" }, { at: 0, seq: 1 });
  for (let step = 0; ; step++) {
    if (theirs === null || ours.outcome.outcome === "failed") {
      expect([theirs, ours.outcome.outcome], `${where(step)}: ${ours.error?.message ?? ""}`).toEqual([
        null,
        "failed",
      ]);
      seen.failed = (seen.failed ?? 0) + 1;
      return;
    }
    const [snapshot, actions] = theirs;
    track(theirTimers, actions);
    expect(summary(ours, machine), where(step)).toEqual({
      status: snapshot.status === "done" ? "completed" : "running",
      value: snapshot.value as unknown,
      context: snapshot.context as unknown,
    });
    if (snapshot.status === "done") {
      seen.ended = (seen.ended ?? 0) + 1;
      return;
    }
    const ourTimers = Object.entries(ours.snapshot.timers).map(
      ([id, timer]) => [`xstate.after.${timer.after ?? ""}.${timer.state ?? ""}`, id] as const,
    );
    expect(ourTimers.map(([name]) => name).sort(), where(step)).toEqual([...theirTimers.keys()].sort());
    if (step === events) return;

    seen.steps = (seen.steps ?? 0) + 1;
    if (ours.outcome.outcome === "moved") seen.moved = (seen.moved ?? 0) + 1;
    let input: StepInput;
    let event: { type: string; n?: number };
    if (ourTimers.length > 0 && random.chance(0.3)) {
      const [name, id] = random.pick(ourTimers);
      event = { type: name };
      input = { kind: "timer", id };
      theirTimers.delete(name);
      seen.timers = (seen.timers ?? 0) + 1;
    } else {
      event = { type: random.pick(randomEvents), n: random.below(6) };
      input = { kind: "event", type: event.type, data: { n: event.n ?? 0 } };
    }
    theirs = attempt(() => library.transition(oracle, snapshot, event));
    ours = macrostep(machine, ours.snapshot, input, { at: step, seq: step + 2, trace: seed % 2 === 0 });
  }
}

function summary(result: StepResult, machine: ReturnType<typeof compile>): Record<string, unknown> {
  const { status, configuration, context } = result.snapshot;
  return { status, value: stateValue(machine, configuration), context };
}

/** XState's next snapshot and actions; null when the step failed by a planted error. */
function attempt(run: () => unknown): [AnyMachineSnapshot, XStateAction[]] | null {
  try {
    const result = run() as [AnyMachineSnapshot, XStateAction[]];
    return result[0].status === "error" ? null : result;
  } catch (error) {
    if (error instanceof Error && error.message.includes("planted")) return null;
    throw error;
  }
}

function track(timers: Map<string, { type: string }>, actions: readonly XStateAction[]): void {
  for (const { type, params } of actions) {
    if (type === "xstate.raise" && params?.delay !== undefined && params.event !== undefined) {
      timers.set(params.id ?? params.event.type, params.event);
    }
    if (type === "xstate.cancel") timers.delete(params?.sendId ?? params?.id ?? "");
  }
}
