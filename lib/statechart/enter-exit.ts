/**
 * Leaving and entering states. SCXML: computeExitSet, computeEntrySet, exitStates, enterStates; the transition domain is
 * XState's (re-entry only when asked for, any least common ancestor) unless settings.scxmlDomain asks for SCXML's.
 */
import type { Json } from "@/lib/base/json";
import { EvaluationFailure } from "./cel/evaluation-failure";
import {
  isDescendant,
  type CompiledState,
  type CompiledTransition,
  type EntryPlan,
  type TransitionPlan,
} from "./machine";
import { isInFinalState, isLeaf, orderOf, sortInOrder, type Run } from "./run";
import { afterTimerId } from "./snapshot";

/** Active states that `transition` leaves, innermost last. */
export function exitSet(run: Run, transition: CompiledTransition): CompiledState[] {
  if (transition.targets === null) return [];
  return run.activeBelow(domainOf(run, transition));
}

/** The state below which everything is left and entered; null: the root itself too. */
export const domainOf = (run: Run, transition: CompiledTransition): CompiledState | null =>
  transition.plan === null ? domainWithoutPlan(run, transition) : transition.plan.domain;

/** SCXML: microstep. Exit, transition content, entry. */
export function takeTransitions(run: Run, transitions: readonly CompiledTransition[]): void {
  const [only] = transitions;
  if (only !== undefined && transitions.length === 1) return takeTransition(run, only);
  // Those that remain after conflict removal leave disjoint sets of states.
  const leaving = exitSet(run, only as CompiledTransition);
  for (const one of transitions) if (one !== only) for (const state of exitSet(run, one)) leaving.push(state);
  leave(run, sortInOrder(leaving, orderOf));
  for (const transition of transitions) run.runBlock(transition.actions);
  // Asked again: what was just left may be what a history target now restores.
  const entries: EntryPlan[] = [];
  for (const one of transitions) if (one.targets !== null) entries.push(planOf(run, one).entry);
  // Disjoint too, each below its own domain: one after the other is document order.
  sortInOrder(entries, firstOrder);
  for (const entry of entries) enterStates(run, entry);
}

/** The usual case: one transition, whose states lie next to each other in the configuration. */
function takeTransition(run: Run, transition: CompiledTransition): void {
  if (transition.targets === null) return run.runBlock(transition.actions);
  leave(run, exitSet(run, transition));
  run.runBlock(transition.actions);
  // Asked again: what was just left may be what a history target now restores.
  enterStates(run, planOf(run, transition).entry);
}

/** The machine's first configuration. */
export function enterInitial(run: Run): void {
  const planner = new Planner(run);
  planner.add(run.machine.root);
  planner.addDescendants(run.machine.root);
  enterStates(run, planner.plan());
}

/** After the end: exit actions of everything that is active; the configuration stays as it was. */
export function exitInterpreter(run: Run): void {
  for (const state of run.config.toReversed()) {
    run.runBlock(state.exit);
    endInvocations(run, state);
  }
}

/** `leaving` in document order. */
function leave(run: Run, leaving: CompiledState[]): void {
  for (const state of leaving) {
    for (const history of state.historyStates) {
      const names: string[] = [];
      if (history.history === "deep") {
        for (const one of leaving) if (isLeaf(one) && isDescendant(one, state)) names.push(one.name);
      } else {
        for (const child of state.children) if (run.isActive(child)) names.push(child.name);
      }
      run.recordHistory(history.name, names);
    }
  }
  for (const state of leaving.reverse()) {
    run.runBlock(state.exit);
    endInvocations(run, state);
    if (run.toInvoke.length > 0) run.toInvoke = run.toInvoke.filter((one) => one !== state);
    for (const timer of state.timers)
      run.disarm(afterTimerId(state.name, timer.key, run.generations[state.name] ?? 0));
    run.remove(state);
  }
}

function endInvocations(run: Run, state: CompiledState): void {
  for (const invoke of state.invokes) {
    if (run.invocations[invoke.id]?.state === state.name) run.endInvocation(invoke.id, true);
  }
}

function enterStates(run: Run, plan: EntryPlan): void {
  for (const state of plan.states) {
    // A history state may restore the very source that a transition without re-entry keeps: it stays as it is.
    if (run.isActive(state)) continue;
    run.add(state);
    if (state.timers.length > 0 || state.invokes.length > 0) {
      run.countEntry(state.name);
    }
    if (state.invokes.length > 0) run.toInvoke = [...run.toInvoke, state];
    if (state.data.length > 0) bindLate(run, state);
    run.runBlock(state.entry);
    if (state.timers.length > 0) armTimers(run, state);
    if (state.initial !== null && plan.byDefault.has(state)) run.runBlock(state.initial.actions);
    if (plan.historyDefaults.size > 0) {
      for (const history of plan.historyDefaults.get(state) ?? []) {
        if (history.initial !== null) run.runBlock(history.initial.actions);
      }
    }
    if (state.type === "final") reachFinal(run, state);
  }
}

