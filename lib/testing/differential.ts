/**
 * The engine beside XState 5 on random charts of their common subset, event by event, answer by answer, timer by timer.
 *
 * After every input both must have equal status, state value, context (which holds a log of every action in order), running
 * invocations, emitted events, and the same messages waiting for the same times in the same order. XState runs as a real
 * actor on a clock that moves when told; ours runs by `macrostep` alone, its effects carried out here.
 *
 * Charts set `selection: "xstate"` and `errors: "stop"`, as an XState import does; where no state is parallel, both
 * selections must agree and the SCXML one is used. Differences that are known, kept out by the generator, all in
 * lib/statechart/README.md: `*` never matches an `after` timer here (rule 5); XState leaves out the initial arrow's actions
 * of a compound state that is entered as a region beside a target, or by history; it asks regions in the order in which they
 * were entered; it enters active states a second time when a history target is taken from inside the history's own parent;
 * of two waiting messages with one id its `cancel` reaches the later one only; an `in` among actions asks, in XState, what
 * was active before the transition.
 */
import { isDeepStrictEqual } from "node:util";
import * as xstate from "xstate";
import type { AnyActor } from "xstate";
import { compile } from "@/lib/statechart/compile";
import type { Effect } from "@/lib/statechart/effect";
import { macrostep } from "@/lib/statechart/macrostep";
import type { Machine } from "@/lib/statechart/machine";
import type { Snapshot } from "@/lib/statechart/snapshot";
import { start } from "@/lib/statechart/start";
import { stateValue } from "@/lib/statechart/state-value";
import type { StepInput, StepResult } from "@/lib/statechart/step";
import { Random, randomEvents, randomOptions, randomRoot, toChart } from "./random-chart";
import { toXState, xstateInDocumentOrder, type WorkAnswer, type XState } from "./random-chart-xstate";

/** What was seen: a generator that stopped generating would agree with everything. */
export interface Seen {
  steps: number;
  moved: number;
  ended: number;
  failed: number;
  timers: number;
  done: number;
  errors: number;
  stale: number;
  sent: number;
  emitted: number;
}

export interface Difference {
  seed: number;
  step: number;
  input: string;
  ours: unknown;
  theirs: unknown;
}

export interface Campaign {
  firstSeed: number;
  charts: number;
  events: number;
  /** Told after every chart. */
  onChart?: (played: number, seen: Seen) => void;
}

/** Plays all charts; stops at the first difference. */
export async function playDifferential(
  campaign: Campaign,
): Promise<{ seen: Seen; found: Difference | null }> {
  const seen: Seen = {
    steps: 0,
    moved: 0,
    ended: 0,
    failed: 0,
    timers: 0,
    done: 0,
    errors: 0,
    stale: 0,
    sent: 0,
    emitted: 0,
  };
  const sorted = await xstateInDocumentOrder();
  for (let played = 0; played < campaign.charts; played++) {
    const found = compare(campaign.firstSeed + played, campaign.events, sorted, seen);
    if (found !== null) return { seen, found };
    campaign.onChart?.(played + 1, seen);
  }
  return { seen, found: null };
}

function compare(seed: number, events: number, sorted: XState, seen: Seen): Difference | null {
  const random = new Random(seed);
  const options = randomOptions(random);
  const root = randomRoot(random, options);
  // Without parallel states XState as it is; with them, the copy that asks regions in document order.
  const library = options.parallel ? sorted : xstate;
  const theirs = new Theirs(library, toXState(library, root));
  const ours = new Ours(compile(toChart(root, options.parallel ? "xstate" : "scxml")), seed % 2 === 0, seen);
  let input = "start";
  for (let step = 0; ; step++) {
    const [mine, other] = [ours.view(), theirs.view()];
    if (!isDeepStrictEqual(mine, other)) return { seed, step, input, ours: mine, theirs: other };
    if (ours.status === "completed") seen.ended++;
    if (ours.status === "failed") seen.failed++;
    if (ours.status !== "running" || step === events) {
      theirs.stop();
      return null;
    }
    seen.steps++;
    input = next(random, ours, theirs, seen);
  }
}

