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
    if (state.initial !== null && (state.type === "history" || isEnteredByDefault(machine, state))) {
      state.initial.targets.forEach(reach);
    }
    for (const transition of state.transitions) transition.targets?.forEach(reach);
  }
  return reached;
}

/** Whether something targets the state itself, so that its dot is followed. */
function isEnteredByDefault(machine: Machine, state: CompiledState): boolean {
  if (state.parent === null || state.parent.type === "parallel") return true;
  return machine.ordered.some(
    (one) =>
      (one.initial?.targets.includes(state) ?? false) ||
      one.transitions.some((transition) => transition.targets?.includes(state) ?? false) ||
      (one.type === "history" && one.initial === null && one.parent === state),
  );
}

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
  return machine.ordered
    .filter((state) => state.type === "atomic" && state.parent !== null && reached.has(state))
    .filter((state) => {
      for (let at: CompiledState | null = state; at !== null; at = at.parent) {
        // A region may rest while the others go on.
        if (at.type === "parallel" || at.transitions.some(({ targets }) => targets !== null)) return false;
      }
      return true;
    })
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
      const next: CompiledTransition | undefined = at.eventless.find(({ guard }) => guard === null);
      if (next?.targets === undefined || next.targets === null) break;
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

function defaultLeaf(state: CompiledState | null): CompiledState | null {
  let at = state;
  while (at?.type === "compound") at = at.initial?.targets[0] ?? null;
  return at?.type === "atomic" ? at : null;
}
