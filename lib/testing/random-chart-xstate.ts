/**
 * The same random chart as an XState 5 machine: the oracle of the differential test.
 */
import { and, assign, createMachine, not, or, raise, stateIn, type AnyStateMachine } from "xstate";
import type { RandomAction, RandomGuard, RandomState, RandomTransition } from "./random-chart";

interface Data {
  x: number;
  y: number;
  fuel: number;
  log: string[];
}
type Fn = { context: Data; event: { type: string; n?: number; output?: number } };

export function toXState(root: RandomState): AnyStateMachine {
  const config = { context: { x: 0, y: 0, fuel: 4, log: [] }, ...node(root) };
  // The config is built from data, so XState's inference has nothing to infer from.
  return createMachine(config as never) as AnyStateMachine;
}

function node(state: RandomState): Record<string, unknown> {
  const made: Record<string, unknown> = { id: state.id };
  if (state.type === "parallel" || state.type === "final" || state.type === "history") made.type = state.type;
  if (state.children.length > 0) {
    made.states = Object.fromEntries(state.children.map((child) => [child.key, node(child)]));
  }
  if (state.initial !== null) {
    made.initial = { target: state.initial.key, actions: state.initial.actions.map(action) };
  }
  if (state.history !== null) {
    made.history = state.history.kind;
    if (state.history.target !== null) made.target = `#${state.history.target}`;
  }
  made.entry = state.entry.map(action);
  made.exit = state.exit.map(action);
  made.on = Object.fromEntries(state.on.map((one) => [one.descriptor, one.transitions.map(transition)]));
  made.after = Object.fromEntries(state.after.map((one) => [one.delayMs, one.transitions.map(transition)]));
  made.always = state.always.map(transition);
  if (state.onDone.length > 0) made.onDone = state.onDone.map(transition);
  const { output } = state;
  if (output !== null) made.output = ({ context }: Fn) => context.x + output;
  return made;
}

function transition(one: RandomTransition): Record<string, unknown> {
  return {
    ...(one.targets.length > 0 ? { target: one.targets.map((id) => `#${id}`) } : {}),
    ...(one.guard !== null ? { guard: guard(one.guard) } : {}),
    actions: one.actions.map(action),
    reenter: one.reenter,
  };
}

function guard(one: RandomGuard): unknown {
  switch (one.kind) {
    case "compare":
      return ({ context }: Fn) => {
        const value = context[one.variable];
        const left = one.modulo === null ? value : value % one.modulo;
        return one.op === "<" ? left < one.value : one.op === ">" ? left > one.value : left === one.value;
      };
    case "fuel":
      return ({ context }: Fn) => context.fuel > 0;
    case "in":
      return stateIn(`#${one.id}` as never);
    case "data":
      return ({ event }: Fn) => (event.n ?? 0) > one.value && event.n !== undefined;
    case "fails":
      return () => {
        throw new Error("planted");
      };
    case "and":
      return and(one.parts.map(guard) as never);
    case "or":
      return or(one.parts.map(guard) as never);
    case "not":
      return not(guard(one.part) as never);
  }
}

function action(one: RandomAction): unknown {
  const set = (change: (args: Fn) => Partial<Data>): unknown => assign(change as never);
  switch (one.kind) {
    case "add":
      return set(({ context }) => ({ [one.variable]: context[one.variable] + one.value }));
    case "swap":
      return set(({ context }) => ({ x: context.y, y: context.x }));
    case "mark":
      return set(({ context }) => ({ log: [...context.log, one.text] }));
    case "take-data":
      return set(({ context, event }) => ({ y: event.n ?? context.y }));
    case "take-output":
      return set(({ context, event }) => ({ x: event.output ?? context.x }));
    case "raise":
      return raise({ type: one.type } as never);
    case "burn":
      return set(({ context }) => ({ fuel: context.fuel - 1 }));
    case "refuel":
      return set(() => ({ fuel: 4 }));
  }
}
