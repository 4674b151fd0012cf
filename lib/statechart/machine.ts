/**
 * A chart read once: its states as a tree with names, document order and resolved targets. Engine, drawing, diagnose and
 * editor all use this reading, so that "where does this arrow go" has one answer.
 *
 * Holds: reading never throws; what is wrong is in `problems`, and a machine with an error among them is for looking at,
 *        not for running (compile.ts refuses it). Document order is pre-order: a state's descendants are the states
 *        numbered from `order + 1` to `last`.
 */
import type { Diagnostic } from "./diagnostic";
import type { Chart, StateNode } from "./document";
import type { InvokeOptions } from "./effect";
import type {
  ActionBlock,
  DelayProgram,
  Execution,
  ExecutionScope,
  GuardProgram,
  ValueProgram,
} from "./execution";

export type CompiledStateType = "atomic" | "compound" | "parallel" | "final" | "history";

export interface CompiledState {
  /** `id`, else the keys from the root joined by dots; the root without id is "". */
  readonly name: string;
  readonly key: string;
  /** Keys from the root, the root's own left out. */
  readonly path: readonly string[];
  readonly type: CompiledStateType;
  readonly history: "shallow" | "deep" | null;
  readonly parent: CompiledState | null;
  /** From the root to the state itself. */
  lineage: readonly CompiledState[];
  /** In document order, history states included. */
  children: readonly CompiledState[];
  childByKey: ReadonlyMap<string, CompiledState>;
  /** 0 for the root. */
  readonly depth: number;
  /** Number in document order; the root is 0. */
  readonly order: number;
  /** Number of the last descendant (own number when there is none). */
  last: number;
  readonly node: StateNode;
  /** The dot's arrow of a compound state, or a history state's default. */
  initial: Arrow | null;
  /** Candidates for events, in the order they are tried. */
  handlers: readonly CompiledTransition[];
  /** Eventless ones, in document order. */
  always: readonly CompiledTransition[];
  /** Both, as drawn. */
  transitions: readonly CompiledTransition[];
  historyStates: readonly CompiledState[];
  readonly tags: readonly string[];
  readonly entry: ActionBlock;
  readonly exit: ActionBlock;
  readonly output: ValueProgram | null;
  /** Late-bound context roots. */
  readonly data: readonly (readonly [string, ValueProgram])[];
  invokes: readonly CompiledInvoke[];
  timers: readonly CompiledTimer[];
  /** Filled while running: event type → candidates from here up to the root. */
  candidateCache: Map<string, readonly CompiledTransition[]> | null;
  /** Filled while running: `always` from here up to the root (select.ts). */
  eventless: readonly CompiledTransition[] | null;
}

export interface Arrow {
  readonly id: string;
  readonly targetNames: readonly string[];
  /** Those that exist. */
  targets: readonly CompiledState[];
  readonly actions: ActionBlock;
}

export type TransitionKind =
  "on" | "after" | "always" | "onDone" | "invoke.onDone" | "invoke.onError" | "invoke.onEvent";

export interface CompiledTransition {
  /** See transition-id.ts. */
  readonly id: string;
  readonly source: CompiledState;
  readonly kind: TransitionKind;
  /** `on`: the key as written; `after`: the delay as written; done and error: the event's name; else "". */
  readonly descriptor: string;
  /** Invocation it belongs to, for the `invoke.*` kinds. */
  readonly invoke: CompiledInvoke | null;
  /** As written; empty for a targetless one. */
  readonly targetNames: readonly string[];
  /** Those that exist. Null: targetless. */
  readonly targets: readonly CompiledState[] | null;
  readonly guard: GuardProgram | null;
  /** The guard as one line of text. */
  readonly guardText: string | null;
  readonly actions: ActionBlock;
  readonly reenter: boolean;
  /** Neither target nor actions: the event is forbidden here. */
  readonly forbidden: boolean;
  readonly description: string | null;
  /** Filled while running, for targets that do not depend on history (enter-exit.ts). */
  plan: TransitionPlan | null;
}

export interface TransitionPlan {
  /** All active descendants are exited; null: the root too. */
  readonly domain: CompiledState | null;
  readonly entry: EntryPlan;
}
export interface EntryPlan {
  /** In document order. */
  readonly states: readonly CompiledState[];
  /** Those entered by default: their initial arrow's actions run. */
  readonly byDefault: ReadonlySet<CompiledState>;
  /** Parent → history states whose default arrow's actions run after its entry. */
  readonly historyDefaults: ReadonlyMap<CompiledState, readonly CompiledState[]>;
}

export interface CompiledInvoke {
  readonly id: string;
  readonly index: number;
  readonly src: string;
  readonly state: CompiledState;
  readonly input: ValueProgram | null;
  readonly finalize: ActionBlock;
  readonly autoforward: boolean;
  readonly idLocation: string | null;
  readonly placeholder: boolean;
  /** Null: all are the runtime's defaults. */
  readonly options: ((execution: Execution) => InvokeOptions) | null;
  readonly compensationInput: ValueProgram | null;
}

/** Null: none. */
export type KeyProgram = (execution: Execution) => string | null;

export interface CompiledTimer {
  /** The `after` key. */
  readonly key: string;
  readonly delay: DelayProgram;
  readonly transitions: readonly CompiledTransition[];
}

export interface Machine {
  readonly chart: Chart;
  readonly root: CompiledState;
  /** By name. */
  readonly states: ReadonlyMap<string, CompiledState>;
  /** By document order number. */
  readonly ordered: readonly CompiledState[];
  /** By id. */
  readonly transitions: ReadonlyMap<string, CompiledTransition>;
  readonly problems: readonly Diagnostic[];
  readonly settings: {
    readonly selection: "scxml" | "xstate";
    readonly errors: "continue" | "stop";
    readonly scxmlDomain: boolean;
    readonly microstepsMax: number;
  };
  /** Makes what expressions see of a run. */
  readonly scopeFor: (execution: Execution) => ExecutionScope;
  /** The context's first values, those computed at start in the order they need each other. */
  readonly initialContext: readonly (readonly [root: string, value: ValueProgram])[];
  /** Context roots that some state binds at its first entry. */
  readonly lateRoots: readonly string[];
  /** settings.concurrencyKey and businessKey (instance-keys.ts). */
  readonly keys: Readonly<Record<"concurrencyKey" | "businessKey", KeyProgram | null>>;
  readonly hasAlways: boolean;
  readonly hasInvokes: boolean;
  /** Scratch of the running step (run.ts): which states are active. A machine runs one step at a time. */
  readonly marks: { readonly stamps: Uint32Array; last: number };
}

/** Sorts keyed or listed items by `order` where given, else by the place they were parsed at. */
export function inDocumentOrder<T>(items: readonly T[], orderOf: (item: T) => number | undefined): T[] {
  return items
    .map((item, index) => ({ item, order: orderOf(item) ?? index, index }))
    .sort((a, b) => a.order - b.order || a.index - b.index)
    .map(({ item }) => item);
}

export const isDescendant = (state: CompiledState, ancestor: CompiledState): boolean =>
  state.order > ancestor.order && state.order <= ancestor.last;

/** From the parent up to the root. */
export function* properAncestors(state: CompiledState): Generator<CompiledState> {
  for (let at = state.parent; at !== null; at = at.parent) yield at;
}

export const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];