/** Gives both the same input; tells which. */
function next(random: Random, ours: Ours, theirs: Theirs, seen: Seen): string {
  const running = ours.running;
  if (running.length > 0 && random.chance(0.3)) {
    const id = random.pick(running);
    const fails = random.chance(0.3);
    const number = random.below(6);
    if (fails) seen.errors++;
    else seen.done++;
    ours.answer(
      id,
      fails ? { type: "settle", error: { code: `c${number}` } } : { type: "settle", output: number },
    );
    theirs.answer(
      id,
      fails ? { type: "settle", error: { code: `c${number}` } } : { type: "settle", output: number },
    );
    return `${id} ${fails ? "fails" : "done"} ${number}`;
  }
  if (random.chance(0.05) && ours.answerStale()) {
    seen.stale++;
    return "a stale answer";
  }
  const { nextDueAt } = ours;
  if (nextDueAt !== null && random.chance(0.35)) {
    seen.timers++;
    ours.now = theirs.clock.nowMs = nextDueAt;
    ours.fire();
    theirs.clock.fire();
    return `time ${nextDueAt}`;
  }
  // Time passes between events, up to what is due.
  const idleMs = Math.min(random.below(3) * 100, (nextDueAt ?? Infinity) - ours.now);
  ours.now += idleMs;
  theirs.clock.nowMs = ours.now;
  const event = { type: random.pick(randomEvents), n: random.below(6) };
  ours.play({ kind: "event", type: event.type, data: { n: event.n } });
  theirs.send(event);
  return `${event.type} ${event.n}`;
}

/** Our machine, and the little world around it: a mailbox, a clock, work that waits to be answered. */
class Ours {
  now = 0;
  private snapshot: Snapshot;
  private seq = 1;
  private readonly mailbox: StepInput[] = [];
  /** In order of arming. */
  private agenda: { id: string; dueAt: number }[] = [];
  private emitted: string[] = [];
  private readonly left: { id: string; generation: number }[] = [];

  constructor(
    private readonly machine: Machine,
    private readonly trace: boolean,
    private readonly seen: Seen,
  ) {
    const result = start(machine, { id: "d" }, { at: 0, seq: 1, trace });
    this.snapshot = result.snapshot;
    this.take(result);
    this.settle();
  }

  get status(): Snapshot["status"] {
    return this.snapshot.status;
  }
  get running(): string[] {
    return Object.keys(this.snapshot.invocations).sort();
  }
  get nextDueAt(): number | null {
    return this.agenda.length === 0 ? null : Math.min(...this.agenda.map(({ dueAt }) => dueAt));
  }

  view(): unknown {
    const { status, configuration, context } = this.snapshot;
    const { emitted } = this;
    this.emitted = [];
    if (status === "failed") return { status };
    return {
      status,
      value: stateValue(this.machine, configuration),
      context,
      emitted,
      ...(status === "running"
        ? { running: this.running, waiting: this.agenda.map(({ dueAt }) => dueAt) }
        : {}),
    };
  }

  play(input: StepInput): void {
    this.step(input);
    this.settle();
  }

  answer(id: string, answer: WorkAnswer): void {
    const generation = this.snapshot.invocations[id]?.generation ?? 0;
    this.left.push({ id, generation });
    this.play({
      kind: "answer",
      id,
      generation,
      ...("error" in answer ? { error: { ...answer.error, message: "planted" } } : { output: answer.output }),
    });
  }

  /** An answer of work that is over changes nothing: XState has nobody who could give it. False: there is none yet. */
  answerStale(): boolean {
    const [first] = this.left;
    if (first === undefined) return false;
    this.play({ kind: "answer", ...first, output: 99 });
    return true;
  }

  /** The one that waits longest of those due. */
  fire(): void {
    const due = this.agenda.find(({ dueAt }) => dueAt === this.nextDueAt);
    if (due === undefined) return;
    this.agenda = this.agenda.filter((one) => one !== due);
    this.play({ kind: "timer", id: due.id });
  }

