/**
 * A chart played in memory on a virtual clock: what `lockstep run` prints and a simulator shows.
 *
 * Time starts at 0 and moves only by `advance` and `drain`. A call returns when nothing is left to run at that virtual
 * time: the event's own macrostep, what it sent without delay, answers and timers due by then.
 *
 * Holds: the same calls give the same lines; every step has its own seq, the start entry is 1; due timers run in order of
 *        due time, then of arming; a call is bounded (stepsMax).
 * Does not: read files or print; no Node, no clock.
 */
import type { Json } from "@/lib/base/json";
import { activeTags } from "@/lib/statechart/active-states";
import type { Effect } from "@/lib/statechart/effect";
import { macrostep } from "@/lib/statechart/macrostep";
import type { Machine } from "@/lib/statechart/machine";
import type { EngineError, Snapshot } from "@/lib/statechart/snapshot";
import { start } from "@/lib/statechart/start";
import { stateValue } from "@/lib/statechart/state-value";
import type { Outcome, OutcomeKind, StepInput, StepResult } from "@/lib/statechart/step";
import type { Microstep } from "@/lib/statechart/trace";
import type { Stub, Stubs } from "./stubs";

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
}

// One line of input that causes more steps than this runs in circles (a chart that sends to itself without delay).
const stepsMax = 100_000;

interface PendingAnswer {
  id: string;
  generation: number;
  dueAt: number;
  answer: Stub["answer"];
}

export class Session {
  /** Virtual time in ms since the start. */
  nowMs = 0;
  private snapshot: Snapshot | null = null;
  private seq = 0;
  private readonly queue: StepInput[] = [];
  private readonly answers: PendingAnswer[] = [];
  private readonly stubsUsed = new Map<string, number>();
  private readonly id: string;
  /** Collected since the previous line. */
  private log: SessionLine["log"] = [];
  private emitted: SessionLine["emitted"] = [];
  private microsteps: Microstep[] = [];
  private error: EngineError | null = null;
  private stepsLeft = stepsMax;

  constructor(
    private readonly machine: Machine,
    private readonly options: SessionOptions = {},
  ) {
    this.id = options.id ?? "run";
  }

  start(): SessionLine {
    const { name, input } = this.options;
    const result = start(
      this.machine,
      { id: this.id, ...(name === undefined ? {} : { name }), ...(input === undefined ? {} : { input }) },
      this.stepOptions(),
    );
    this.take(result);
    this.settle();
    return this.line(null, result.outcome);
  }

  send(type: string, data?: Json): SessionLine {
    this.stepsLeft = stepsMax;
    const outcome = this.step({ kind: "event", type, ...(data === undefined ? {} : { data }) });
    this.settle();
    return this.line(type, outcome);
  }

  advance(ms: number): SessionLine {
    const until = this.nowMs + ms;
    const ran = this.runUntil(until);
    this.nowMs = Math.max(this.nowMs, until);
    return this.line(null, ran ? { outcome: "moved" } : { outcome: "ignored", reason: "nothing-due" });
  }

  /** Advances until nothing is pending, at most to `untilMs` from the start. */
  drain(untilMs: number): SessionLine {
    const ran = this.runUntil(untilMs);
    return this.line(null, ran ? { outcome: "moved" } : { outcome: "ignored", reason: "nothing-due" });
  }

  private runUntil(until: number): boolean {
    this.stepsLeft = stepsMax;
    let ran = false;
    for (;;) {
      const next = this.nextDue();
      if (next === null || next > until || this.stepsLeft <= 0) return ran;
      this.nowMs = Math.max(this.nowMs, next);
      ran = this.settle() || ran;
    }
  }

  private nextDue(): number | null {
    if (this.snapshot?.status !== "running") return null;
    const due = [...Object.values(this.snapshot.timers), ...this.answers].map((item) => item.dueAt);
    return due.length === 0 ? null : due.reduce((least, at) => Math.min(least, at));
  }

  /** Runs everything due by now; true when anything ran. */
  private settle(): boolean {
    let ran = false;
    for (;;) {
      this.queueDue();
      const input = this.queue.shift();
      if (input === undefined) return ran;
      // A timer cancelled by what ran before it at the same time is gone.
      if (input.kind === "timer" && !Object.hasOwn(this.snapshot?.timers ?? {}, input.id)) continue;
      if (this.snapshot?.status !== "running") continue;
      this.step(input);
      ran = true;
    }
  }

