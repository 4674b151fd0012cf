/**
 * A chart and the child charts it invokes, in memory, on a virtual clock.
 *
 * All machines share one mailbox: messages run in the order in which they were sent, so that a child speaks before its
 * parent goes on. Time starts at 0 and moves only by `runUntil`.
 *
 * Holds: the same calls give the same steps; what is due at one time runs in order of due time, then of arming; a call
 *        runs at most stepsMax steps; a cancelled child's messages and answers reach nobody.
 * Does not: print, read files, know what a line of output is.
 */
import { assert } from "@/lib/base/assert";
import type { Json, JsonObject } from "@/lib/base/json";
import type { Effect } from "@/lib/statechart/effect";
import { leave } from "@/lib/statechart/leave";
import { macrostep } from "@/lib/statechart/macrostep";
import type { EngineError } from "@/lib/statechart/snapshot";
import { start } from "@/lib/statechart/start";
import type { Outcome, StepInput, StepOptions, StepResult } from "@/lib/statechart/step";
import { Player, type PlayedChart } from "./player";
import { situationOf, type Waiting } from "./situation";
import type { Stub, Stubs } from "./stubs";

/** The chart that an invocation of `src: "chart"` names; null: there is none here, it stays pending. */
export type FindChart = (input: Json) => PlayedChart | { problem: string } | null;

export interface WorldOptions {
  id?: string;
  trace?: boolean;
  stubs?: Stubs;
  findChart?: FindChart;
  /** One call that causes more steps than this runs in circles; 100,000. */
  stepsMax?: number;
  /** Told of every step of every machine. */
  onStep?: (player: Player, result: StepResult) => void;
}

// A chart that sends to itself without delay; a clock that ticks every ms for a minute and a half is none.
const stepsMaxDefault = 100_000;
// A chart that invokes itself: each generation is a whole machine.
const depthMax = 16;

const scxmlProcessor = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor";

type Message = { to: Player; input: StepInput | { kind: "start" } };

export class World {
  /** Virtual time in ms since the start. */
  nowMs = 0;
  root: Player;
  /** Those that can be sent to, by session id. */
  private readonly players = new Map<string, Player>();
  private readonly mailbox: Message[] = [];
  /** In order of arming. */
  private agenda: Waiting[] = [];
  private readonly stubsUsed = new Map<string, number>();
  private readonly stepsMax: number;
  private stepsLeft: number;

  constructor(
    chart: PlayedChart,
    private readonly options: WorldOptions = {},
  ) {
    this.root = new Player(options.id ?? "run", chart, null);
    this.players.set(this.root.id, this.root);
    this.stepsMax = options.stepsMax ?? stepsMaxDefault;
    this.stepsLeft = this.stepsMax;
  }

  /** The root's own first macrostep; `settle` runs what it caused. */
  start(): Outcome {
    return this.begin(this.root);
  }

  /** The root's own macrostep for an event from outside; `settle` runs what it caused. */
  send(type: string, data?: Json): Outcome {
    this.stepsLeft = this.stepsMax;
    return this.step(this.root, { kind: "event", type, ...(data === undefined ? {} : { data }) });
  }

  /** Runs everything due by now; true when anything ran. */
  settle(): boolean {
    let ran = false;
    for (;;) {
      if (this.mailbox.length === 0) this.takeDue();
      const message = this.mailbox.shift();
      if (message === undefined) return ran;
      const { to, input } = message;
      if (to.isOver) continue;
      if (input.kind === "start") this.begin(to);
      // A timer cancelled by what ran before it at the same time is gone.
      else if (input.kind === "timer" && !Object.hasOwn(to.snapshot?.timers ?? {}, input.id)) continue;
      else this.step(to, input);
      ran = true;
    }
  }

  /** Lets time pass to `untilMs`, or as far as something is pending; true when anything ran. */
  runUntil(untilMs: number): boolean {
    this.stepsLeft = this.stepsMax;
    let ran = false;
    for (;;) {
      const next = this.nextDueAt;
      if (next === null || next > untilMs || this.root.isOver) return ran;
      this.nowMs = Math.max(this.nowMs, next);
      ran = this.settle() || ran;
    }
  }

  /** The same world, to go on apart; at rest only. */
  fork(onStep: NonNullable<WorldOptions["onStep"]>): World {
    assert(this.mailbox.length === 0, "a world is forked at rest");
    const twin = new World(this.root.chart, { ...this.options, onStep });
    const twins = new Map<Player, Player>();
    twin.nowMs = this.nowMs;
    twin.root = this.root.copy(null, twins);
    twin.players.clear();
    for (const [id, player] of this.players) twin.players.set(id, twins.get(player) ?? twin.root);
    twin.agenda = this.agenda.map((due) => ({ ...due, to: twins.get(due.to) ?? twin.root }));
    for (const [name, used] of this.stubsUsed) twin.stubsUsed.set(name, used);
    return twin;
  }