  private settle(): void {
    while (this.status === "running") {
      const message = this.mailbox.shift();
      if (message === undefined) return;
      this.seen.sent++;
      this.step(message);
    }
  }

  private step(input: StepInput): void {
    const { now, trace } = this;
    const result = macrostep(this.machine, this.snapshot, input, { at: now, seq: ++this.seq, trace });
    if (result.outcome.outcome === "moved") this.seen.moved++;
    this.snapshot = result.snapshot;
    this.take(result);
  }

  private take({ effects }: StepResult): void {
    for (const effect of effects) this.carryOut(effect);
  }

  private carryOut(effect: Effect): void {
    switch (effect.type) {
      case "send":
        this.mailbox.push({ kind: "event", ...effect.event });
        return;
      case "timer.arm":
        this.agenda.push({ id: effect.id, dueAt: effect.timer.dueAt });
        return;
      case "timer.cancel":
        this.agenda = this.agenda.filter(({ id }) => id !== effect.id);
        return;
      case "invoke.cancel":
        this.left.push({ id: effect.id, generation: effect.generation });
        return;
      case "emit":
        this.seen.emitted++;
        this.emitted.push(effect.event.type);
        return;
      // A running invocation is in the snapshot; random charts neither log nor compensate.
      case "invoke.start":
      case "log":
      case "compensate":
        return;
    }
  }
}

/** XState's clock, moved by hand. */
class VirtualClock {
  nowMs = 0;
  private last = 0;
  /** In order of arming. */
  private timeouts: { id: number; dueAt: number; run: () => void }[] = [];

  setTimeout(run: () => void, delayMs: number): number {
    this.timeouts.push({ id: ++this.last, dueAt: this.nowMs + delayMs, run });
    return this.last;
  }
  clearTimeout(id: number): void {
    this.timeouts = this.timeouts.filter((one) => one.id !== id);
  }
  get waiting(): number[] {
    return this.timeouts.map(({ dueAt }) => dueAt);
  }
  fire(): void {
    const first = Math.min(...this.waiting);
    const due = this.timeouts.find(({ dueAt }) => dueAt === first);
    if (due === undefined) return;
    this.clearTimeout(due.id);
    due.run();
  }
}

class Theirs {
  readonly clock = new VirtualClock();
  private readonly actor: AnyActor;
  private emitted: string[] = [];

  constructor(library: XState, machine: xstate.AnyStateMachine) {
    this.actor = library.createActor(machine, { clock: this.clock });
    this.actor.on("*", ({ type }) => {
      this.emitted.push(type);
    });
    // Its failure shows in its snapshot.
    this.actor.subscribe({ error: () => undefined });
    this.actor.start();
  }

  send(event: { type: string; n: number }): void {
    this.actor.send(event);
  }

  answer(id: string, answer: WorkAnswer): void {
    this.children()[id]?.send(answer);
  }

  stop(): void {
    this.actor.stop();
  }

  view(): unknown {
    const { status, error, value, context } = this.snapshot;
    const { emitted } = this;
    this.emitted = [];
    if (status === "error") {
      mustBePlanted(error);
      return { status: "failed" };
    }
    return {
      status: status === "done" ? "completed" : "running",
      value,
      context,
      emitted,
      ...(status === "active"
        ? { running: Object.keys(this.children()).sort(), waiting: this.clock.waiting }
        : {}),
    };
  }

  private children(): Record<string, AnyActor> {
    return Object.fromEntries(
      Object.entries(this.snapshot.children as Record<string, AnyActor>).filter(
        ([, child]) => (child.getSnapshot() as { status: string }).status === "active",
      ),
    );
  }

  private get snapshot(): Record<"status" | "error" | "value" | "context" | "children", unknown> {
    return this.actor.getSnapshot() as never;
  }
}

/** A guard that was to fail, or work that was; anything else is a fault of this test. */
function mustBePlanted(error: unknown): void {
  if (error instanceof Error && error.message.includes("planted")) return;
  if (typeof error === "object" && error !== null && "code" in error) return;
  throw error;
}
