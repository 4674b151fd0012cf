/**
 * Random charts for property tests: hierarchy, parallel, history, guards, actions, eventless transitions, done events,
 * timers, invocations, delayed and immediate messages to itself; from a seed, so that a failure names the seed and nothing
 * else.
 *
 * Holds: every chart compiles, and every step comes to rest: what could go on for ever (eventless, raised, sent, done)
 *        burns `context.fuel`, which only an outside `e0` refills.
 */
import type { Action, Chart, Guard, StateNode, TransitionObject } from "@/lib/statechart/document";

/** Deterministic numbers from a seed (mulberry32). */
export class Random {
  private state: number;
  constructor(seed: number) {
    this.state = seed >>> 0;
  }
  /** From 0 up to, not including, `end`. */
  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * end);
  }
  chance(probability: number): boolean {
    return this.below(1_000_000) < probability * 1_000_000;
  }
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/** An abstract chart; `toChart` writes it as lockstep/1, random-chart-xstate.ts as XState. */
export interface RandomState {
  key: string;
  id: string;
  type: "atomic" | "compound" | "parallel" | "final" | "history";
  parent: RandomState | null;
  children: RandomState[];
  initial: { key: string; actions: RandomAction[] } | null;
  history: { kind: "shallow" | "deep"; target: string | null } | null;
  entry: RandomAction[];
  exit: RandomAction[];
  /** Exact descriptors first, then longer wildcards, then `*`: the order XState tries them in. */
  on: { descriptor: string; transitions: RandomTransition[] }[];
  after: { delayMs: number; transitions: RandomTransition[] }[];
  always: RandomTransition[];
  onDone: RandomTransition[];
  invokes: RandomInvoke[];
  /** Final states: adds this to x. */
  output: number | null;
}
/** Outside work that a test answers with a number or with an error. */
export interface RandomInvoke {
  id: string;
  onDone: RandomTransition[];
  onError: RandomTransition[];
}
export interface RandomTransition {
  targets: string[];
  guard: RandomGuard | null;
  actions: RandomAction[];
  reenter: boolean;
}
export type RandomGuard =
  | { kind: "compare"; variable: "x" | "y"; modulo: number | null; op: "<" | ">" | "=="; value: number }
  | { kind: "fuel" }
  | { kind: "in"; id: string }
  | { kind: "data"; value: number }
  | { kind: "fails" }
  | { kind: "and" | "or"; parts: RandomGuard[] }
  | { kind: "not"; part: RandomGuard };
export type RandomAction =
  | { kind: "add"; variable: "x" | "y"; value: number }
  | { kind: "swap" }
  | { kind: "mark"; text: string }
  | { kind: "take-data" }
  | { kind: "take-output" }
  | { kind: "take-error" }
  | { kind: "raise"; type: string }
  /** To itself, behind what waits in the mailbox. */
  | { kind: "send"; type: string }
  /** To itself; what is still waiting under its id is cancelled first. */
  | { kind: "later"; by: "raise" | "send"; type: string; n: number; delayMs: number; id: string | null }
  | { kind: "cancel"; id: string }
  | { kind: "emit"; type: string }
  | { kind: "choose"; guard: RandomGuard; yes: RandomAction; no: RandomAction }
  | { kind: "burn" }
  | { kind: "refuel" };

export interface RandomOptions {
  statesMax: number;
  parallel: boolean;
  history: boolean;
  initialActions: boolean;
  after: boolean;
  wildcards: boolean;
  invokes: boolean;
  messages: boolean;
  /** Actions that depend on a guard. */
  choices: boolean;
  /** Some guards fail to evaluate. */
  failingGuards: boolean;
}

export const randomEvents = ["e0", "e1", "e2", "a.b", "a.c", "a"] as const;
/** Raised, or sent without delay, only. */
const internalEvents = ["i0", "i1"] as const;
const fuelFull = 4;