  /** Moves what is due to the end of the queue, once nothing that was sent earlier is left in it. */
  private queueDue(): void {
    if (this.queue.length > 0 || this.snapshot?.status !== "running") return;
    const due: { dueAt: number; input: StepInput }[] = [];
    for (const [id, timer] of Object.entries(this.snapshot.timers))
      if (timer.dueAt <= this.nowMs) due.push({ dueAt: timer.dueAt, input: { kind: "timer", id } });
    for (let i = 0; i < this.answers.length;) {
      const pending = this.answers[i];
      if (pending === undefined || pending.dueAt > this.nowMs) i++;
      else {
        this.answers.splice(i, 1);
        const { id, generation, dueAt, answer } = pending;
        due.push({ dueAt, input: { kind: "answer", id, generation, ...answer } });
      }
    }
    // Stable: equal times keep the order of arming.
    due.sort((a, b) => a.dueAt - b.dueAt);
    this.queue.push(...due.map(({ input }) => input));
  }

  private step(input: StepInput): Outcome {
    const { snapshot } = this;
    if (snapshot === null || snapshot.status !== "running") return { outcome: "ignored", reason: "final" };
    if (this.stepsLeft-- <= 0) {
      this.queue.length = 0;
      this.error = {
        code: "too-many-steps",
        message: `more than ${stepsMax} steps for one line of input: the chart sends to itself without end`,
      };
      this.snapshot = { ...snapshot, status: "failed", error: this.error };
      return { outcome: "failed" };
    }
    const result = macrostep(this.machine, snapshot, input, this.stepOptions());
    this.take(result);
    return result.outcome;
  }

  private stepOptions(): { at: number; seq: number; trace: boolean } {
    return { at: this.nowMs, seq: ++this.seq, trace: this.options.trace === true };
  }

  private take(result: StepResult): void {
    this.snapshot = result.snapshot;
    this.microsteps.push(...result.microsteps);
    if (result.error !== undefined) this.error = result.error;
    for (const effect of result.effects) this.carryOut(effect);
  }

  private carryOut(effect: Effect): void {
    switch (effect.type) {
      case "log":
        this.log.push({
          ...(effect.label === undefined ? {} : { label: effect.label }),
          value: effect.value,
        });
        return;
      case "emit":
        this.emitted.push(effect.event);
        return;
      case "send":
        this.deliver(effect);
        return;
      case "invoke.start":
        this.invoke(effect);
        return;
      case "invoke.cancel": {
        const index = this.answers.findIndex(
          ({ id, generation }) => id === effect.id && generation === effect.generation,
        );
        if (index >= 0) this.answers.splice(index, 1);
        return;
      }
      // Timers live in the snapshot; there is nobody here whose work could be undone.
      case "timer.arm":
      case "timer.cancel":
      case "compensate":
        return;
    }
  }

  private deliver({ to, event }: Extract<Effect, { type: "send" }>): void {
    const origin = `#_scxml_${this.id}`;
    if (to === null || to === origin || to === `instance:${this.id}`) {
      this.queue.push({ kind: "event", ...event, origin, origintype: scxmlProcessor });
      return;
    }
    const invokeId = /^#_(?!parent$|internal$|scxml_)(.+)$/s.exec(to)?.[1];
    // Outside work that runs takes the message; a stub has no use for it.
    if (invokeId !== undefined && Object.hasOwn(this.snapshot?.invocations ?? {}, invokeId)) return;
    this.queue.push({
      kind: "event",
      type: "error.communication",
      data: { code: "unreachable", message: `there is no ${to} to send "${event.type}" to` },
      ...(event.sendid === undefined ? {} : { sendid: event.sendid }),
    });
  }

  private invoke({ id, src, generation }: Extract<Effect, { type: "invoke.start" }>): void {
    const name = [id, src].find((one) => this.options.stubs?.has(one) === true);
    const list = name === undefined ? undefined : this.options.stubs?.get(name);
    if (name === undefined || list === undefined) return;
    const used = this.stubsUsed.get(name) ?? 0;
    this.stubsUsed.set(name, used + 1);
    const stub = list[Math.min(used, list.length - 1)];
    if (stub !== undefined)
      this.answers.push({ id, generation, dueAt: this.nowMs + stub.afterMs, answer: stub.answer });
  }

  private line(event: string | null, { outcome, reason }: Outcome): SessionLine {
    const { snapshot, log, emitted, microsteps, error } = this;
    const configuration = snapshot?.configuration ?? [];
    const line: SessionLine = {
      seq: this.seq,
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
      ...(this.options.trace === true ? { microsteps } : {}),
    };
    this.log = [];
    this.emitted = [];
    this.microsteps = [];
    this.error = null;
    return line;
  }
}

const scxmlProcessor = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor";
