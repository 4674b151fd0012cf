/**
 * A chart played in memory, line by line: what `lockstep run` prints and a simulator shows.
 *
 * A call returns when nothing is left to run at that virtual time: the event's own macrostep, what it sent without delay,
 * child charts, answers and timers due by then.
 *
 * Holds: the same calls give the same lines; every step of the root has its own seq, the start entry is 1.
 * Does not: read files or print; no Node, no clock.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { activeTags } from "@/lib/statechart/active-states";
import type { Machine } from "@/lib/statechart/machine";
import type { EngineError, Snapshot } from "@/lib/statechart/snapshot";
import { stateValue } from "@/lib/statechart/state-value";
import type { Outcome, OutcomeKind, StepResult } from "@/lib/statechart/step";
import type { Microstep } from "@/lib/statechart/trace";
import type { Player } from "./player";
import type { Stubs } from "./stubs";
import { World, type FindChart } from "./world";

export interface SessionLine {
  /** The last one after the line. */
  seq: number;
  /** Type of the input event; null for start, advance, drain. */
  event: string | null;
  outcome: OutcomeKind;
  reason?: string;
  status: Snapshot["status"];
  configuration: string[];
  /** XState's state value. */
  value: Json;
  context: Json;
  tags: string[];
  log: { label?: string; value: Json }[];
  emitted: { type: string; data?: Json }[];
  output?: Json;
  error?: EngineError;
  microsteps?: Microstep[];
}

export interface SessionOptions {
  id?: string;
  name?: string;
  input?: Json;
  trace?: boolean;
  stubs?: Stubs;
  findChart?: FindChart;
  /** See WorldOptions. */
  stepsMax?: number;
}

export class Session {
  private world: World;
  private readonly trace: boolean;
  /** Of the root, since the previous line. */
  private log: SessionLine["log"] = [];
  private emitted: SessionLine["emitted"] = [];
  private microsteps: Microstep[] = [];
  private error: EngineError | null = null;

  constructor(
    private readonly machine: Machine,
    private readonly options: SessionOptions = {},
  ) {
    const { name, input, ...rest } = options;
    this.trace = options.trace === true;
    const chart = {
      machine,
      ...(name === undefined ? {} : { name }),
      ...(input === undefined ? {} : { input }),
    };
    this.world = new World(chart, { ...rest, onStep: (player, result) => this.note(player, result) });
  }

  /** Virtual time in ms since the start. */
  get nowMs(): number {
    return this.world.nowMs;
  }

  /** The same session, to go on apart: what one of them is sent the other does not see. */
  fork(): Session {
    const twin = new Session(this.machine, this.options);
    twin.world = this.world.fork((player, result) => twin.note(player, result));
    return twin;
  }

  /** When the next timer or answer is due, in virtual ms; null: nothing waits. */
  get nextDueAt(): number | null {
    return this.world.nextDueAt;
  }

  /** Two sessions of a chart in equal situations go on alike. */
  get situation(): JsonObject {
    return this.world.situation;
  }

  start(): SessionLine {
    const outcome = this.world.start();
    this.world.settle();
    return this.line(null, outcome);
  }

  send(type: string, data?: Json): SessionLine {
    const outcome = this.world.send(type, data);
    this.world.settle();
    return this.line(type, outcome);
  }

  advance(ms: number): SessionLine {
    const until = this.world.nowMs + ms;
    const ran = this.world.runUntil(until);
    this.world.nowMs = Math.max(this.world.nowMs, until);
    return this.timeLine(ran);
  }

  /** Advances until nothing is pending, at most to `untilMs` from the start. */
  drain(untilMs: number): SessionLine {
    return this.timeLine(this.world.runUntil(untilMs));
  }

  private timeLine(ran: boolean): SessionLine {
    return this.line(null, ran ? { outcome: "moved" } : { outcome: "ignored", reason: "nothing-due" });
  }

  private note(player: Player, { effects, microsteps, error }: StepResult): void {
    if (player !== this.world.root) return;
    this.microsteps.push(...microsteps);
    if (error !== undefined) this.error = error;
    for (const effect of effects) {
      if (effect.type === "emit") this.emitted.push(effect.event);
      if (effect.type === "log") {
        const { label, value } = effect;
        this.log.push({ ...(label === undefined ? {} : { label }), value });
      }
    }
  }

  private line(event: string | null, { outcome, reason }: Outcome): SessionLine {
    const { log, emitted, microsteps, error } = this;
    const { snapshot, seq } = this.world.root;
    const configuration = snapshot?.configuration ?? [];
    const line: SessionLine = {
      seq,
      event,
      outcome,
      ...(reason === undefined ? {} : { reason }),
      status: snapshot?.status ?? "failed",
      configuration,
      value: configuration.length === 0 ? null : stateValue(this.machine, configuration),
      context: snapshot?.context ?? {},
      tags: activeTags(this.machine, configuration),
      log,
      emitted,
      ...(snapshot?.output === undefined ? {} : { output: snapshot.output }),
      ...(error === null ? {} : { error }),
      ...(this.trace ? { microsteps } : {}),
    };
    this.log = [];
    this.emitted = [];
    this.microsteps = [];
    this.error = null;
    return line;
  }
}