export function randomRoot(random: Random, options: RandomOptions): RandomState {
  const states: RandomState[] = [];
  const root = grow(random, options, null, 0, states);
  const targetable = states.filter((state) => state !== root);
  for (const state of states) decorate(random, options, state, targetable);
  return root;
}

export const randomOptions = (random: Random): RandomOptions => {
  const after = random.chance(0.5);
  const wildcards = !after && random.chance(0.6);
  const parallel = random.chance(0.7);
  const history = random.chance(parallel ? 0.7 : 0.4);
  return {
    statesMax: 4 + random.below(16),
    parallel,
    history,
    initialActions: !parallel && !history,
    after,
    wildcards,
    failingGuards: !wildcards && random.chance(0.15),
    invokes: random.chance(0.5),
    messages: random.chance(0.5),
    choices: random.chance(0.5),
  };
};

function grow(
  random: Random,
  options: RandomOptions,
  parent: RandomState | null,
  depth: number,
  states: RandomState[],
): RandomState {
  const number = states.length;
  const state: RandomState = {
    key: parent === null ? "" : `k${parent.children.length}`,
    id: parent === null ? "m" : `s${number}`,
    type: "atomic",
    parent,
    children: [],
    initial: null,
    history: null,
    entry: [],
    exit: [],
    on: [],
    after: [],
    always: [],
    onDone: [],
    invokes: [],
    output: null,
  };
  states.push(state);
  const roomy = states.length < options.statesMax && depth < 4;
  if (parent === null || (roomy && random.chance(0.55))) {
    state.type = options.parallel && random.chance(0.3) ? "parallel" : "compound";
    const count = 2 + random.below(2);
    for (let index = 0; index < count; index++) {
      state.children.push(grow(random, options, state, depth + 1, states));
    }
    if (state.type === "compound") {
      if (random.chance(parent === null ? 0.15 : 0.45))
        state.children.push(leaf(random, state, "final", states));
      const starts = state.children.filter(({ type }) => type !== "final" && type !== "history");
      state.initial = { key: random.pick(starts).key, actions: [] };
    }
    if (options.history && parent !== null && random.chance(0.5))
      state.children.push(leaf(random, state, "history", states));
  }
  return state;
}

function leaf(
  random: Random,
  parent: RandomState,
  type: "final" | "history",
  states: RandomState[],
): RandomState {
  const made: RandomState = {
    key: `k${parent.children.length}`,
    id: `s${states.length}`,
    type,
    parent,
    children: [],
    initial: null,
    history: null,
    entry: [],
    exit: [],
    on: [],
    after: [],
    always: [],
    onDone: [],
    invokes: [],
    output: type === "final" ? random.below(5) : null,
  };
  if (type === "history") {
    const kind = random.chance(0.5) ? "deep" : "shallow";
    const children = parent.children.filter((child) => child.type !== "history" && child.type !== "final");
    // XState has no default for a history state of a parallel without target.
    const named = parent.type === "parallel" || random.chance(0.5);
    made.history = { kind, target: named ? random.pick(children).id : null };
  }
  states.push(made);
  return made;
}