/** SCXML binding="late": data get their value when their state is first entered. */
function bindLate(run: Run, state: CompiledState): void {
  for (const [root, value] of state.data) {
    if (!run.unbound.includes(root)) continue;
    run.unbound = run.unbound.filter((one) => one !== root);
    try {
      run.assign(root, value(run), true);
    } catch (error) {
      if (!(error instanceof EvaluationFailure)) throw error;
      run.fail(error, state.name, `data/${root}`);
    }
  }
}

function armTimers(run: Run, state: CompiledState): void {
  const generation = run.generations[state.name] ?? 0;
  for (const timer of state.timers) {
    try {
      const delayMs = timer.delay(run);
      if (delayMs === null) continue;
      run.arm(afterTimerId(state.name, timer.key, generation), {
        dueAt: run.at + delayMs,
        kind: "after",
        state: state.name,
        generation,
        after: timer.key,
      });
    } catch (error) {
      if (!(error instanceof EvaluationFailure)) throw error;
      run.fail(error, state.name, `after/${timer.key}`);
    }
  }
}

function reachFinal(run: Run, state: CompiledState): void {
  const { parent } = state;
  let output: Json | undefined;
  if (state.output !== null) {
    try {
      output = state.output(run);
    } catch (error) {
      if (!(error instanceof EvaluationFailure)) throw error;
      run.fail(error, state.name, "output");
    }
  }
  if (parent === null) return complete(run, output);
  if (parent.parent === null && parent.type === "compound") return complete(run, output);
  if (parent.type === "compound") raiseDone(run, parent, output);
  // Done cascades to every parallel ancestor that is complete by it (XState).
  let at = parent.type === "parallel" ? parent : parent.parent;
  while (at?.type === "parallel" && isInFinalState(run, at)) {
    if (at.parent === null) return complete(run, undefined);
    raiseDone(run, at, undefined);
    at = at.parent;
  }
}

function raiseDone(run: Run, state: CompiledState, output: Json | undefined): void {
  run.queue.push({
    type: `done.state.${state.name}`,
    ...(output === undefined ? {} : { data: output }),
    from: "platform",
    id: run.nextId(),
  });
}

/** The end: the root's output, evaluated with the final state's as `event.output`, replaces it. */
function complete(run: Run, output: Json | undefined): void {
  run.completed = true;
  run.output = output;
  const { root } = run.machine;
  if (root.output === null) return;
  const outer = run.event;
  run.event = {
    type: `done.state.${root.name}`,
    ...(output === undefined ? {} : { data: output }),
    from: "platform",
    id: run.nextId(),
  };
  try {
    run.output = root.output(run);
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    run.fail(error, root.name, "output");
  } finally {
    run.event = outer;
  }
}

// ---- plans

function planOf(run: Run, transition: CompiledTransition): TransitionPlan {
  if (transition.plan !== null) return transition.plan;
  const planner = new Planner(run);
  const plan = planner.transition(transition);
  // What depends on history is computed anew each time.
  if (!planner.usedHistory) transition.plan = plan;
  return plan;
}

/** What depends on history is planned only once its states have been left. */
function domainWithoutPlan(run: Run, transition: CompiledTransition): CompiledState | null {
  for (const target of transition.targets ?? [])
    if (target.type === "history") return new Planner(run).domain(transition);
  return planOf(run, transition).domain;
}

function isBetweenRegions(parallel: CompiledState, states: readonly CompiledState[]): boolean {
  if (parallel.type !== "parallel") return false;
  return !parallel.children.some((region) =>
    states.every((one) => one === region || isDescendant(one, region)),
  );
}

const firstOrder = (plan: EntryPlan): number => plan.states[0]?.order ?? -1;

const noStates: ReadonlySet<CompiledState> = new Set();
const noDefaults: ReadonlyMap<CompiledState, readonly CompiledState[]> = new Map();

class Planner {
  usedHistory = false;
  // Made when first needed: a domain alone needs none of them.
  private ownStates: Set<CompiledState> | null = null;
  private ownByDefault: Set<CompiledState> | null = null;
  private ownHistoryDefaults: Map<CompiledState, CompiledState[]> | null = null;

  constructor(private readonly run: Run) {}

  private get states(): Set<CompiledState> {
    return (this.ownStates ??= new Set());
  }
  private get byDefault(): Set<CompiledState> {
    return (this.ownByDefault ??= new Set());
  }
  private get historyDefaults(): Map<CompiledState, CompiledState[]> {
    return (this.ownHistoryDefaults ??= new Map());
  }

  plan(): EntryPlan {
    return {
      states: sortInOrder([...this.states], orderOf),
      byDefault: this.ownByDefault ?? noStates,
      historyDefaults: this.ownHistoryDefaults ?? noDefaults,
    };
  }

