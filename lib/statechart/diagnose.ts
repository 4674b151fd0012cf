/**
 * What is wrong, or probably wrong, with a chart of the right shape (validate.ts checks shapes). Returned, never thrown.
 *
 * Errors stop publishing; some of them (bad CEL, a bad location) still run until they are reached.
 */
import type { Diagnostic, Severity } from "./diagnostic";
import type { Chart } from "./document";
import { diagnoseExpressions } from "./diagnose-expressions";
import { diagnoseReach } from "./diagnose-reach";
import type { CompiledState, CompiledTransition, Machine } from "./machine";
import { readMachine } from "./read-machine";
import { label } from "./resolve-target";

export function diagnose(chart: Chart): Diagnostic[] {
  const machine = readMachine(chart);
  return [
    ...machine.problems,
    ...machine.ordered.flatMap(misplaced),
    ...machine.ordered.flatMap(shadowed),
    ...machine.ordered.flatMap((state) => invocations(state, machine)),
    ...diagnoseExpressions(machine),
    ...diagnoseReach(machine),
  ].sort((a, b) => rank(a.severity) - rank(b.severity));
}

const rank = (severity: Severity): number => ["error", "warning", "info"].indexOf(severity);

function misplaced(state: CompiledState): Diagnostic[] {
  const { node } = state;
  const found: Diagnostic[] = [];
  const add = (severity: Severity, code: string, field: string, message: string): void => {
    found.push({ code, severity, at: { state: state.name, field }, message: `"${label(state)}" ${message}` });
  };
  const hasChildren = Object.keys(node.states ?? {}).length > 0;
  if (state.type === "history") {
    if (state.parent === null)
      add("error", "misplaced-history", "type", "is a history state without a parent");
    if (hasChildren) add("error", "misplaced-history", "states", "is a history state: it cannot hold states");
    for (const field of ["on", "after", "always", "onDone", "entry", "exit", "invoke"] as const) {
      if (node[field] !== undefined)
        add("error", "misplaced-history", field, `is a history state: it has no \`${field}\``);
    }
    return found;
  }
  if (node.history !== undefined) {
    add(
      "error",
      "misplaced-history",
      "history",
      "has `history` but is not a history state: set its type to history",
    );
  }
  if (node.target !== undefined)
    add("warning", "misplaced-field", "target", "has a `target`, which only a history state uses");
  if (state.type === "final") {
    if (hasChildren) add("error", "misplaced-state", "states", "is final: it cannot hold states");
    if (state.transitions.length > 0) {
      const field = ["on", "after", "always", "onDone", "invoke"].find((one) => one in node) ?? "on";
      add("warning", "transition-on-final", field, "is final: its transitions are for states that go on");
    }
    if (node.invoke !== undefined)
      add(
        "warning",
        "misplaced-field",
        "invoke",
        "is final: what it invokes is cancelled when the chart ends",
      );
  } else if (node.output !== undefined && state.parent !== null) {
    add(
      "warning",
      "misplaced-field",
      "output",
      "has an `output`, which only a final state (or the root) gives",
    );
  }
  if (node.type === "parallel" && !hasChildren)
    add("error", "empty-parallel", "states", "is parallel but has no regions");
  if (node.type === "compound" && !hasChildren)
    add("error", "missing-states", "states", "is compound but holds no states");
  if (node.type === "atomic" && hasChildren)
    add("error", "misplaced-state", "states", "is atomic: it cannot hold states");
  if (node.initial !== undefined && state.type !== "compound") {
    add(
      "warning",
      "misplaced-field",
      "initial",
      "has an `initial`, which only a state with children to choose from uses",
    );
  }
  if (node.onDone !== undefined && state.type === "atomic") {
    add("warning", "misplaced-field", "onDone", "has `onDone` but no final state inside to reach");
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

const builtInSources = new Set(["http", "lock", "chart", "each", "human"]);

function invocations(state: CompiledState, machine: Machine): Diagnostic[] {
  const found: Diagnostic[] = [];
  const handled = (id: string): boolean =>
    state.handlers.some(({ kind, invoke }) => kind === "invoke.onError" && invoke?.id === id) ||
    state.lineage.some(({ node }) =>
      [`error.invoke.${id}`, "error.invoke.*", "error.*", "*"].some((one) =>
        Object.hasOwn(node.on ?? {}, one),
      ),
    );
  for (const invoke of state.invokes) {
    const field = `invoke/${invoke.index}`;
    const isPlaceholder = !isNamed(state, invoke.index);
    if (!handled(invoke.id)) {
      found.push({
        code: "invoke-without-onerror",
        severity: "warning",
        at: { state: state.name, field },
        message: `the invocation of ${invoke.src} in "${label(state)}" has no \`onError\`: when it fails, the instance fails`,
      });
    }
    if (
      !isPlaceholder &&
      !builtInSources.has(invoke.src) &&
      !Object.hasOwn(machine.chart.tasks ?? {}, invoke.src)
    ) {
      found.push({
        code: "unknown-task",
        severity: "error",
        at: { state: state.name, field: `${field}/src` },
        message: `there is no task named "${invoke.src}": declare it in \`tasks\`, or use ${[...builtInSources].join(", ")}`,
        fix: {
          title: `Declare the task ${invoke.src}`,
          edit: { declare: "tasks", name: invoke.src, value: {} },
        },
      });
    }
  }
  return found;
}

function isNamed(state: CompiledState, index: number): boolean {
  const { invoke } = state.node;
  const one = Array.isArray(invoke) ? invoke[index] : invoke;
  return typeof one?.src === "string";
}

const fieldOf = (transition: CompiledTransition): string =>
  transition.id.slice(transition.id.indexOf("#") + 1);
const what = (transition: CompiledTransition): string =>
  [transition.descriptor || transition.kind, transition.guardText === null ? "" : `[${transition.guardText}]`]
    .filter(Boolean)
    .join(" ");
