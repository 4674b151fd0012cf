/**
 * What a chart can do: its situations and what leads from one to the next, found breadth first by playing it.
 *
 * Holds: a situation is reached by the fewest inputs there are; every way found replays to it; time and memory are bounded,
 *        and what bound cut the search short is told.
 */
import { hashJson } from "@/lib/base/canonical";
import type { Json, JsonObject } from "@/lib/base/json";
import { eventsOf } from "@/lib/statechart/enabled-events";
import type { Machine } from "@/lib/statechart/machine";
import type { EventSample, EventSamples } from "./event-samples";
import { Session, type SessionLine, type SessionOptions } from "./session";
import { parseStubs } from "./stubs";

export interface ExploreBounds {
  /** Situations. */
  statesMax: number;
  /** Inputs one after the other. */
  depthMax: number;
  /** Inputs played in all. */
  inputsMax: number;
  /** Virtual time from the start. */
  untilMs: number;
}
export type BoundHit = "states" | "depth" | "inputs" | "time";

export type PathInput = { type: string; data?: Json } | { advance: number };

export interface Situation {
  readonly line: SessionLine;
  /** From the start. */
  readonly inputs: readonly PathInput[];
  readonly ways: Way[];
  /** Standing here; played on by forks of it alone. */
  readonly session: Session;
}
export interface Way {
  readonly input: PathInput;
  readonly to: Situation;
  /** Transitions taken, of the root chart. */
  readonly taken: readonly string[];
}

export interface Exploration {
  readonly stubs: JsonObject;
  /** The start first, then by distance. */
  readonly situations: readonly Situation[];
  /** Transitions taken at the start. */
  readonly takenAtStart: readonly string[];
  readonly bound: BoundHit | null;
}

export type PlayOptions = Pick<SessionOptions, "name" | "input" | "findChart">;

// One input that causes more runs in circles; a search has no patience for it.
const stepsPerInputMax = 1_000;

export class Explorer {
  private inputsLeft: number;
  bound: BoundHit | null = null;

  constructor(
    private readonly machine: Machine,
    private readonly samples: EventSamples,
    private readonly options: PlayOptions,
    private readonly bounds: ExploreBounds,
  ) {
    this.inputsLeft = bounds.inputsMax;
  }

  explore(stubs: JsonObject): Exploration {
    this.bound = null;
    const session = this.session(stubs);
    const start = situation(session, session.start(), []);
    const known = new Map([[keyOf(session), start]]);
    const situations = [start];
    const found = (): Exploration => ({
      stubs,
      situations,
      takenAtStart: takenIn(start.line),
      bound: this.bound,
    });
    // The list grows while it is walked: breadth first.
    for (const from of situations) {
      for (const input of this.inputsAt(from)) {
        if (--this.inputsLeft < 0) {
          this.bound = "inputs";
          return found();
        }
        const played = from.session.fork();
        const line = playInput(played, input);
        const key = keyOf(played);
        let to = known.get(key);
        if (to === undefined) {
          if (situations.length >= this.bounds.statesMax) {
            this.bound ??= "states";
            continue;
          }
          to = situation(played, line, [...from.inputs, input]);
          known.set(key, to);
          situations.push(to);
        }
        from.ways.push({ input, to, taken: takenIn(line) });
      }
    }
    return found();
  }

  /** What may happen next: each event that something active handles, and time. */
  private inputsAt({ inputs, line, session }: Situation): PathInput[] {
    if (line.status !== "running") return [];
    if (inputs.length >= this.bounds.depthMax) {
      this.bound ??= "depth";
      return [];
    }
    const { active } = eventsOf(this.machine, line);
    const events = [...this.samples.values()]
      .flat()
      .filter(({ type }) => active.some((one) => matches(one, type)))
      .map(asInput);
    const dueAt = session.nextDueAt;
    if (dueAt === null) return events;
    if (dueAt > this.bounds.untilMs) {
      this.bound ??= "time";
      return events;
    }
    return [...events, { advance: dueAt - session.nowMs }];
  }

  private session(stubs: JsonObject): Session {
    const parsed = parseStubs(stubs);
    return new Session(this.machine, {
      ...this.options,
      ...("problem" in parsed ? {} : { stubs: parsed }),
      trace: true,
      stepsMax: stepsPerInputMax,
    });
  }
}

const situation = (session: Session, line: SessionLine, inputs: readonly PathInput[]): Situation => ({
  session,
  line,
  inputs,
  ways: [],
});

export const playInput = (session: Session, input: PathInput): SessionLine =>
  "advance" in input ? session.advance(input.advance) : session.send(input.type, input.data);

const keyOf = (session: Session): string => hashJson(session.situation);

export const takenIn = ({ microsteps }: SessionLine): string[] => [
  ...new Set((microsteps ?? []).flatMap(({ taken }) => taken)),
];

const asInput = ({ type, data }: EventSample): PathInput => (data === undefined ? { type } : { type, data });

/** As the engine reads a descriptor. */
const matches = (descriptor: string, type: string): boolean =>
  descriptor === "*" ||
  descriptor === type ||
  (descriptor.endsWith(".*") && `${type}.`.startsWith(descriptor.slice(0, -1)));
