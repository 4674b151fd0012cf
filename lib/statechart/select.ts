/**
 * Which transitions an event, or none, enables. SCXML: selectTransitions, selectEventlessTransitions,
 * removeConflictingTransitions; and XState's reading, in which a parallel's own handlers run only when no region handled
 * the event (settings.selection).
 */
import { EvaluationFailure } from "./cel/evaluation-failure";
import type { MachineEvent } from "./execution";
import { isDescendant, type CompiledState, type CompiledTransition } from "./machine";
import { isLeaf, orderOf, sortInOrder, type Run } from "./run";
import { domainOf, exitSet } from "./enter-exit";
import type { Candidate, Verdict } from "./trace";
import type { Json } from "@/lib/base/json";

export interface Selection {
  transitions: readonly CompiledTransition[];
  /** Some guard failed, was false, some `{}` was chosen: why an event was ignored. */
  guardError: boolean;
  guardFalse: boolean;
}

// Event names come from outside: a sender that invents names must not fill the memory.
const cachedTypesMax = 500;

export function selectTransitions(run: Run, event: MachineEvent): Selection {
  const selector = new Selector(run, event);
  if (event.timer !== undefined) return selector.timer(event.timer);
  return run.machine.settings.selection === "xstate" ? selector.xstate() : selector.perLeaf(false);
}

export function selectEventless(run: Run): Selection {
  return new Selector(run, null).perLeaf(true);
}

/** Whether `descriptor` matches `type`: exact, `a.*` (also `a` itself), `*`. */
function matchesDescriptor(descriptor: string, type: string): boolean {
  if (descriptor === type || descriptor === "*") return true;
  if (!descriptor.endsWith(".*")) return false;
  const prefix = descriptor.slice(0, -2);
  return type === prefix || (type.startsWith(prefix) && type.charCodeAt(prefix.length) === 46);
}

interface Judged {
  verdict: Verdict;
  reads: [string, Json][];
  error?: string;
}
const none: readonly never[] = [];
const passed: Judged = { verdict: "true", reads: [] };
const refused: Judged = { verdict: "false", reads: [] };

class Selector implements Selection {
  transitions: readonly CompiledTransition[] = none;
  guardError = false;
  guardFalse = false;
  private chosen: Set<CompiledTransition> | null = null;
  /** Guards are pure: one evaluation per selection, however many regions meet the transition. */
  private judged: Map<CompiledTransition, Judged> | null = null;

  constructor(
    private readonly run: Run,
    private readonly event: MachineEvent | null,
  ) {}

  perLeaf(eventless: boolean): this {
    const { config } = this.run;
    for (const leaf of config) {
      if (!isLeaf(leaf)) continue;
      this.first(leaf, eventless ? eventlessFrom(leaf) : this.candidates(leaf));
    }
    return this.transitions.length > 1 ? this.withoutConflicts() : this;
  }

  /** XState: transitionNode. A state's own handlers are asked when nothing below it answered. */
  xstate(): this {
    this.ask(this.run.machine.root);
    return this.transitions.length > 1 ? this.withoutConflicts() : this;
  }

  timer({ state: name, key }: { state: string; key: string }): this {
    const state = this.run.machine.states.get(name);
    if (state !== undefined && this.run.isActive(state)) {
      const leaf = this.run.config.find((one) => isLeaf(one) && (one === state || isDescendant(one, state)));
      this.first(leaf ?? state, state.timers.find((timer) => timer.key === key)?.transitions ?? []);
    }
    return this;
  }

  private ask(state: CompiledState): boolean {
    let answered = false;
    for (const child of state.children) {
      if (this.run.isActive(child) && this.ask(child)) answered = true;
    }
    // A state's candidates begin with its own.
    return answered || this.first(state, this.candidates(state), true);
  }

  /** Takes the first enabled candidate. */
  private first(leaf: CompiledState, candidates: readonly CompiledTransition[], ownOnly = false): boolean {
    let found = false;
    for (const transition of candidates) {
      if (ownOnly && transition.source !== leaf) return found;
      if (transition.kind === "invoke.onEvent" && !this.isFrom(transition)) continue;
      if (found) {
        // Only a trace asks what else there was.
        this.record(leaf, transition, { verdict: "not-evaluated", reads: [] }, false);
        continue;
      }
      const judged = this.judge(transition);
      found = judged.verdict === "true";
      if (found) this.choose(transition);
      if (this.run.current !== null) this.record(leaf, transition, judged, found);
      else if (found) return true;
    }
    return found;
  }

  /** Regions often meet the same handler of a common ancestor. */
  private choose(transition: CompiledTransition): void {
    if (this.transitions.at(-1) === transition || this.chosen?.has(transition) === true) return;
    // One is the usual case, and costs no room for more.
    if (this.transitions === none) this.transitions = [transition];
    else {
      (this.transitions as CompiledTransition[]).push(transition);
      this.chosen ??= new Set(this.transitions);
      this.chosen.add(transition);
    }
  }

  private isFrom(transition: CompiledTransition): boolean {
    const id = transition.invoke?.id;
    const { event } = this;
    return event !== null && event.invokeid === id && !/^(?:done|error)\.invoke\./.test(event.type);
  }