function decorate(
  random: Random,
  options: RandomOptions,
  state: RandomState,
  targetable: RandomState[],
): void {
  if (state.type === "history") return;
  state.entry = randomActions(random, options, `+${state.id}`);
  state.exit = randomActions(random, options, `-${state.id}`);
  if (options.initialActions && state.initial !== null && random.chance(0.6))
    state.initial.actions = [{ kind: "mark", text: `>${state.id}` }];
  if (state.type === "final") return;
  const events: string[] = [...randomEvents, ...internalEvents].filter(() => random.chance(0.45));
  if (options.wildcards) events.push(...["a.*", "*"].filter(() => random.chance(0.2)));
  for (const descriptor of events) {
    const transitions = Array.from({ length: 1 + random.below(2) }, () =>
      randomTransition(random, options, state, targetable, fuelOf(descriptor)),
    );
    state.on.push({ descriptor, transitions });
  }
  if (random.chance(0.25)) state.always.push(randomTransition(random, options, state, targetable, "burn"));
  if (
    state.children.some(({ type }) => type === "final") ||
    (state.type === "parallel" && random.chance(0.7))
  ) {
    if (state.parent !== null) {
      const transition = randomTransition(random, options, state, targetable, "burn");
      if (state.type === "compound") transition.actions.push({ kind: "take-output" });
      state.onDone.push(transition);
    }
  }
  if (options.after && random.chance(0.3)) {
    const delays = random.chance(0.3) ? [1000, 250] : [1000];
    state.after = delays.map((delayMs) => ({
      delayMs,
      transitions: [randomTransition(random, options, state, targetable, null)],
    }));
  }
  if (options.invokes && random.chance(0.25)) {
    const count = random.chance(0.2) ? 2 : 1;
    for (let index = 0; index < count; index++)
      state.invokes.push(randomInvoke(random, options, state, targetable, index));
  }
}

function randomInvoke(
  random: Random,
  options: RandomOptions,
  state: RandomState,
  targetable: RandomState[],
  index: number,
): RandomInvoke {
  const answers = (take: RandomAction): RandomTransition[] => {
    // Without a handler an answer is ignored, an error is the end.
    if (random.chance(0.2)) return [];
    const transition = randomTransition(random, options, state, targetable, null);
    transition.actions.push(take);
    return [transition];
  };
  return {
    id: `${state.id}-work${index}`,
    onDone: answers({ kind: "take-output" }),
    onError: answers({ kind: "take-error" }),
  };
}

/** A message to itself for later, or the end of one. Only an outside `e0` may cause one without an id: they would pile up. */
function randomMessage(random: Random, isOutside: boolean): RandomAction {
  const ids = ["m0", "m1"] as const;
  if (random.chance(0.25)) return { kind: "cancel", id: random.pick(ids) };
  if (random.chance(0.15)) return { kind: "emit", type: random.pick(randomEvents) };
  return {
    kind: "later",
    by: random.pick(["raise", "send"]),
    type: random.pick(randomEvents.filter((type) => type !== "e0")),
    n: random.below(6),
    delayMs: random.pick([250, 400, 1000]),
    id: isOutside ? null : random.pick(ids),
  };
}

function randomActions(random: Random, options: RandomOptions, text: string): RandomAction[] {
  const actions: RandomAction[] = [{ kind: "mark", text }];
  if (random.chance(0.3))
    actions.push({ kind: "add", variable: random.pick(["x", "y"]), value: random.below(3) });
  if (options.messages && random.chance(0.2)) actions.push(randomMessage(random, false));
  return actions;
}

function randomTransition(
  random: Random,
  options: RandomOptions,
  source: RandomState,
  targetable: RandomState[],
  fuel: "burn" | "refuel" | null,
): RandomTransition {
  // From inside its own parent, a history target restores what is still active: XState (and SCXML's algorithm, read to
  // the letter) then enters active states a second time; we keep them. Both are left out of the comparison.
  const restores = (one: RandomState): boolean =>
    one.type === "history" && one.parent !== null && contains(one.parent, source);
  const usable = targetable.filter((one) => !restores(one));
  const targets = usable.length > 0 && random.chance(0.75) ? randomTargets(random, usable) : [];
  const raises = random.chance(0.15);
  const actions: RandomAction[] = [];
  if (fuel === "burn" || raises) actions.push({ kind: "burn" });
  if (fuel === "refuel") actions.push({ kind: "refuel" });
  if (random.chance(0.7)) actions.push({ kind: "mark", text: `!${source.id}` });
  if (random.chance(0.4))
    actions.push({ kind: "add", variable: random.pick(["x", "y"]), value: 1 + random.below(3) });
  if (random.chance(0.1)) actions.push({ kind: "swap" });
  if (random.chance(0.15)) actions.push({ kind: "take-data" });
  if (raises) {
    const kind = options.messages && random.chance(0.4) ? "send" : "raise";
    actions.push({ kind, type: random.pick(internalEvents) });
  }
  if (options.messages && random.chance(0.2)) actions.push(randomMessage(random, fuel === "refuel"));
  if (options.choices && random.chance(0.25)) {
    // XState asks `in` of the states before the transition, we of those there are: left out.
    const guard = randomGuard(random, options, [], 2);
    const yes: RandomAction = { kind: "add", variable: "x", value: 1 };
    actions.push({ kind: "choose", guard, yes, no: { kind: "mark", text: `?${source.id}` } });
  }
  const guards: RandomGuard[] = [];
  if (fuel === "burn" || raises) guards.push({ kind: "fuel" });
  if (random.chance(0.4)) guards.push(randomGuard(random, options, targetable, 0));
  const [guard] = guards;
  return {
    targets,
    guard: guards.length > 1 ? { kind: "and", parts: guards } : (guard ?? null),
    actions,
    reenter: targets.length > 0 && random.chance(0.25),
  };
}

