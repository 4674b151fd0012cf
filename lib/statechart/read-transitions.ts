/**
 * A state's transitions in the order the selection tries them: invoke.onDone / onError / onEvent, onDone, after, on;
 * `always` apart.
 */
import type { Diagnostic } from "./diagnostic";
import type { OneOrMany, Transition, TransitionObject } from "./document";
import { guardText } from "./guard-text";
import {
  inDocumentOrder,
  listOf,
  type CompiledInvoke,
  type CompiledState,
  type CompiledTimer,
  type CompiledTransition,
  type TransitionKind,
} from "./machine";
import type { Programs } from "./programs";
import { illegalPair, noSuchTarget, resolveTarget } from "./resolve-target";
import { transitionId } from "./transition-id";

type States = ReadonlyMap<string, CompiledState>;

export function readTransitions(
  state: CompiledState,
  states: States,
  programs: Programs,
  problems: Diagnostic[],
): { handlers: CompiledTransition[]; always: CompiledTransition[] } {
  const { node } = state;
  const read = (
    kind: TransitionKind,
    descriptor: string,
    path: (string | number)[],
    written: OneOrMany<Transition> | undefined,
    invoke: CompiledInvoke | null = null,
  ): Ordered[] =>
    listOf(written).map((one, index) => {
      const object: TransitionObject = typeof one === "string" ? { target: one } : one;
      const place = [...path, index];
      return {
        order: object.order,
        transition: readTransition(
          object,
          { state, kind, descriptor, place, invoke },
          states,
          programs,
          problems,
        ),
      };
    });
  const keyed = (field: "on" | "after"): Ordered[] =>
    Object.entries(node[field] ?? {}).flatMap(([key, written]) => read(field, key, [field, key], written));

  const after = sorted(keyed("after"));
  (state.timers as CompiledTimer[]).push(...timersOf(after, programs));
  const written = listOf(node.invoke);
  return {
    handlers: [
      ...state.invokes.flatMap((invoke) => {
        const one = written[invoke.index];
        const path = ["invoke", invoke.index];
        return [
          ...sorted(
            read("invoke.onDone", `done.invoke.${invoke.id}`, [...path, "onDone"], one?.onDone, invoke),
          ),
          ...sorted(
            read("invoke.onError", `error.invoke.${invoke.id}`, [...path, "onError"], one?.onError, invoke),
          ),
          ...sorted(read("invoke.onEvent", "", [...path, "onEvent"], one?.onEvent, invoke)),
        ];
      }),
      ...sorted(read("onDone", `done.state.${state.name}`, ["onDone"], node.onDone)),
      ...after,
      ...sorted(keyed("on")),
    ],
    always: sorted(read("always", "", ["always"], node.always)),
  };
}

interface Ordered {
  order: number | undefined;
  transition: CompiledTransition;
}
const sorted = (items: Ordered[]): CompiledTransition[] =>
  inDocumentOrder(items, (item) => item.order).map(({ transition }) => transition);

function timersOf(after: readonly CompiledTransition[], programs: Programs): CompiledTimer[] {
  const byKey = new Map<string, CompiledTransition[]>();
  for (const transition of after) {
    const same = byKey.get(transition.descriptor);
    if (same === undefined) byKey.set(transition.descriptor, [transition]);
    else same.push(transition);
  }
  return [...byKey].map(([key, transitions]) => ({ key, delay: programs.delay(key), transitions }));
}

function readTransition(
  object: TransitionObject,
  at: {
    state: CompiledState;
    kind: TransitionKind;
    descriptor: string;
    place: (string | number)[];
    invoke: CompiledInvoke | null;
  },
  states: States,
  programs: Programs,
  problems: Diagnostic[],
): CompiledTransition {
  const { state, kind, descriptor, place, invoke } = at;
  const id = transitionId(state.name, ...place);
  const field = id.slice(id.indexOf("#") + 1);
  const problem = (code: string, message: string): void => {
    problems.push({ code, severity: "error", at: { state: state.name, field: `${field}/target` }, message });
  };
  const targetNames = listOf(object.target);
  const targets: CompiledState[] = [];
  for (const name of targetNames) {
    const target = resolveTarget(name, state, states);
    if (target === null) problem("bad-target", noSuchTarget(name, state, states));
    else targets.push(target);
  }
  const clash = illegalPair(targets);
  if (clash !== null) problem("illegal-targets", clash);
  const actions = programs.block(object.actions, state.name, "transition", `${field}/actions`);
  return {
    id,
    source: state,
    kind,
    descriptor,
    invoke,
    targetNames,
    targets: targetNames.length === 0 ? null : targets,
    guard: object.guard === undefined ? null : programs.guard(object.guard),
    guardText: object.guard === undefined ? null : guardText(object.guard),
    actions,
    reenter: object.reenter ?? false,
    forbidden: targetNames.length === 0 && actions.actions.length === 0,
    description: object.description ?? null,
    plan: null,
  };
}