  private judge(transition: CompiledTransition): Judged {
    if (transition.guard === null) return passed;
    const known = this.judged?.get(transition);
    if (known !== undefined) return known;
    const judged = this.evaluate(transition);
    // A single leaf meets each transition once.
    if (this.run.countLeaves() > 1) (this.judged ??= new Map()).set(transition, judged);
    return judged;
  }

  private evaluate(transition: CompiledTransition): Judged {
    const { run } = this;
    const { guard } = transition;
    if (guard === null) return passed;
    if (guard.placeholder) {
      this.guardFalse = true;
      return { verdict: "placeholder", reads: [] };
    }
    const reads = run.current === null ? null : [];
    run.reads = reads;
    try {
      if (guard.test(run)) return reads === null ? passed : { verdict: "true", reads };
      this.guardFalse = true;
      return reads === null ? refused : { verdict: "false", reads };
    } catch (error) {
      if (!(error instanceof EvaluationFailure)) throw error;
      this.guardError = true;
      this.reportOnce(transition, error);
      return { verdict: "error", reads: reads ?? [], error: error.message };
    } finally {
      run.reads = null;
    }
  }

  private reportOnce(transition: CompiledTransition, error: EvaluationFailure): void {
    const { run } = this;
    if (transition.kind === "always") {
      if (run.failedGuards.includes(transition)) return;
      run.failedGuards = [...run.failedGuards, transition];
    }
    const field = transition.id.slice(transition.id.indexOf("#") + 1);
    run.fail(error, transition.source.name, `${field}/guard`);
  }

  private record(
    leaf: CompiledState,
    transition: CompiledTransition,
    judged: Judged,
    selected: boolean,
  ): void {
    const candidate: Candidate = {
      atomic: leaf.name,
      transition: transition.id,
      guard: transition.guardText,
      verdict: judged.verdict,
      reads: judged.reads,
      ...(judged.error === undefined ? {} : { error: judged.error }),
      selected,
      ...(transition.forbidden ? { forbidden: true as const } : {}),
    };
    this.run.current?.candidates.push(candidate);
  }

  private candidates(leaf: CompiledState): readonly CompiledTransition[] {
    const type = this.event?.type ?? "";
    const cache = (leaf.candidateCache ??= new Map<string, readonly CompiledTransition[]>());
    let found = cache.get(type);
    if (found === undefined) {
      found = candidatesFor(leaf, type);
      if (cache.size >= cachedTypesMax) cache.clear();
      cache.set(type, found);
    }
    return found;
  }

  /** SCXML: removeConflictingTransitions. The transition of a descendant pre-empts; else the first one. */
  private withoutConflicts(): this {
    if (areApart(this.run, this.transitions)) return this;
    const kept = new Set<CompiledTransition>();
    /** Who leaves a state: kept transitions leave disjoint sets. */
    const leaving = new Map<CompiledState, CompiledTransition>();
    for (const one of this.transitions) {
      const exits = exitSet(this.run, one);
      const rivals = new Set<CompiledTransition>();
      for (const state of exits) {
        const rival = leaving.get(state);
        if (rival !== undefined) rivals.add(rival);
      }
      if ([...rivals].some((rival) => !isDescendant(one.source, rival.source))) continue;
      for (const rival of rivals) {
        kept.delete(rival);
        for (const state of exitSet(this.run, rival)) leaving.delete(state);
      }
      kept.add(one);
      for (const state of exits) leaving.set(state, one);
    }
    if (kept.size < this.transitions.length) this.deselect(kept);
    this.transitions = [...kept];
    return this;
  }

  private deselect(kept: ReadonlySet<CompiledTransition>): void {
    const ids = new Set([...kept].map((one) => one.id));
    for (const candidate of this.run.current?.candidates ?? []) {
      if (candidate.selected && !ids.has(candidate.transition)) candidate.selected = false;
    }
  }
}

/** Whether no two of them can leave the same state: the usual case when several regions answer. */
function areApart(run: Run, transitions: readonly CompiledTransition[]): boolean {
  const domains: CompiledState[] = [];
  for (const one of transitions) {
    if (one.targets === null) continue;
    const domain = domainOf(run, one);
    if (domain === null) return false;
    domains.push(domain);
  }
  sortInOrder(domains, orderOf);
  return domains.every(
    (domain, index) => index === 0 || (domains[index - 1] as CompiledState).last < domain.order,
  );
}

/** Handlers for `type` from `leaf` up to the root, in the order they are tried. */
function candidatesFor(leaf: CompiledState, type: string): CompiledTransition[] {
  const found: CompiledTransition[] = [];
  for (let at: CompiledState | null = leaf; at !== null; at = at.parent) {
    for (const transition of at.handlers) if (mayMatch(transition, type)) found.push(transition);
  }
  return found;
}

/** `always` from `leaf` up to the root. Made when first needed: most states of a large chart are never asked. */
function eventlessFrom(leaf: CompiledState): readonly CompiledTransition[] {
  return (leaf.eventless ??= leaf.lineage.toReversed().flatMap(({ always }) => always));
}

function mayMatch(transition: CompiledTransition, type: string): boolean {
  switch (transition.kind) {
    case "on":
      return matchesDescriptor(transition.descriptor, type);
    case "onDone":
    case "invoke.onDone":
    case "invoke.onError":
      return transition.descriptor === type;
    case "invoke.onEvent":
      return true;
    case "after":
    case "always":
      return false;
  }
}