  /** When the next timer or answer is due; null: nothing waits. */
  get nextDueAt(): number | null {
    return this.agenda.length === 0 ? null : Math.min(...this.agenda.map(({ dueAt }) => dueAt));
  }

  /** At rest: equal situations go on alike. */
  get situation(): JsonObject {
    const used = [...this.stubsUsed].map(([name, count]) => {
      // The last stub repeats.
      const last = (this.options.stubs?.get(name)?.length ?? 1) - 1;
      return [name, Math.min(count, last)] as const;
    });
    return { ...situationOf(this.root, this.agenda, this.nowMs), stubs: Object.fromEntries(used) };
  }

  /** Moves what is due into the mailbox, once nothing that was sent earlier is left in it. */
  private takeDue(): void {
    const due = this.agenda.filter(({ dueAt }) => dueAt <= this.nowMs);
    if (due.length === 0) return;
    this.agenda = this.agenda.filter(({ dueAt }) => dueAt > this.nowMs);
    // Stable: equal times keep the order of arming.
    this.mailbox.push(...due.sort((a, b) => a.dueAt - b.dueAt));
  }

  // ---- steps

  private begin(player: Player): Outcome {
    const { machine, name, input, data } = player.chart;
    const session = {
      id: player.id,
      ...(name === undefined ? {} : { name }),
      ...(input === undefined ? {} : { input }),
      ...(data === undefined ? {} : { data }),
    };
    return this.take(player, start(machine, session, this.stepOptions(player)));
  }

  private step(player: Player, input: StepInput): Outcome {
    const { snapshot } = player;
    if (snapshot === null || player.isOver) return { outcome: "ignored", reason: "final" };
    if (this.stepsLeft-- <= 0) return this.breakOff();
    return this.take(player, macrostep(player.chart.machine, snapshot, input, this.stepOptions(player)));
  }

  private stepOptions(player: Player): StepOptions {
    return {
      at: this.nowMs,
      seq: ++player.seq,
      trace: this.options.trace === true,
      // SCXML: the error is in the internal queue. A durable instance hears of it by its mailbox, and so do others here.
      ...(player.chart.machine.settings.scxmlDomain
        ? { canReach: (to: string) => this.addressee(player, to) !== null }
        : {}),
    };
  }

  private take(player: Player, result: StepResult): Outcome {
    player.snapshot = result.snapshot;
    this.options.onStep?.(player, result);
    for (const effect of result.effects) this.carryOut(player, effect);
    if (player.isOver) this.conclude(player);
    return result.outcome;
  }

  /** What goes round in circles fails as a whole. */
  private breakOff(): Outcome {
    const error: EngineError = {
      code: "too-many-steps",
      message: `more than ${this.stepsMax} steps for one line of input: the chart sends to itself without end`,
    };
    this.mailbox.length = 0;
    this.agenda = [];
    const { root } = this;
    if (root.snapshot !== null) root.snapshot = { ...root.snapshot, status: "failed", error };
    const outcome: Outcome = { outcome: "failed" };
    if (root.snapshot !== null)
      this.options.onStep?.(root, {
        snapshot: root.snapshot,
        effects: [],
        microsteps: [],
        outcome,
        exited: [],
        entered: [],
        error,
      });
    return outcome;
  }

  /** A machine has ended: its children go with it, its parent gets the answer. */
  private conclude(player: Player): void {
    for (const child of player.children.values()) this.cancel(child);
    this.forget(player);
    const { invoked, snapshot } = player;
    if (invoked === null || snapshot === null) return;
    const { by, id, generation } = invoked;
    const { status, output, error } = snapshot;
    const answer =
      status === "failed"
        ? { error: { code: error?.code ?? "failed", message: error?.message ?? "the child chart failed" } }
        : output === undefined
          ? {}
          : { output };
    this.mailbox.push({ to: by, input: { kind: "answer", id, generation, ...answer } });
  }

  /** Its exit actions run; then nothing of it is left, and what it says to its parent is not heard (SCXML 6.4.3). */
  private cancel(player: Player): void {
    if (player.isOver) return;
    const { snapshot } = player;
    player.cancelled = true;
    if (snapshot !== null) {
      for (const effect of leave(player.chart.machine, snapshot, this.stepOptions(player))) {
        if (effect.type !== "send" || effect.to !== "#_parent") this.carryOut(player, effect);
      }
    }
    for (const child of player.children.values()) this.cancel(child);
    this.forget(player);
  }

  private forget(player: Player): void {
    if (player === this.root) this.agenda = [];
    else this.agenda = this.agenda.filter(({ to }) => to !== player);
    this.players.delete(player.id);
  }

  // ---- effects

