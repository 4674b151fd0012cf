/**
 * The lockstep/1 document as types: what a chart is, before anything runs it.
 *
 * A chart is plain JSON, safe to take from a stranger; guards and values are CEL texts. Shapes follow XState v5's
 * machine config where SCXML has the same notion. See validate.ts for the check of an unknown value against these.
 */
import type { Json, JsonObject } from "@/lib/base/json";

export interface Chart extends StateNode {
  lockstep: 1;
  context?: JsonObject;
  schemas?: { context?: Json; input?: Json; output?: Json; events?: Record<string, Json> };
  guards?: Record<string, Guard>;
  actions?: Record<string, Actions>;
  delays?: Record<string, Delay>;
  /** TaskDefaults. */
  tasks?: Record<string, JsonObject>;
  settings?: Settings;
}

export type StateType = "atomic" | "compound" | "parallel" | "final" | "history";

export interface StateNode {
  id?: string;
  order?: number;
  type?: StateType;
  initial?: Target | Target[] | { target: Target | Target[]; actions?: Actions };
  states?: Record<string, StateNode>;
  on?: Record<string, OneOrMany<Transition>>;
  after?: Record<string, OneOrMany<Transition>>;
  always?: OneOrMany<Transition>;
  onDone?: OneOrMany<Transition>;
  entry?: Actions;
  exit?: Actions;
  invoke?: OneOrMany<Invoke>;
  tags?: string[];
  output?: Value;
  /** Context roots that get their value when the state is entered for the first time (SCXML's late binding). */
  data?: Record<string, Value>;
  history?: "shallow" | "deep";
  target?: Target | Target[] | { target: Target | Target[]; actions?: Actions };
  description?: string;
  meta?: Json;
}

export type OneOrMany<T> = T | T[];
/** `#name[.path]`, `.child.path`, or `sibling.path`. */
export type Target = string;
export type Transition = Target | TransitionObject;
export interface TransitionObject {
  order?: number;
  target?: Target | Target[];
  guard?: Guard;
  actions?: Actions;
  reenter?: boolean;
  description?: string;
  meta?: Json;
}

export interface Placeholder {
  placeholder: string;
  text?: string;
}
export type Guard =
  | string
  | { type: string; params?: Value }
  | { and: Guard[] }
  | { or: Guard[] }
  | { not: Guard }
  | { in: string }
  | Placeholder;

/** A string is CEL; any other JSON is itself, its strings CEL again; or a placeholder. */
export type Value = Json;
/** Milliseconds, `30s`, `1h30m`, ISO-8601, a name in `delays`, CEL giving ms, or a placeholder. */
export type Delay = number | string | Placeholder;
/** A literal text, or `{cel}` to compute it. */
export type Text = string | { cel: string };

export type Actions = OneOrMany<Action>;
export type Action =
  | string
  | { type: string; params?: Value }
  | { assign: Record<string, Value> }
  | { raise: { type: Text; data?: Value; delay?: Delay; id?: Text } }
  | { send: SendSpec }
  | { cancel: Text }
  | { emit: { type: Text; data?: Value } }
  | { log: Value; label?: string }
  | { if: Guard; then: Actions; else?: Actions }
  | { foreach: { in: Value; item: string; index?: string; do: Actions } }
  | { compensate: true }
  /** A failure scope of its own: an action that fails ends this block, not what follows it (SCXML: one <onentry> of several). */
  | { block: Actions }
  | Placeholder;

export interface SendSpec {
  to?: Text;
  type: Text;
  data?: Value;
  delay?: Delay;
  id?: Text;
  /** A location that receives the message's id (SCXML idlocation). */
  idLocation?: string;
}

export interface Invoke {
  src: string | Placeholder;
  id?: string;
  /** A location that receives the invocation's id (SCXML idlocation). */
  idLocation?: string;
  input?: Value;
  onDone?: OneOrMany<Transition>;
  onError?: OneOrMany<Transition>;
  onEvent?: OneOrMany<Transition>;
  /** What undoes it; its input sees the context as it was at the start, and `event.outcome`, `event.result`. */
  compensate?: Invoke;
  /** Retry. */
  retry?: Json;
  /** Of one attempt; `retry.within` bounds them all. */
  timeout?: Delay;
  /** CEL giving a text, a whole number, or null for none: of one task type and key, one runs at a time. */
  concurrencyKey?: string;
  finalize?: Actions;
  autoforward?: boolean;
}

/** Attempts in all, the first included; pauses between them grow by `factor` from `delay` to `delayMax`. */
export interface Retry {
  attempts?: number;
  delay?: Delay;
  delayMax?: Delay;
  factor?: number;
  /** No attempt begins later than this after the first. */
  within?: Delay;
  /** Codes of errors that no further attempt can mend. */
  noRetry?: string[];
}

/** What invocations of a task share; an invocation's own fields come first, those of `retry` one by one. */
export interface TaskDefaults {
  description?: string;
  /** JSON Schemas of what it is given and what it answers. */
  schemas?: { input?: Json; output?: Json };
  retry?: Json;
  timeout?: Delay;
  concurrencyKey?: string;
  compensate?: Invoke;
}

export interface Settings {
  selection?: "scxml" | "xstate";
  errors?: "continue" | "stop";
  scxmlDomain?: boolean;
  microstepsMax?: number;
  locking?: "optimistic" | "distributed";
  onFailure?: "compensate" | "fail";
  index?: string[];
  concurrencyKey?: string;
  businessKey?: string;
}
