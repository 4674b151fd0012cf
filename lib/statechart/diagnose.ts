/**
 * What is wrong, or probably wrong, with a chart of the right shape (validate.ts checks shapes). Returned, never thrown.
 *
 * Errors stop publishing; some of them (bad CEL, a bad location) still run until they are reached.
 */
import type { Diagnostic, Severity } from "./diagnostic";
import type { Chart } from "./document";
import { diagnoseExpressions } from "./diagnose-expressions";
import { diagnoseInvocations } from "./diagnose-invocations";
import { diagnoseReach } from "./diagnose-reach";
import type { CompiledState, CompiledTransition } from "./machine";
import { readMachine } from "./read-machine";
import { label } from "./resolve-target";
import { escapeSegment } from "./transition-id";

type Fix = NonNullable<Diagnostic["fix"]>;

export function diagnose(chart: Chart): Diagnostic[] {
  const machine = readMachine(chart);
  return [
    ...machine.problems,
    ...machine.ordered.flatMap(misplaced),
    ...machine.ordered.flatMap(shadowed),
    ...diagnoseInvocations(machine),
    ...diagnoseExpressions(machine),
    ...diagnoseReach(machine),
  ].sort((a, b) => rank(a.severity) - rank(b.severity));
}

const rank = (severity: Severity): number => ["error", "warning", "info"].indexOf(severity);

const removal = (state: CompiledState, field: string): Fix => ({
  title: `Remove \`${field}\``,
  edit: { remove: field, state: state.name },
});

function misplaced(state: CompiledState): Diagnostic[] {
  const { node } = state;
  const found: Diagnostic[] = [];
  const add = (severity: Severity, code: string, field: string, message: string, fix?: Fix): void => {
    const at = { state: state.name, field };
    found.push({ code, severity, at, message: `"${label(state)}" ${message}`, ...(fix ? { fix } : {}) });
  };
  const remove = (field: string): Fix => removal(state, field);
  const { parent } = state;
  if (parent !== null && state.key.includes(".") && node.id === undefined) {
    const field = `states/${escapeSegment(state.key)}`;
    found.push({
      code: "dotted-key",
      severity: "error",
      at: { state: parent.name, field },
      message: `the state key "${state.key}" holds a dot: give the state an \`id\``,
      fix: {
        title: `Give it the id ${state.key}`,
        edit: { set: `${field}/id`, state: parent.name, to: state.key },
      },
    });
  }
  const hasChildren = state.children.length > 0;
  if (state.type === "history") {
    if (parent === null) add("error", "misplaced-history", "type", "is a history state without a parent");
    else if (parent.type === "parallel" && parent.children.every(({ type }) => type === "history"))
      add("error", "misplaced-history", "type", "is a history state whose parent has no other states");
    if (hasChildren) add("error", "misplaced-history", "states", "is a history state: it cannot hold states");
    for (const field of ["on", "after", "always", "onDone", "entry", "exit", "invoke"] as const) {
      if (node[field] !== undefined)
        add("error", "misplaced-history", field, `is a history state: it has no \`${field}\``, remove(field));
    }
    return found;
  }
  if (node.history !== undefined) {
    add(
      "error",
      "misplaced-history",
      "history",
      "has `history` but is not a history state: set its type to history",
      remove("history"),
    );
  }
  if (node.target !== undefined) {
    const message = "has a `target`, which only a history state uses";
    add("warning", "misplaced-field", "target", message, remove("target"));
  }
  if (state.type === "final") {
    // With an initial it can become what it looks like.
    if (hasChildren) {
      const fix = node.initial === undefined ? undefined : { ...remove("type"), title: "Let it go on" };
      add("error", "misplaced-state", "states", "is final: it cannot hold states", fix);
    }
    for (const field of ["on", "after", "always", "onDone"] as const) {
      if (node[field] !== undefined) {
        const message = "is final: its transitions are for states that go on";
        add("warning", "transition-on-final", field, message, remove(field));
      }
    }
    if (node.invoke !== undefined) {
      const message = "is final: what it invokes is cancelled when the chart ends";
      add("warning", "misplaced-field", "invoke", message, remove("invoke"));
    }
  } else if (node.output !== undefined && parent !== null) {
    const message = "has an `output`, which only a final state (or the root) gives";
    add("warning", "misplaced-field", "output", message, remove("output"));
  }
  if (node.type === "parallel" && !hasChildren)
    add("error", "empty-parallel", "states", "is parallel but has no regions", remove("type"));
  if (node.type === "compound" && !hasChildren)
    add("error", "missing-states", "states", "is compound but holds no states", remove("type"));
  if (node.type === "atomic" && hasChildren)
    add("error", "misplaced-state", "states", "is atomic: it cannot hold states", remove("type"));
  if (node.initial !== undefined && state.type !== "compound") {
    const message = "has an `initial`, which only a state with children to choose from uses";
    add("warning", "misplaced-field", "initial", message, remove("initial"));
  }
  if (node.onDone !== undefined && state.type === "atomic") {
    const message = "has `onDone` but no final state inside to reach";
    add("warning", "misplaced-field", "onDone", message, remove("onDone"));
  }
  return found;
}

/** A candidate that an earlier one, without a guard, always takes the event from. */
function shadowed(state: CompiledState): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const list of [state.handlers, state.always]) {
    /** The first unguarded transition under each thing it answers. */
    const winners = new Map<string, CompiledTransition>();
    for (const transition of list) {
      const by = answeredBy(transition)
        .map((key) => winners.get(key))
        .find((one) => one !== undefined);
      const own = answers(transition, transition.descriptor);
      if (transition.guard === null && !winners.has(own)) winners.set(own, transition);
      if (by === undefined) continue;
      found.push({
        code: "shadowed-transition",
        severity: "warning",
        at: { state: state.name, field: fieldOf(transition) },
        message: `\`${what(transition)}\` in "${label(state)}" is never taken: \`${what(by)}\` before it has no guard and always wins`,
        fix: {
          title: `Remove \`${what(transition)}\``,
          edit: { remove: fieldOf(transition), state: state.name },
        },
      });
    }
  }
  return found;
}

const answers = ({ kind, invoke }: CompiledTransition, descriptor: string): string =>
  `${kind} ${invoke?.id ?? ""} ${descriptor}`;

/** What an earlier transition may answer so that this one is never asked: the same, or a wildcard over it. */
function answeredBy(transition: CompiledTransition): string[] {
  const { kind, descriptor } = transition;
  const wider = [descriptor];
  if (kind === "on") {
    const bare = descriptor.endsWith(".*") ? descriptor.slice(0, -2) : descriptor;
    wider.push("*", `${bare}.*`);
    for (let dot = bare.lastIndexOf("."); dot > 0; dot = bare.lastIndexOf(".", dot - 1)) {
      wider.push(`${bare.slice(0, dot)}.*`);
    }
  }
  return wider.map((one) => answers(transition, one));
}

const fieldOf = (transition: CompiledTransition): string =>
  transition.id.slice(transition.id.indexOf("#") + 1);
const what = (transition: CompiledTransition): string =>
  [transition.descriptor || transition.kind, transition.guardText === null ? "" : `[${transition.guardText}]`]
    .filter(Boolean)
    .join(" ");
