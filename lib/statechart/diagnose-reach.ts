/**
 * Diagnostics of where a chart can go: states that nothing enters, states that nothing leaves, eventless circles.
 * Guards count as possible, so what is reported holds whatever they say.
 */
import type { Diagnostic } from "./diagnostic";
import type { CompiledState, CompiledTransition, Machine } from "./machine";
import { label } from "./resolve-target";

export function diagnoseReach(machine: Machine): Diagnostic[] {
  const reached = reachable(machine);
  return [...unreachable(machine, reached), ...deadEnds(machine, reached), ...eventlessCircles(machine)];
}

function reachable(machine: Machine): ReadonlySet<CompiledState> {
  const reached = new Set<CompiledState>();
  const targeted = targets(machine);
  const waiting: CompiledState[] = [];
  const reach = (state: CompiledState): void => {
    if (reached.has(state)) return;
    reached.add(state);
    waiting.push(state);
    if (state.parent !== null) reach(state.parent);
  };
  reach(machine.root);
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    if (state.type === "parallel") state.children.filter(({ type }) => type !== "history").forEach(reach);
    // A state that is entered only through a target inside it still has its dot: whether it is used depends on targets.
    if (state.initial !== null && (state.type === "history" || isEnteredByDefault(state, targeted))) {
      state.initial.targets.forEach(reach);
    }
    for (const transition of state.transitions) transition.targets?.forEach(reach);
  }
  return reached;
}

/** What some arrow names. */
function targets(machine: Machine): ReadonlySet<CompiledState> {
  const named = new Set<CompiledState>();
  for (const state of machine.ordered) {
    for (const target of state.initial?.targets ?? []) named.add(target);
    for (const transition of state.transitions)
      for (const target of transition.targets ?? []) named.add(target);
    // A history state without a default enters its parent by default.
    if (state.type === "history" && state.initial === null && state.parent !== null) named.add(state.parent);
  }
  return named;
}

/** Whether something targets the state itself, so that its dot is followed. */
const isEnteredByDefault = (state: CompiledState, targeted: ReadonlySet<CompiledState>): boolean =>
  state.parent === null || state.parent.type === "parallel" || targeted.has(state);

function unreachable(machine: Machine, reached: ReadonlySet<CompiledState>): Diagnostic[] {
  return machine.ordered
    .filter((state) => !reached.has(state) && (state.parent === null || reached.has(state.parent)))
    .filter((state) => state.type !== "history")
    .map((state) => ({
      code: "unreachable-state",
      severity: "warning",
      at: { state: state.name },
      message: `nothing leads to "${label(state)}": no transition targets it and it is no initial state`,
    }));
}

function deadEnds(machine: Machine, reached: ReadonlySet<CompiledState>): Diagnostic[] {
  // A region may rest while the others go on.
  const leads = new Set(
    machine.ordered.filter(
      ({ type, transitions }) => type === "parallel" || transitions.some((one) => one.targets !== null),
    ),
  );
  return machine.ordered
    .filter((state) => state.type === "atomic" && state.parent !== null && reached.has(state))
    .filter((state) => !state.lineage.some((one) => leads.has(one)))
    .map((state) => ({
      code: "dead-end",
      severity: "warning",
      at: { state: state.name },
      message: `nothing leads out of "${label(state)}" and it is not final: instances stay there for ever`,
      fix: { title: "Make it final", edit: { set: "type", state: state.name, to: "final" } },
    }));
}

/** Follows, from each leaf, the eventless transition that nothing guards: coming back means never coming to rest. */
function eventlessCircles(machine: Machine): Diagnostic[] {
  const found: Diagnostic[] = [];
  const reported = new Set<CompiledTransition>();
  for (const leaf of machine.ordered.filter(({ type }) => type === "atomic")) {
    const path: CompiledTransition[] = [];
    const seen = new Set<CompiledState>();
    let at: CompiledState | null = leaf;
    while (at !== null && !seen.has(at)) {
      seen.add(at);
      const next = certain(at);
      if (next === null || next.targets === null) break;
      path.push(next);
      at = defaultLeaf(next.targets[0] ?? null);
      if (at === null || (seen.has(at) && at !== leaf)) break;
      if (at !== leaf) continue;
      const [first] = path;
      if (first === undefined || path.some((one) => reported.has(one))) break;
      path.forEach((one) => reported.add(one));
      found.push({
        code: "eventless-cycle",
        severity: "error",
        at: { state: first.source.name, field: first.id.slice(first.id.indexOf("#") + 1) },
        message: `the \`always\` transitions of ${path.map(({ source }) => `"${label(source)}"`).join(", ")} lead back to "${label(leaf)}" without a guard: the chart never comes to rest`,
      });
    }
  }
  return found;
}

/** The eventless transition that `leaf` takes whatever guards say; a guarded one before it may be the way out. */
function certain(leaf: CompiledState): CompiledTransition | null {
  for (let at: CompiledState | null = leaf; at !== null; at = at.parent) {
    const [first] = at.always;
    if (first !== undefined) return first.guard === null ? first : null;
  }
  return null;
}

function defaultLeaf(state: CompiledState | null): CompiledState | null {
  let at = state;
  while (at?.type === "compound") at = at.initial?.targets[0] ?? null;
  return at?.type === "atomic" ? at : null;
}