  private carryOut(player: Player, effect: Effect): void {
    switch (effect.type) {
      case "send":
        return this.deliver(player, effect);
      case "invoke.start":
        return this.invoke(player, effect);
      case "invoke.cancel": {
        const child = player.children.get(effect.id);
        if (child !== undefined) {
          if (player.chart.machine.settings.scxmlDomain) this.keepAnswer(player, child);
          this.cancel(child);
        }
        player.children.delete(effect.id);
        this.agenda = this.agenda.filter(
          ({ to, input }) =>
            to !== player ||
            input.kind !== "answer" ||
            input.id !== effect.id ||
            input.generation !== effect.generation,
        );
        return;
      }
      case "timer.arm":
        this.agenda.push({
          to: player,
          dueAt: effect.timer.dueAt,
          input: { kind: "timer", id: effect.id },
        });
        return;
      case "timer.cancel":
        this.agenda = this.agenda.filter(
          ({ to, input }) => to !== player || input.kind !== "timer" || input.id !== effect.id,
        );
        return;
      // Whoever watches sees them; there is nobody here whose work could be undone.
      case "log":
      case "emit":
      case "compensate":
        return;
    }
  }

  /** SCXML: a child that ended before it could be cancelled has its done.invoke in the queue; that stays an event. */
  private keepAnswer(player: Player, child: Player): void {
    const index = this.mailbox.findIndex(
      ({ to, input }) =>
        to === player &&
        input.kind === "answer" &&
        input.id === child.invoked?.id &&
        input.generation === child.invoked.generation,
    );
    const input = this.mailbox[index]?.input;
    if (input?.kind !== "answer" || input.error !== undefined) return;
    const { id, output } = input;
    this.mailbox[index] = {
      to: player,
      input: {
        kind: "event",
        type: `done.invoke.${id}`,
        invokeid: id,
        ...(output === undefined ? {} : { data: output }),
      },
    };
  }

  private deliver(from: Player, { to, event }: Extract<Effect, { type: "send" }>): void {
    const receiver = to === null ? from : this.addressee(from, to);
    if (receiver !== null) {
      const { invoked } = from;
      this.mailbox.push({
        to: receiver,
        input: {
          kind: "event",
          ...event,
          origin: from.address,
          origintype: scxmlProcessor,
          // What a child says to its parent is its invocation's (SCXML 5.10.1).
          ...(invoked?.by === receiver ? { invokeid: invoked.id } : {}),
        },
      });
      return;
    }
    // Outside work that runs takes the message; a stub has no use for it.
    const invokeId = to?.startsWith("#_") === true ? to.slice(2) : "";
    if (Object.hasOwn(from.snapshot?.invocations ?? {}, invokeId) && !from.children.has(invokeId)) return;
    // Nobody is told in vain that telling was in vain.
    if (event.type === "error.communication") return;
    this.mailbox.push({
      to: from,
      input: {
        kind: "event",
        type: "error.communication",
        data: {
          code: "unreachable",
          message: `there is nobody at "${to}" to send "${event.type}" to`,
          to,
          type: event.type,
        },
        ...(event.sendid === undefined ? {} : { sendid: event.sendid }),
      },
    });
  }

  /** Who `to` is as seen from `from`; null: nobody that plays here. */
  private addressee(from: Player, to: string): Player | null {
    const sessionId = /^(?:#_scxml_|instance:)(.+)$/s.exec(to)?.[1];
    const found =
      sessionId !== undefined
        ? this.players.get(sessionId)
        : to === "#_parent"
          ? from.invoked?.by
          : from.children.get(to.replace(/^#_/, ""));
    return found === undefined || found.isOver ? null : found;
  }

  private invoke(player: Player, effect: Extract<Effect, { type: "invoke.start" }>): void {
    const { id, src, generation, input } = effect;
    const stub = this.nextStub(id, src);
    if (stub !== null) {
      this.agenda.push({
        to: player,
        dueAt: this.nowMs + stub.afterMs,
        input: { kind: "answer", id, generation, ...stub.answer },
      });
      return;
    }
    const found = src === "chart" ? this.options.findChart?.(input) : null;
    if (found === null || found === undefined) return;
    const problem = "problem" in found ? found.problem : tooDeep(player);
    if (problem !== null) {
      this.mailbox.push({
        to: player,
        input: { kind: "answer", id, generation, error: { code: "bad-chart", message: problem } },
      });
      return;
    }
    const child = new Player(`${player.id}/${id}@${generation}`, found as PlayedChart, {
      by: player,
      id,
      generation,
    });
    player.children.set(id, child);
    this.players.set(child.id, child);
    this.mailbox.push({ to: child, input: { kind: "start" } });
  }

  private nextStub(id: string, src: string): Stub | null {
    const name = [id, src].find((one) => this.options.stubs?.has(one) === true);
    const list = name === undefined ? undefined : this.options.stubs?.get(name);
    if (name === undefined || list === undefined) return null;
    const used = this.stubsUsed.get(name) ?? 0;
    this.stubsUsed.set(name, used + 1);
    return list[Math.min(used, list.length - 1)] ?? null;
  }
}

function tooDeep(player: Player): string | null {
  let depth = 1;
  for (let at = player.invoked; at !== null; at = at.by.invoked) depth++;
  return depth < depthMax ? null : `charts invoke each other more than ${depthMax} deep`;
}
