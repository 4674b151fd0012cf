/**
 * A state's transitions in the order the selection tries them: invoke.onDone / onError / onEvent, onDone, after, on;
 * `always` apart.
 */
import type { Diagnostic } from "./diagnostic";
import type { OneOrMany, Transition, TransitionObject } from "./document";
import type { ActionBlock, GuardProgram } from "./execution";
import { guardText } from "./guard-text";
import {
  inDocumentOrder,
  listOf,
  type CompiledInvoke,
  type CompiledState,
  type CompiledTimer,
  type CompiledTransition,
  type TransitionKind,
  type TransitionPlan,
} from "./machine";
import type { Programs } from "./programs";
import { illegalPair, keepFirst, noSuchTarget, resolveTarget } from "./resolve-target";
import { escapeSegment } from "./transition-id";

type States = ReadonlyMap<string, CompiledState>;

/** Fills `handlers`, `always`, `transitions` and `timers` of `state`. */
export function readTransitions(
  state: CompiledState,
  states: States,
  programs: Programs,
  problems: Diagnostic[],
): void {
  const { node } = state;
  const read = (
    kind: TransitionKind,
    descriptor: string,
    field: string,
    written: OneOrMany<Transition> | undefined,
    invoke: CompiledInvoke | null = null,
  ): ReadTransition[] =>
    listOf(written).map((one, index) => {
      const object: TransitionObject = typeof one === "string" ? { target: one } : one;
      const place = { source: state, kind, descriptor, invoke, field: `${field}/${index}` };
      return new ReadTransition(place, object, programs, states, problems);
    });
  const keyed = (field: "on" | "after"): readonly CompiledTransition[] => {
    const map = node[field];
    if (map === undefined) return [];
    const found: ReadTransition[] = [];
    for (const [key, written] of Object.entries(map))
      for (const one of read(field, key, `${field}/${escapeSegment(key)}`, written)) found.push(one);
    return sorted(found);
  };
  const always = sorted(read("always", "", "always", node.always));
  const after = keyed("after");
  const handlers = [
    ...state.invokes.flatMap((invoke) => {
      const { id, index } = invoke;
      const { onDone, onError, onEvent } = listOf(node.invoke)[index] ?? {};
      const field = `invoke/${index}`;
      return [
        ...sorted(read("invoke.onDone", `done.invoke.${id}`, `${field}/onDone`, onDone, invoke)),
        ...sorted(read("invoke.onError", `error.invoke.${id}`, `${field}/onError`, onError, invoke)),
        ...sorted(read("invoke.onEvent", "", `${field}/onEvent`, onEvent, invoke)),
      ];
    }),
    ...sorted(read("onDone", `done.state.${state.name}`, "onDone", node.onDone)),
    ...after,
    ...keyed("on"),
  ];
  if (handlers.length > 0) state.handlers = handlers;
  if (always.length > 0) state.always = always;
  if (after.length > 0) state.timers = timersOf(after, programs);
  if (handlers.length + always.length > 0)
    state.transitions = always.length === 0 ? state.handlers : [...handlers, ...always];
}

const sorted = (items: ReadTransition[]): CompiledTransition[] =>
  items.length < 2 ? items : inDocumentOrder(items, (item) => item.order);

function timersOf(after: readonly CompiledTransition[], programs: Programs): CompiledTimer[] {
  const byKey = new Map<string, CompiledTransition[]>();
  for (const transition of after) {
    const same = byKey.get(transition.descriptor);
    if (same === undefined) byKey.set(transition.descriptor, [transition]);
    else same.push(transition);
  }
  return [...byKey].map(([key, transitions]) => ({ key, delay: programs.delay(key), transitions }));
}

interface Place {
  source: CompiledState;
  kind: TransitionKind;
  descriptor: string;
  invoke: CompiledInvoke | null;
  /** Inside the source. */
  field: string;
}

/** Its targets are resolved at once, all else when it is first asked for: a large chart takes few of its transitions. */
class ReadTransition implements CompiledTransition {
  readonly source: CompiledState;
  readonly kind: TransitionKind;
  readonly descriptor: string;
  readonly invoke: CompiledInvoke | null;
  readonly targetNames: readonly string[];
  readonly targets: readonly CompiledState[] | null;
  readonly actions: ActionBlock;
  plan: TransitionPlan | null = null;
  private readonly field: string;
  private madeId: string | null = null;
  private madeGuard: GuardProgram | null | undefined = undefined;
  private madeText: string | null = null;

  constructor(
    place: Place,
    private readonly written: TransitionObject,
    private readonly programs: Programs,
    states: States,
    problems: Diagnostic[],
  ) {
    const { source, kind, descriptor, invoke, field } = place;
    this.source = source;
    this.kind = kind;
    this.descriptor = descriptor;
    this.invoke = invoke;
    this.field = field;
    this.targetNames = listOf(written.target);
    this.targets = this.targetNames.length === 0 ? null : this.resolve(states, problems);
    this.actions = programs.block(written.actions, source.name, "transition", `${field}/actions`);
  }

  get id(): string {
    return (this.madeId ??= `${this.source.name}#${this.field}`);
  }
  get order(): number | undefined {
    return this.written.order;
  }
  get guard(): GuardProgram | null {
    if (this.madeGuard === undefined) {
      const { guard } = this.written;
      this.madeGuard = guard === undefined ? null : this.programs.guard(guard);
    }
    return this.madeGuard;
  }
  get guardText(): string | null {
    const { guard } = this.written;
    return guard === undefined ? null : (this.madeText ??= guardText(guard));
  }
  get reenter(): boolean {
    return this.written.reenter ?? false;
  }
  get forbidden(): boolean {
    return this.targets === null && listOf(this.written.actions).length === 0;
  }
  get description(): string | null {
    return this.written.description ?? null;
  }

  private resolve(states: States, problems: Diagnostic[]): CompiledState[] {
    const { source, field } = this;
    const at = `${field}/target`;
    const problem = (code: string, message: string, fix: Diagnostic["fix"]): void => {
      problems.push({
        code,
        severity: "error",
        at: { state: source.name, field: at },
        message,
        ...(fix === undefined ? {} : { fix }),
      });
    };
    const targets: CompiledState[] = [];
    for (const [index, name] of this.targetNames.entries()) {
      const target = resolveTarget(name, source, states);
      if (target !== null) {
        targets.push(target);
        continue;
      }
      const { message, meant } = noSuchTarget(name, source, states);
      const set = this.targetNames.length === 1 ? at : `${at}/${index}`;
      const edit = meant === null ? null : { set, state: source.name, to: meant };
      problem("bad-target", message, edit === null ? undefined : { title: `Use ${meant}`, edit });
    }
    const clash = targets.length < 2 ? null : illegalPair(targets);
    if (clash !== null) problem("illegal-targets", clash, keepFirst(this.targetNames, source.name, at));
    return targets;
  }
}