const contains = (outer: RandomState, inner: RandomState): boolean =>
  inner === outer || (inner.parent !== null && contains(outer, inner.parent));

/** `*` also takes done events, which may follow from it. */
const fuelOf = (descriptor: string): "burn" | "refuel" | null =>
  descriptor === "*" ? "burn" : descriptor === "e0" ? "refuel" : null;

/** One state, or one in each of two regions of a parallel. */
function randomTargets(random: Random, targetable: RandomState[]): string[] {
  const parallels = targetable.filter(({ type }) => type === "parallel");
  if (parallels.length > 0 && random.chance(0.15)) {
    const regions = random.pick(parallels).children.filter(({ type }) => type !== "history");
    return regions.slice(0, 2).map((region) => {
      const inside = withDescendants(region).filter((one) => targetable.includes(one));
      return random.pick(inside.length > 0 ? inside : [region]).id;
    });
  }
  return [random.pick(targetable).id];
}

const withDescendants = (state: RandomState): RandomState[] => [
  state,
  ...state.children.flatMap(withDescendants),
];

function randomGuard(
  random: Random,
  options: RandomOptions,
  states: RandomState[],
  depth: number,
): RandomGuard {
  if (options.failingGuards && random.chance(0.1)) return { kind: "fails" };
  const roll = random.below(10);
  if (depth < 2 && roll === 0) return { kind: "not", part: randomGuard(random, options, states, depth + 1) };
  if (depth < 2 && roll <= 2) {
    const parts = [0, 1].map(() => randomGuard(random, options, states, depth + 1));
    return { kind: roll === 1 ? "and" : "or", parts };
  }
  if (roll <= 4 && states.length > 0)
    return { kind: "in", id: random.pick(states.filter(({ type }) => type !== "history")).id };
  if (roll === 5) return { kind: "data", value: random.below(4) };
  return {
    kind: "compare",
    variable: random.pick(["x", "y"]),
    modulo: random.chance(0.5) ? 2 + random.below(3) : null,
    op: random.pick(["<", ">", "=="]),
    value: random.below(4),
  };
}

// ---- as lockstep/1

/** A random chart ready to compile. Its selection is XState's where the seed says so. */
export function randomChart(seed: number): Chart {
  const random = new Random(seed);
  return toChart(randomRoot(random, randomOptions(random)), random.chance(0.5) ? "xstate" : "scxml");
}

export function toChart(root: RandomState, selection: "xstate" | "scxml"): Chart {
  return {
    lockstep: 1,
    context: { x: 0, y: 0, fuel: fuelFull, log: [] },
    settings: { selection, errors: "stop" },
    tasks: { work: {} },
    ...stateNode(root),
  };
}

