/**
 * A chart played event by event in memory, for tests that care about what the engine does with it.
 */
import type { Json, JsonObject } from "@/lib/base/json";
import { compile } from "@/lib/statechart/compile";
import type { Chart, StateNode } from "@/lib/statechart/document";
import type { Effect } from "@/lib/statechart/effect";
import { macrostep } from "@/lib/statechart/macrostep";
import type { Machine } from "@/lib/statechart/machine";
import { start } from "@/lib/statechart/start";
import { stateValue } from "@/lib/statechart/state-value";
import type { StepInput, StepResult } from "@/lib/statechart/step";

export class Play {
  readonly machine: Machine;
  last: StepResult;
  /** Every step's results, the start first. */
  readonly results: StepResult[];
  at: number;

  constructor(
    /** `lockstep: 1` may be left out. */
    chart: StateNode & Partial<Chart>,
    options: { input?: Json; at?: number; name?: string } = {},
  ) {
    this.at = options.at ?? 1000;
    this.machine = compile({ lockstep: 1, ...chart });
    const { input, name } = options;
    this.last = start(
      this.machine,
      { id: "p1", ...(input === undefined ? {} : { input }), ...(name === undefined ? {} : { name }) },
      { at: this.at, seq: 1, trace: true },
    );
    this.results = [this.last];
  }

  /** Sends events one after the other; `{type, data}` or a type. */
  send(...events: (string | { type: string; data?: Json; invokeid?: string })[]): this {
    for (const event of events) {
      this.step({ kind: "event", ...(typeof event === "string" ? { type: event } : event) });
    }
    return this;
  }

  step(input: StepInput): this {
    this.last = macrostep(this.machine, this.last.snapshot, input, {
      at: this.at,
      seq: this.results.length + 1,
      trace: true,
    });
    this.results.push(this.last);
    return this;
  }

  /** Lets time pass, firing what is due in order of due time. */
  advance(ms: number): this {
    const end = this.at + ms;
    // An instance that ended or failed keeps its timers, which move nothing any more.
    while (this.status === "running") {
      const due = Object.entries(this.last.snapshot.timers)
        .filter(([, timer]) => timer.dueAt <= end)
        .sort(([, a], [, b]) => a.dueAt - b.dueAt);
      const [first] = due;
      if (first === undefined) break;
      this.at = Math.max(this.at, first[1].dueAt);
      this.step({ kind: "timer", id: first[0] });
    }
    this.at = end;
    return this;
  }

  get value(): Json {
    return stateValue(this.machine, this.last.snapshot.configuration);
  }
  get context(): JsonObject {
    return this.last.snapshot.context;
  }
  get status(): string {
    return this.last.snapshot.status;
  }
  get outcome(): string {
    const { outcome, reason } = this.last.outcome;
    return reason === undefined ? outcome : `${outcome}: ${reason}`;
  }
  effects<T extends Effect["type"]>(type: T): Extract<Effect, { type: T }>[] {
    return this.last.effects.filter((one): one is Extract<Effect, { type: T }> => one.type === type);
  }
  get logged(): Json[] {
    return this.results.flatMap(({ effects }) =>
      effects.flatMap((one) => (one.type === "log" ? [one.value] : [])),
    );
  }
}