  transition(transition: CompiledTransition): TransitionPlan {
    const { source, reenter } = transition;
    const targets = transition.targets ?? [];
    const effective = this.allEffective(targets);
    const domain = this.domainOf(transition, effective);
    for (const target of targets) {
      // Its own source is entered only when it has been left.
      if (target.type !== "history" && (target !== source || source !== domain || reenter)) this.add(target);
      this.addDescendants(target);
    }
    for (const target of effective) this.addAncestors(target, domain);
    return { domain, entry: this.plan() };
  }

  domain(transition: CompiledTransition): CompiledState | null {
    return this.domainOf(transition, this.allEffective(transition.targets ?? []));
  }

  private allEffective(targets: readonly CompiledState[]): readonly CompiledState[] {
    const [only] = targets;
    return only !== undefined && targets.length === 1
      ? this.effectiveTargets(only)
      : targets.flatMap((target) => this.effectiveTargets(target));
  }

  add(state: CompiledState): void {
    this.states.add(state);
  }

  /** SCXML: getTransitionDomain. Null: the root is left too. */
  private domainOf(transition: CompiledTransition, targets: readonly CompiledState[]): CompiledState | null {
    const { source, reenter } = transition;
    const { root, settings } = this.run.machine;
    if (!reenter && targets.every((target) => target === source || isDescendant(target, source)))
      return source;
    const all = [...targets, source];
    const [head] = all;
    if (head !== undefined) {
      for (let ancestor = head.parent; ancestor !== null; ancestor = ancestor.parent) {
        const above = ancestor;
        // SCXML: findLCCA looks at compound states only, so a transition between regions leaves the parallel. Within one
        // region (a region's own re-entry) the public suites keep the parallel, against the letter of appendix D; so do we.
        if (settings.scxmlDomain && ancestor.parent !== null && isBetweenRegions(ancestor, all)) continue;
        if (all.every((state) => isDescendant(state, above))) return ancestor;
      }
    }
    return reenter ? null : root;
  }

  private effectiveTargets(target: CompiledState): CompiledState[] {
    if (target.type !== "history") return [target];
    this.usedHistory = true;
    const recorded = this.recorded(target);
    if (recorded !== null) return recorded;
    return this.historyDefault(target).flatMap((one) => this.effectiveTargets(one));
  }

  private recorded(history: CompiledState): CompiledState[] | null {
    const names = this.run.history[history.name];
    if (names === undefined) return null;
    const states: CompiledState[] = [];
    for (const name of names) {
      const state = this.run.machine.states.get(name);
      if (state !== undefined) states.push(state);
    }
    return states;
  }

  /** An absent default is the parent's initial, or all regions of a parallel. */
  private historyDefault(history: CompiledState): readonly CompiledState[] {
    const { parent } = history;
    if (history.initial !== null) return history.initial.targets;
    if (parent?.initial) return parent.initial.targets;
    return parent?.children.filter((child) => child.type !== "history") ?? [];
  }

  /** SCXML: addDescendantStatesToEnter, without the state itself. */
  addDescendants(state: CompiledState): void {
    switch (state.type) {
      case "history": {
        this.usedHistory = true;
        const recorded = this.recorded(state);
        const targets = recorded ?? this.historyDefault(state);
        const { parent } = state;
        if (recorded === null && parent !== null) {
          const isParentInitial = state.initial === null && parent.initial !== null;
          if (isParentInitial) this.byDefault.add(parent);
          else this.historyDefaults.set(parent, [...(this.historyDefaults.get(parent) ?? []), state]);
        }
        for (const target of targets) this.enter(target);
        for (const target of targets) this.addAncestors(target, parent);
        return;
      }
      case "compound": {
        this.byDefault.add(state);
        const targets = state.initial?.targets ?? [];
        for (const target of targets) this.enter(target);
        for (const target of targets) this.addAncestors(target, state);
        return;
      }
      case "parallel":
        this.addRegions(state);
        return;
      case "atomic":
      case "final":
        return;
    }
  }

  private enter(state: CompiledState): void {
    if (state.type !== "history") this.add(state);
    this.addDescendants(state);
  }

  /** SCXML: addAncestorStatesToEnter. `domain` stays active; when it is parallel, its left regions are entered anew. */
  private addAncestors(state: CompiledState, domain: CompiledState | null): void {
    // A transition to its own source that is not re-entered: nothing above it is touched.
    if (state === domain) return;
    for (let ancestor = state.parent; ancestor !== null; ancestor = ancestor.parent) {
      if (ancestor === domain) {
        if (ancestor.type === "parallel") this.addRegions(ancestor);
        return;
      }
      this.add(ancestor);
      if (ancestor.type === "parallel") this.addRegions(ancestor);
    }
  }

  private addRegions(parallel: CompiledState): void {
    for (const region of parallel.children) {
      if (region.type === "history" || this.hasEntered(region)) continue;
      this.enter(region);
    }
  }

  private hasEntered(region: CompiledState): boolean {
    for (const state of this.states) if (state === region || isDescendant(state, region)) return true;
    return false;
  }
}