function stateNode(state: RandomState): StateNode {
  const node: StateNode = { id: state.id };
  if (state.type === "parallel" || state.type === "final" || state.type === "history") node.type = state.type;
  if (state.children.length > 0) {
    node.states = Object.fromEntries(state.children.map((child) => [child.key, stateNode(child)]));
  }
  if (state.initial !== null) {
    const { key, actions } = state.initial;
    node.initial = actions.length === 0 ? key : { target: key, actions: actions.flatMap(actionsOf) };
  }
  if (state.history !== null) {
    node.history = state.history.kind;
    if (state.history.target !== null) node.target = `#${state.history.target}`;
  }
  if (state.entry.length > 0) node.entry = state.entry.flatMap(actionsOf);
  if (state.exit.length > 0) node.exit = state.exit.flatMap(actionsOf);
  if (state.on.length > 0) {
    node.on = Object.fromEntries(state.on.map((one) => [one.descriptor, one.transitions.map(transition)]));
  }
  if (state.after.length > 0) {
    node.after = Object.fromEntries(
      state.after.map((one) => [String(one.delayMs), one.transitions.map(transition)]),
    );
  }
  if (state.always.length > 0) node.always = state.always.map(transition);
  if (state.onDone.length > 0) node.onDone = state.onDone.map(transition);
  if (state.invokes.length > 0) {
    node.invoke = state.invokes.map((one) => ({
      src: "work",
      id: one.id,
      onDone: one.onDone.map(transition),
      onError: one.onError.map(transition),
    }));
  }
  if (state.output !== null) node.output = `context.x + ${state.output}`;
  return node;
}

function transition(one: RandomTransition): TransitionObject {
  const made: TransitionObject = { actions: one.actions.flatMap(actionsOf) };
  if (one.targets.length > 0) made.target = one.targets.map((id) => `#${id}`);
  if (one.guard !== null) made.guard = guard(one.guard);
  if (one.reenter) made.reenter = true;
  return made;
}

function guard(one: RandomGuard): Guard {
  switch (one.kind) {
    case "compare": {
      const left = `context.${one.variable}${one.modulo === null ? "" : ` % ${one.modulo}`}`;
      return `${left} ${one.op} ${one.value}`;
    }
    case "fuel":
      return "context.fuel > 0";
    case "in":
      return { in: one.id };
    case "data":
      return `event != null && has(event.n) && event.n > ${one.value}`;
    case "fails":
      return "context.missing > 0";
    case "and":
      return { and: one.parts.map(guard) };
    case "or":
      return { or: one.parts.map(guard) };
    case "not":
      return { not: guard(one.part) };
  }
}

function actionsOf(one: RandomAction): Action[] {
  return one.kind === "later" && one.id !== null ? [{ cancel: one.id }, action(one)] : [action(one)];
}

function action(one: RandomAction): Action {
  switch (one.kind) {
    case "add":
      return { assign: { [one.variable]: `context.${one.variable} + ${one.value}` } };
    case "swap":
      return { assign: { x: "context.y", y: "context.x" } };
    case "mark":
      return { assign: { log: `context.log + ['${one.text}']` } };
    case "take-data":
      return { assign: { y: "event != null && has(event.n) ? event.n : context.y" } };
    case "take-output":
      return { assign: { x: "event.output" } };
    case "take-error":
      return { assign: { log: "context.log + [event.code]" } };
    case "raise":
      return { raise: { type: one.type } };
    case "send":
      return { send: { type: one.type } };
    case "later": {
      const { type, delayMs, n, id } = one;
      const message = { type, delay: delayMs, data: { n }, ...(id === null ? {} : { id }) };
      return one.by === "raise" ? { raise: message } : { send: message };
    }
    case "cancel":
      return { cancel: one.id };
    case "emit":
      return { emit: { type: one.type } };
    case "choose":
      return { if: guard(one.guard), then: actionsOf(one.yes), else: actionsOf(one.no) };
    case "burn":
      return { assign: { fuel: "context.fuel - 1" } };
    case "refuel":
      return { assign: { fuel: fuelFull } };
  }
}
